package walk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing/synctest"
	"time"

	"sendonce/store"
)

// backup is a copy of the ledger's files with the model of that moment.
type backup struct {
	path  string
	model *Model
	at    time.Time
}

// halt is a clean stop: nothing is taken any more, what is in flight ends.
func (w *world) halt() error {
	halted := w.model.Halted
	w.model.Halted = true
	err := w.quit()
	if err == nil {
		err = w.tell()
	}
	if err == nil {
		err = w.compare()
	}
	w.model.Stopped()
	w.model.Halted = halted
	return errors.Join(err, w.shut())
}

// restart stops the service and starts it again, after a while.
func (w *world) restart() error {
	w.did("stop and start")
	if err := w.halt(); err != nil {
		return err
	}
	w.advance(time.Duration(w.random.IntN(20)) * time.Second)
	if err := w.start(); err != nil {
		return err
	}
	w.run()
	return nil
}

// crash drops the service as it is and starts it again on its files.
func (w *world) crash() error {
	w.did("crash with %d in flight", len(w.requests()))
	if err := w.drop(); err != nil {
		return err
	}
	now := time.Now()
	if err := w.start(); err != nil {
		return err
	}
	if err := w.model.Died(now); err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return err
	}
	w.run()
	return nil
}

// copyAside makes a backup, as somebody would who copies files.
func (w *world) copyAside() error {
	w.did("backup")
	path := w.place()
	if err := errors.Join(copyFile(w.path, path), copyFile(w.path+"-wal", path+"-wal")); err != nil {
		return err
	}
	w.backup = &backup{path: path, model: w.model.Copy(), at: time.Now()}
	return nil
}

// putBack is what a person does who restores a backup: the old copy, beside the lock file that knows better.
func (w *world) putBack() error {
	b := w.backup
	if b == nil || w.model.Halted || time.Since(b.at) < 3*time.Second {
		return nil
	}
	e := w.fresh()
	if err := w.claim(e); err != nil { // after the backup something was written
		return err
	}
	synctest.Wait()
	if err := errors.Join(w.tell(), w.compare()); err != nil {
		return err
	}
	w.did("the backup of %v is put back", b.at.Format("15:04:05.000"))
	lock := w.path + ".lock"
	if w.chance(50) {
		if err := w.halt(); err != nil {
			return err
		}
	} else if err := w.drop(); err != nil {
		return err
	} else {
		lock = w.path + ".lock"
	}
	if err := copyFile(lock, b.path+".lock"); err != nil {
		return err
	}
	old := w.path
	w.path, w.model, w.backup, w.shared.id = b.path, b.model, nil, ""
	w.touched = w.touched[:0] // some of them are lost
	now := time.Now()
	if err := w.start(); err != nil {
		return err
	}
	if !w.store.Condition().Restored {
		return errors.New("an old copy was taken for the ledger")
	}
	if err := errors.Join(w.model.Restored(now), w.check(), os.RemoveAll(filepath.Dir(old))); err != nil {
		return err
	}
	w.run()
	return nil
}

// accept is a person's word that the copy is the ledger to go on with.
func (w *world) accept() error {
	if !w.model.Halted {
		return nil
	}
	w.did("restore --accept")
	if err := w.halt(); err != nil {
		return err
	}
	if err := store.AcceptRestored(store.Options{Path: w.path, Log: quiet}); err != nil {
		return err
	}
	for _, e := range w.witness {
		e.accepted = time.Now()
	}
	if err := w.start(); err != nil {
		return err
	}
	if w.store.Condition().Restored {
		return fmt.Errorf("the accepted ledger counts as restored")
	}
	w.model.Accept()
	w.run()
	return nil
}
