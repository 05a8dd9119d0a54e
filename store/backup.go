package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// Backup writes a copy of a ledger to a new file, beside a service that may have it open. The copy is marked as restored:
// wherever it is put, nothing is sent from it before a person accepts it. ErrExists: there is a file of that name. ErrNoLedger, ErrNewer, ErrForeign.
func Backup(ctx context.Context, o Options, to string) (err error) {
	if err := o.complete(); err != nil {
		return err
	}
	if to, err = filepath.Abs(to); err != nil { // SQLite takes a file's address for a host where it begins with no slash
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
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err = copyInto(ctx, o.Path, to); err == nil {
		err = markCopy(ctx, to)
	}
	if err != nil {
		return errors.Join(err, remove(to))
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
	db, err := connect(path, 1, []pragma{{"journal_mode", "delete", "delete"}, {"synchronous", "full", "2"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "UPDATE ledger SET restored = $1 WHERE one = 1", id[:])
	return err
}
