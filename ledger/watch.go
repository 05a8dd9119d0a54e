package ledger

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// MaxWatched is how many rows wait for one watcher; when there are more it is told that something changed, and reads what it shows
// anew.
const MaxWatched = 256

// RowChange is a row that a write moved, or that a repeat was counted on.
type RowChange struct {
	ID      uuid.UUID
	Source  string
	Version int64 // changes of one row may come in another order: the highest version is the newest
	State   State
}

// Changes are what has happened since a watcher asked last.
type Changes struct {
	Rows  []RowChange // each row once, as it was told last
	Gates bool        // a gate has opened or closed, or was paused or resumed
	Lost  bool        // more happened than was kept: anything may have changed
}

// Watcher is told what changes, for pages that are kept fresh. It is no record: nothing is kept while nobody watches, nor over a
// restart.
type Watcher struct {
	source *string // nil: all
	wake   chan struct{}

	mu    sync.Mutex
	next  Changes
	place map[uuid.UUID]int // in next.Rows
}

// watchers are those who are told. While there is none, a change costs one load.
type watchers struct {
	count atomic.Int32

	mu   sync.RWMutex
	list map[*Watcher]bool
}

// Watch tells of changes from now on, until ctx is done: it has to be done some day. A non-nil source hides the rows of others.
func (l *Ledger) Watch(ctx context.Context, source *string) *Watcher {
	w := &Watcher{source: source, wake: make(chan struct{}, 1), place: map[uuid.UUID]int{}}
	l.watchers.mu.Lock()
	defer l.watchers.mu.Unlock()
	if l.watchers.list == nil {
		l.watchers.list = map[*Watcher]bool{}
	}
	l.watchers.list[w] = true
	l.watchers.count.Add(1)
	context.AfterFunc(ctx, func() { l.watchers.remove(w) })
	return w
}

func (s *watchers) remove(w *Watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.list, w)
	s.count.Add(-1)
}

// Next waits until something has changed since the last call, and returns it; the error is that of ctx. Whoever wants few answers
// lets some time go by between calls: changes of one row come as one.
func (w *Watcher) Next(ctx context.Context) (Changes, error) {
	select {
	case <-w.wake:
	case <-ctx.Done():
		return Changes{}, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.next
	w.next = Changes{}
	clear(w.place)
	return c, nil
}

// tell adds to what a watcher is told next.
func (w *Watcher) tell(add func(*Changes)) {
	w.mu.Lock()
	add(&w.next)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// row tells of a row as a write left it.
func (s *watchers) row(n *Notification) {
	if s.count.Load() == 0 {
		return
	}
	change := RowChange{ID: n.ID, Source: n.Source, Version: n.Version, State: n.State}
	s.each(func(w *Watcher) {
		if w.source == nil || *w.source == change.Source {
			w.tell(func(c *Changes) { w.keep(c, change) })
		}
	})
}

// gate tells that a gate has changed.
func (s *watchers) gate() {
	if s.count.Load() > 0 {
		s.each(func(w *Watcher) { w.tell(func(c *Changes) { c.Gates = true }) })
	}
}

func (s *watchers) each(tell func(*Watcher)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for w := range s.list {
		tell(w)
	}
}

// keep notes a row's change. The caller has the lock.
func (w *Watcher) keep(c *Changes, change RowChange) {
	i, told := w.place[change.ID]
	switch {
	case c.Lost:
	case told && c.Rows[i].Version <= change.Version:
		c.Rows[i] = change
	case told: // a newer one was told already
	case len(c.Rows) >= MaxWatched:
		c.Rows, c.Lost = nil, true
		clear(w.place)
	default:
		w.place[change.ID] = len(c.Rows)
		c.Rows = append(c.Rows, change)
	}
}
