package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"sendonce/ledger"
)

const (
	maxGroup    = 256         // rows that share a commit
	maxClaims   = 1024        // claims that may wait; beyond it they are refused
	maxUrgent   = 1024        // closes, takes and settlements that may wait before callers do
	raiseEvery  = time.Second // how often the generation rises while there are writes
	barrierWait = time.Second // between tries of a barrier
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

// writer is the one goroutine that writes.
type writer struct {
	store  *Store
	tx     *tx
	urgent chan *operation // closes, takes, settlements: they end what is in flight, so they go first
	claims chan *operation
	quit   chan struct{}
	ended  chan struct{}
	hooks  hooks

	restored   bool // the generation stands still
	generation mark
	raised     time.Time

	mu       sync.Mutex
	unknown  error // the commit that failed, until a barrier holds
	barriers int64
}

func newWriter(ctx context.Context, s *Store, h hooks) (*writer, error) {
	conn, err := s.writes.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &writer{
		store: s, hooks: h,
		tx:     &tx{ctx: ctx, conn: conn, stmts: map[string]*sql.Stmt{}},
		urgent: make(chan *operation, maxUrgent), claims: make(chan *operation, maxClaims),
		quit: make(chan struct{}), ended: make(chan struct{}),
	}, nil
}

func (w *writer) start() { go w.run() }

// end lets the writer finish what was handed in, and waits for it.
func (w *writer) end() {
	close(w.quit)
	<-w.ended
}

// close folds the log into the database and gives the connection back.
func (w *writer) close() error {
	var errs []error
	for _, st := range w.tx.stmts {
		errs = append(errs, st.Close())
	}
	var busy, inLog, folded int
	err := w.tx.conn.QueryRowContext(w.tx.ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &inLog, &folded)
	if err != nil {
		w.store.log.Warn("the log could not be folded into the database; the next start does it", "error", err)
	}
	return errors.Join(append(errs, w.tx.conn.Close())...)
}

// condition returns ErrUnknown while a failed commit is not resolved, and how many were.
func (w *writer) condition() (error, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unknown, w.barriers
}

// run is the writer's life. A panic in it is not recovered: the process ends, and the next start knows what is open.
func (w *writer) run() {
	defer close(w.ended)
	for {
		select { // what is urgent goes first
		case op := <-w.urgent:
			w.group(w.gather(op))
			continue
		default:
		}
		var again <-chan time.Time
		if err, _ := w.condition(); err != nil {
			again = time.After(barrierWait)
		}
		select {
		case op := <-w.urgent:
			w.group(w.gather(op))
		case op := <-w.claims:
			w.group(w.gather(op))
		case <-again:
			w.resolve()
		case <-w.quit:
			w.drain()
			return
		}
	}
}

// drain does what was handed in before the end.
func (w *writer) drain() {
	for {
		select {
		case op := <-w.urgent:
			w.group(w.gather(op))
		case op := <-w.claims:
			w.group(w.gather(op))
		default:
			return
		}
	}
}

// gather adds to the first operation whatever waits, up to a group.
func (w *writer) gather(first *operation) []*operation {
	ops, rows := []*operation{first}, first.rows
	for _, queue := range []chan *operation{w.urgent, w.claims} {
		for rows < maxGroup {
			select {
			case op := <-queue:
				ops, rows = append(ops, op), rows+op.rows
				continue
			default:
			}
			break
		}
	}
	return ops
}

// group writes operations with one commit and answers them.
func (w *writer) group(ops []*operation) {
	if err, _ := w.condition(); err != nil {
		answer(ops, err)
		return
	}
	raised, err := w.apply(ops)
	if err != nil {
		w.rollback()
		if code(err) == sqlite3.SQLITE_FULL {
			w.store.space.recheck()
		}
		if len(ops) == 1 {
			w.store.log.Error("a write failed", "error", err)
			answer(ops, unavailable(err))
			return
		}
		for _, op := range ops { // only what fails alone fails
			w.group([]*operation{op})
		}
		return
	}
	if err := w.commit(); err != nil {
		w.store.log.Error("a commit failed: trying the barrier", "operations", len(ops), "error", err)
		w.rollback()
		answer(ops, w.failed(err))
		return
	}
	answer(ops, nil)
	w.remember(raised)
}

// apply opens a transaction and runs the operations in it, then writes the counts and, once a second, the generation. It
// returns the new generation, or 0.
func (w *writer) apply(ops []*operation) (raised int64, err error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	w.tx.counts = tally{}
	for _, op := range ops {
		if w.hooks.before != nil {
			w.hooks.before(w.tx, op)
		}
		if err := op.do(w.tx); err != nil {
			return 0, err
		}
	}
	if err := w.tx.counts.write(w.tx); err != nil {
		return 0, err
	}
	if !w.restored && time.Since(w.raised) >= raiseEvery {
		return w.tx.raise()
	}
	return 0, nil
}

// begin opens a transaction. One that an earlier failure left open is rolled back first.
func (w *writer) begin() error {
	_, err := w.tx.exec("BEGIN IMMEDIATE")
	if err == nil || code(err) == sqlite3.SQLITE_BUSY {
		return err
	}
	w.rollback()
	_, err = w.tx.exec("BEGIN IMMEDIATE")
	return err
}

func (w *writer) commit() error {
	return w.hooks.commit(func() error {
		_, err := w.tx.exec("COMMIT")
		return err
	})
}

// rollback ends the transaction. After a full disk or an I/O error SQLite has done so by itself and says that there is none.
func (w *writer) rollback() {
	if _, err := w.tx.exec("ROLLBACK"); err != nil {
		w.store.log.Debug("rollback", "error", err)
	}
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
	if err, _ := w.condition(); err != nil {
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
