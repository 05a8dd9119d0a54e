package store

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	maxGroup    = 256         // rows that share a commit
	urgentShare = 192         // of them, while claims wait
	maxClaims   = 1024        // claims that may wait; beyond it they are refused
	maxUrgent   = 1024        // closes, takes and settlements that may wait before callers do
	raiseEvery  = time.Second // how often the generation rises while there are writes
	barrierWait = time.Second // between tries of a barrier
	crowd       = 4           // operations of a group from which on the next one waits for company
	company     = 500 * time.Microsecond
)

// writer is the one goroutine that writes.
type writer struct {
	store  *Store
	tx     *tx
	urgent chan *operation // closes, takes, settlements: they end what is in flight, so they go first
	claims chan *operation
	quit   chan struct{}
	ended  chan struct{}
	hooks  hooks

	folder    *folder
	folding   bool
	foldAt    int64 // pages in the log
	foldLate  int64 // pages, at which the writer waits for the folder
	foldTries int   // that the writer has left
	cutting   bool  // the log is cut once it is folded

	tidy       <-chan time.Time // when to look at the log's size; nil: nothing was written since
	restored   bool             // the generation stands still
	generation mark
	raised     time.Time
	answered   time.Time // when the last group was
	size       int       // of the last group, in operations
	commits    atomic.Int64

	mu       sync.Mutex
	unknown  error // the commit that failed, until a barrier holds
	barriers int64
}

func newWriter(s *Store, h hooks) *writer {
	return &writer{
		store: s, hooks: h,
		tx:     &tx{conn: s.writes},
		urgent: make(chan *operation, maxUrgent), claims: make(chan *operation, maxClaims),
		quit: make(chan struct{}), ended: make(chan struct{}),
		folder: newFolder(s.folds, s.writes.log.pages), foldAt: h.foldPages,
	}
}

func (w *writer) start() {
	go w.run()
	go w.folder.run()
}

// end lets the writer finish what was handed in, and waits for it.
func (w *writer) end() {
	close(w.quit)
	<-w.ended
	w.folder.end()
}

// close folds the log into the database.
func (w *writer) close() {
	if busy, err := w.checkpoint(); busy || err != nil {
		w.store.log.Warn("the log could not be folded into the database; the next start does it", "error", err)
	}
}

// condition returns ErrUnknown while a failed commit is not resolved, and how many were.
func (w *writer) condition() (barriers int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.barriers, w.unknown
}

// run is the writer's life. A panic in it is not recovered: the process ends, and the next start knows what is open.
func (w *writer) run() {
	for {
		select { // what is urgent goes first
		case op := <-w.urgent:
			w.group(w.gather(op))
			continue
		default:
		}
		var again <-chan time.Time
		if _, err := w.condition(); err != nil {
			again = time.After(barrierWait)
		}
		select {
		case op := <-w.urgent:
			w.group(w.gather(op))
		case op := <-w.claims:
			w.group(w.gather(op))
		case <-again:
			w.resolve()
		case <-w.tidy:
			w.cutLog()
		case f := <-w.folder.done:
			w.folded(f)
		case <-w.quit:
			w.drain()
			close(w.ended) // not deferred: while a panic ends the process nobody may be told anything
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

// gather adds to the first operation whatever waits, up to a group. What is urgent goes first, but leaves claims their share:
// a backlog that is being sent must not keep new events from becoming durable.
func (w *writer) gather(first *operation) []*operation {
	w.await()
	ops, rows := []*operation{first}, first.rows
	for _, part := range []struct {
		queue chan *operation
		upTo  int
		share int // what is left to the part where the one before it went beyond its bound: receipts come many in one operation
	}{{w.urgent, urgentShare, 0}, {w.claims, maxGroup, maxGroup - urgentShare}, {w.urgent, maxGroup, 0}} {
		upTo := max(part.upTo, min(rows, maxGroup)+part.share)
		for waits := true; waits && rows < upTo; {
			select {
			case op := <-part.queue:
				ops, rows = append(ops, op), rows+op.rows
			default:
				waits = false
			}
		}
	}
	return ops
}

// group writes operations with one commit and answers them.
func (w *writer) group(ops []*operation) {
	if _, err := w.condition(); err != nil {
		answer(ops, err)
		return
	}
	if err := w.begin(); err != nil { // nobody's own fault, so it makes no sense to try each alone
		w.store.troubles.Tell("no transaction could be opened", "error", err)
		w.notice(err)
		answer(ops, unavailable(err))
		return
	}
	raised, err := w.apply(ops)
	if err != nil {
		w.rollback()
		w.notice(err)
		if len(ops) == 1 {
			w.store.troubles.Tell("a write failed", "error", err)
			answer(ops, unavailable(err))
			return
		}
		for _, op := range ops { // only what fails alone fails
			w.group([]*operation{op})
		}
		return
	}
	if err := w.commit(); err != nil {
		w.store.troubles.Tell("a commit failed: trying the barrier", "operations", len(ops), "error", err)
		w.rollback()
		w.notice(err)
		answer(ops, w.failed(err))
		return
	}
	answer(ops, nil)
	w.answered, w.size = time.Now(), len(ops)
	runtime.Gosched() // who was answered waits behind this goroutine, and would until it sleeps
	w.remember(raised)
	w.fold()
	if w.tidy == nil {
		w.tidy = time.After(tidyEvery)
	}
}

// notice draws what an error says about the file itself.
func (w *writer) notice(err error) {
	switch code(err) {
	case sqlite3.SQLITE_FULL:
		w.store.space.recheck()
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		w.store.damaged(opening(err))
	}
}

// apply runs operations in the open transaction, then writes the counts and, once a second, the generation. It returns the
// new generation, or 0.
func (w *writer) apply(ops []*operation) (raised int64, err error) {
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
