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
// wherever it is put, nothing is sent from it before a person accepts it. ErrExists: there is a file of that name. ErrNoLedger, ErrNewer,
// ErrForeign, ErrBeside.
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
	own, err := newDraft(draft)
	if err != nil {
		return err
	}
	if err = copyInto(ctx, o.Path, draft); err == nil {
		err = markCopy(ctx, draft)
	}
	return errors.Join(finish(err, draft, own, to), own.Close())
}

// newDraft makes an empty file in the place of what an earlier backup left. It stays open until the end, so that no other file is taken
// for it, and not beyond: SQLite's locks end with a close.
func newDraft(path string) (*os.File, error) {
	if err := errors.Join(remove(path), remove(path+"-journal")); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // before SQLite does, which knows no mode
}

// finish gives a draft its name, or removes it after an error. One that a second backup to the same name has begun meanwhile is left
// to that: it may not be marked yet.
func finish(err error, draft string, own *os.File, to string) error {
	mine, e := own.Stat()
	now, gone := os.Stat(draft)
	if e != nil || gone != nil || !os.SameFile(now, mine) {
		return errors.Join(ErrBeside, err, e)
	}
	if err != nil {
		return errors.Join(err, remove(draft), remove(draft+"-journal"))
	}
	if err := os.Rename(draft, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
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
	db, err := connect(path, 1, []pragma{{"journal_mode", "delete", "delete"}, {"synchronous", "full", "2"}}, "mode", "rw") // it makes no file
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "UPDATE ledger SET restored = $1 WHERE one = 1", id[:])
	return err
}
