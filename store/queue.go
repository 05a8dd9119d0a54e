package store

import (
	"fmt"
	"time"

	"sendonce/ledger"
)

// operation is one write: all of its statements or none. What do finds wrong with the request, such as a row that moved, it
// answers through what it closes over and returns nil, having written nothing; an error it returns undoes the transaction.
// It may run again.
type operation struct {
	do   func(*tx) error
	rows int
	err  error
	done chan struct{}
}

func answer(ops []*operation, err error) {
	for _, op := range ops {
		op.err = err
		close(op.done)
	}
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err) }

// write hands over an operation that must not be refused, however many wait, and returns after its commit.
func (s *Store) write(rows int, do func(*tx) error) error {
	w := s.writer
	if w == nil {
		return errReadOnly
	}
	if _, err := w.condition(); err != nil {
		return err
	}
	op := &operation{do: do, rows: rows, done: make(chan struct{})}
	select {
	case w.urgent <- op:
	case <-w.ended:
		return errShutDown
	}
	return w.wait(op)
}

// writeBehind hands over an operation that can wait, and takes its turn among claims. ErrStorageLow.
func (s *Store) writeBehind(rows int, do func(*tx) error) error {
	if s.writer == nil {
		return errReadOnly
	}
	if err := s.Condition().Err; err != nil {
		return err
	}
	w := s.writer
	op := &operation{do: do, rows: rows, done: make(chan struct{})}
	select {
	case w.claims <- op:
	case <-w.ended:
		return errShutDown
	}
	return w.wait(op)
}

// claim hands over an operation that may be refused. ErrOverload, ErrStorageLow.
func (s *Store) claim(rows int, do func(*tx) error) error {
	if err := s.Condition().Err; err != nil {
		return err
	}
	w := s.writer
	op := &operation{do: do, rows: rows, done: make(chan struct{})}
	select {
	case w.claims <- op:
	case <-w.ended:
		return errShutDown
	default:
		return ledger.ErrOverload
	}
	if w.hooks.queued != nil {
		w.hooks.queued()
	}
	return w.wait(op)
}

func (w *writer) wait(op *operation) error {
	select {
	case <-op.done:
		return op.err
	case <-w.ended:
	}
	select { // it may have been done just before the end
	case <-op.done:
		return op.err
	default:
		return errShutDown
	}
}

// await gives callers who were just answered a moment to come back, so that more of them share the next commit: a commit costs the
// processor as much as the writes of several rows. One who comes alone waits for nobody.
func (w *writer) await() {
	if w.size < crowd || 1+len(w.urgent)+len(w.claims) >= w.size {
		return
	}
	if wait := company - time.Since(w.answered); wait > 0 {
		time.Sleep(wait)
	}
}
