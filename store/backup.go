package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// Draft is the name under which Backup writes a copy before it is whole.
func Draft(to string) string { return to + ".part" }

// Backup writes a copy of a ledger to a new file, beside a service that may have it open. The copy is marked as restored:
// wherever it is put, nothing is sent from it before a person accepts it. ErrExists: there is a file of that name. ErrNoLedger, ErrNewer, ErrForeign.
//
// It gets its name once it is whole, marked and synced: what a process leaves that is killed before is no backup by its name, and the
// next one to the same name takes its place.
func Backup(ctx context.Context, o Options, to string) error {
	if err := o.complete(); err != nil {
		return err
	}
	to, err := filepath.Abs(to)
	if err != nil { // SQLite takes a file's address for a host where it begins with no slash
		return err
	}
	found, err := there(o.Path)
	if err != nil {
		return err
	}
	if !found {
		return ErrNoLedger
	}
	setProcess(o.Log)
	if _, err := peek(ctx, o.Path, o.hooks.version); err != nil {
		return err
	}
	taken, err := there(to)
	switch {
	case err != nil:
		return err
	case taken:
		return ErrExists
	}
	draft := Draft(to)
	if err := writeCopy(ctx, o.Path, draft); err != nil {
		return errors.Join(err, remove(draft), remove(draft+"-journal"))
	}
	if err := os.Rename(draft, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// writeCopy writes a whole copy, marked and synced, over what an earlier one left.
func writeCopy(ctx context.Context, from, to string) error {
	if err := errors.Join(remove(to), remove(to+"-journal")); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // before SQLite does, which knows no mode
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := copyInto(ctx, from, to); err != nil {
		return err
	}
	return markCopy(ctx, to)
}

// copyInto lets SQLite write a whole, compact copy of what is committed now.
func copyInto(ctx context.Context, path, to string) (err error) {
	db, err := connect(path, 1, []pragma{{"busy_timeout", busyWait, busyWait}}, "mode", "ro")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO $1", to)
	return err
}

func markCopy(ctx context.Context, path string) (err error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	db, err := connect(path, 1, []pragma{{"journal_mode", "delete", "delete"}, {"synchronous", "full", "2"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "UPDATE ledger SET restored = $1 WHERE one = 1", id[:])
	return err
}
