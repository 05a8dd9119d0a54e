package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"sendonce/ledger"
)

// whole reports what SQLite finds wrong with a file; table "" means all of it. ErrDamaged.
func checkWhole(ctx context.Context, db *sql.DB, table string) error {
	integrity, keys := "PRAGMA integrity_check(1)", "PRAGMA foreign_key_check"
	if table != "" {
		integrity, keys = `PRAGMA integrity_check("`+table+`")`, `PRAGMA foreign_key_check("`+table+`")`
	}
	var found string
	if err := db.QueryRowContext(ctx, integrity).Scan(&found); err != nil {
		return opening(err)
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, found)
	}
	rows, err := db.QueryContext(ctx, keys)
	if err != nil {
		return opening(err)
	}
	defer func() { _ = rows.Close() }()
	if rows.Next() {
		return fmt.Errorf("%w: a row of %s refers to one that is not there", ErrDamaged, table)
	}
	return rows.Err()
}

// checkAtStart checks a small file at once. A large one is checked beside the service, table by table so that no read
// lasts longer than it must; what is found then stays in Condition until somebody has restored a backup.
func (s *Store) checkAtStart() error {
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if info.Size() < s.fullCheckMax {
		ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
		defer cancel()
		return checkWhole(ctx, s.reads, "")
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stopChecks = cancel
	s.background.Go(func() {
		if err := s.checkTables(ctx); err != nil && ctx.Err() == nil {
			s.damaged(err)
		}
	})
	return nil
}

// damaged notes a finding, for good.
func (s *Store) damaged(err error) {
	err = fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
	if s.damage.CompareAndSwap(nil, &err) {
		s.log.Error("the ledger is damaged: nothing more is sent", "error", err)
	}
}

func (s *Store) checkTables(ctx context.Context) (err error) {
	db, err := connect(s.path, 1, readerPragmas()) // not one of the four: it may take minutes
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
	names, err := collect(rows, err, func(n *string) []any { return []any{n} })
	if err != nil {
		return opening(err)
	}
	for _, name := range names {
		if err := checkWhole(ctx, db, name); err != nil {
			return err
		}
	}
	return nil
}
