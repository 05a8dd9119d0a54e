package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
)

// waiters are callers that want to know when a row's attempt has ended.
type waiters struct {
	mu   sync.Mutex
	rows map[uuid.UUID]*waiting
}

type waiting struct {
	done  chan struct{}
	row   Notification // valid once done is closed
	users int          // callers inside wait
	early bool         // made before the row was: its end cannot have been missed
}

// expect makes an entry before the row is claimed, so that its end cannot be missed. Wait or drop must follow.
func (w *waiters) expect(id uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entry(id).early = true
}

// drop takes back an entry whose row was not made.
func (w *waiters) drop(id uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.rows, id)
}

// entry returns the row's entry, made where there is none. The caller has the lock.
func (w *waiters) entry(id uuid.UUID) *waiting {
	e := w.rows[id]
	if e == nil {
		if w.rows == nil {
			w.rows = map[uuid.UUID]*waiting{}
		}
		e = &waiting{done: make(chan struct{})}
		w.rows[id] = e
	}
	return e
}

// ended wakes who waits for the row.
func (w *waiters) ended(n Notification) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.rows[n.ID]; e != nil {
		e.row = n
		delete(w.rows, n.ID)
		close(e.done)
	}
}

// enter counts a caller in. expected is false when the row may have ended before the entry was made.
func (w *waiters) enter(id uuid.UUID) (e *waiting, expected bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e = w.entry(id)
	e.users++
	return e, e.early
}

// leave counts a caller out and drops an entry that nobody waits for.
func (w *waiters) leave(id uuid.UUID, e *waiting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.users--
	if e.users == 0 && w.rows[id] == e {
		delete(w.rows, id)
	}
}

// Wait returns the row once its first attempt, or the one that runs now, has ended, or as it is when longest has passed, stop is
// closed or ctx is done. A row that is final, held, ambiguous, or due only later than that comes back at once.
func (l *Ledger) Wait(ctx context.Context, n Notification, longest time.Duration, stop <-chan struct{}) Notification {
	if n.State != StateClaimed && n.State != StateSending {
		return n
	}
	e, expected := l.waiters.enter(n.ID)
	defer l.waiters.leave(n.ID, e)
	if !expected { // somebody else's row: it may have ended before we looked
		looking, cancel := context.WithTimeout(ctx, longest)
		r, err := l.store.Get(looking, n.ID)
		cancel()
		if err != nil {
			return n
		}
		n = r.Notification
		l.repeats.addTo(&n)
		if n.State != StateSending && (n.State != StateClaimed || n.AttemptCount > 0) {
			return n
		}
	}
	if n.State == StateClaimed && n.DueAt.After(l.clock.now().Add(longest)) {
		return n
	}
	n = l.waitFor(ctx, e, n, longest, stop)
	l.repeats.addTo(&n)
	return n
}

// waitFor waits and returns the row as it is then.
func (l *Ledger) waitFor(ctx context.Context, e *waiting, n Notification, longest time.Duration, stop <-chan struct{}) Notification {
	end := time.NewTimer(longest)
	defer end.Stop()
	select {
	case <-e.done:
		return e.row
	case <-end.C:
	case <-stop:
	case <-ctx.Done():
	}
	select {
	case <-e.done:
		return e.row
	default:
	}
	if r, err := l.store.Get(context.WithoutCancel(ctx), n.ID); err == nil {
		return r.Notification
	}
	return n
}
