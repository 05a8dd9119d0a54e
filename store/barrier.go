package store

import (
	"fmt"
	"time"

	"sendonce/ledger"
)

// failed is called when a COMMIT returned an error, and says what its group is told.
//
// SQLite may have written all of the group into the log and failed at the sync: then no connection sees it, but a restart
// would. One more commit overwrites that place of the log. When it holds, the group is gone for certain.
func (w *writer) failed(cause error) error {
	err := w.barrier()
	if err == nil {
		return unavailable(cause)
	}
	w.store.troubles.Tell("the barrier failed too: nothing is written until it holds", "error", err)
	unknown := fmt.Errorf("%w: %w", ledger.ErrUnknown, cause)
	w.mu.Lock()
	w.unknown = unknown
	w.mu.Unlock()
	return unknown
}

// resolve tries the barrier again.
func (w *writer) resolve() {
	if err := w.barrier(); err != nil {
		w.store.troubles.Tell("the barrier failed again", "error", err)
		return
	}
	w.store.log.Warn("the barrier holds: what could not be committed is gone for certain")
}

// barrier makes one commit with nothing in it but the generation. On success the ledger's memory of rows may be wrong.
func (w *writer) barrier() error {
	if err := w.begin(); err != nil {
		return err
	}
	generation, err := w.tx.raise()
	if err == nil {
		err = w.commit()
	}
	if err != nil {
		w.rollback()
		return err
	}
	w.remember(generation)
	w.mu.Lock()
	w.unknown = nil
	w.barriers++
	w.mu.Unlock()
	return nil
}

// raise moves the generation inside a transaction and returns it.
func (t *tx) raise() (int64, error) {
	var generation int64
	_, err := t.row("UPDATE ledger SET generation = generation + 1 WHERE one = 1 RETURNING generation", nil, toInt[int64]{&generation})
	return generation, err
}

// raise moves the generation in a transaction of its own, at start.
func (w *writer) raise() error {
	if err := w.begin(); err != nil {
		return err
	}
	generation, err := w.tx.raise()
	if err == nil {
		_, err = w.tx.exec("COMMIT")
	}
	if err != nil {
		w.rollback()
		return err
	}
	w.remember(generation)
	return nil
}

// remember writes a generation that was committed into the lock file. A lock file that is behind is no fault, so a failure
// is only told; a restored ledger leaves it alone.
func (w *writer) remember(generation int64) {
	if generation == 0 {
		return
	}
	w.raised, w.generation.generation = time.Now(), generation
	if w.restored {
		return
	}
	if err := w.store.lock.remember(w.generation); err != nil {
		w.store.troubles.Tell("the lock file is behind", "error", err)
	}
}

// identity reads what the ledger says of itself.
func (w *writer) identity(i *identity) error {
	found, err := w.tx.row(identityQuery, nil, i.targets()...)
	if err == nil && !found {
		err = ErrForeign
	}
	w.generation = i.mark
	return err
}
