package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

// Create makes an empty ledger and its lock file. ErrExists: there is one. ErrMissing: there was one, and its lock file
// remembers it. ErrLocked. A lock file of a ledger that was never opened stands in nobody's way.
//
// The file is built under another name and renamed when it is whole and synced, so that a crash leaves all of it or none.
func Create(o Options) (err error) {
	if err := o.complete(); err != nil {
		return err
	}
	setProcess(o.Log)
	lock, err := openLock(o.Path + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.close()) }()
	exists, err := there(o.Path)
	switch {
	case err != nil:
		return err
	case exists:
		return ErrExists
	case lock.written && (!lock.known || lock.last.generation > 0):
		return ErrMissing
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	draft := o.Path + ".new"
	if err := build(draft, o, id); err != nil {
		return errors.Join(err, remove(draft), remove(draft+"-journal"))
	}
	if err := lock.become(mark{id: id}); err != nil {
		return err
	}
	if err := os.Rename(draft, o.Path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(o.Path))
}

// build writes a whole empty ledger.
func build(path string, o Options, id uuid.UUID) (err error) {
	if err := errors.Join(remove(path), remove(path+"-journal")); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // before SQLite does, which knows no mode
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := connect(path, 1, []pragma{{"journal_mode", "delete", "delete"}, {"synchronous", "full", "2"}}, "_txlock", "immediate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, o.Schema); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != o.hooks.version {
		return fmt.Errorf("schema: its version is %d, this program knows %d", version, o.hooks.version)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO ledger (one, ledger_id, generation, created_at) VALUES (1, $1, 0, $2)",
		id[:], time.Now().UnixMilli()); err != nil {
		return err
	}
	return tx.Commit()
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
