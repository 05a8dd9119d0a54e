package store

import (
	"context"
	"database/sql"
	_ "embed" // the statements of the migrations
	"errors"
	"fmt"

	"sendonce/ledger"
)

// migration leads a ledger from the version before to its own. Its statements run in one transaction with all others that
// are due and with the new version number, so that a file is wholly old or wholly new.
type migration struct {
	version int
	sql     string
}

//go:embed migrate_2.sql
var toVersion2 string

//go:embed migrate_3.sql
var toVersion3 string

//go:embed migrate_4.sql
var toVersion4 string

// migrations of sendonce, in order. Version 1 is the first.
func migrations() []migration { return []migration{{2, toVersion2}, {3, toVersion3}, {4, toVersion4}} }

// migrate leads a file to the newest version. Foreign keys are off meanwhile, so that a table may be rebuilt, and checked
// before the commit.
func migrate(ctx context.Context, path string, from int, list []migration) (err error) {
	if len(list) == 0 || list[len(list)-1].version <= from {
		return nil
	}
	db, err := connect(path, 1, []pragma{{"journal_mode", "wal", "wal"}, {"synchronous", "full", "2"}, {"foreign_keys", "0", "0"}}, "_txlock", "immediate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := steps(ctx, tx, from, list); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func steps(ctx context.Context, tx *sql.Tx, from int, list []migration) error {
	for _, m := range list {
		if m.version <= from {
			continue
		}
		if _, err := tx.ExecContext(ctx, m.sql); err != nil {
			return fmt.Errorf("migration to version %d: %w", m.version, err)
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", m.version)); err != nil {
			return fmt.Errorf("migration to version %d: %w", m.version, err)
		}
		ledger.Reach(ledger.PointMigrating)
	}
	rows, err := tx.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if rows.Next() {
		return errors.New("migration: a row refers to one that is not there any more")
	}
	if err := rows.Err(); err != nil {
		return err
	}
	ledger.Reach(ledger.PointMigrating)
	return nil
}
