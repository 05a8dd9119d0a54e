package ledger

import (
	"context"
	"sync"
)

// shortcut lets a new row start its attempt without waking its outlet's dispatcher, while Run runs.
type shortcut struct {
	mu   sync.RWMutex
	work context.Context // of Run; nil when nothing may be started
}

// open lets rows start; close returns when no more can.
func (s *shortcut) open(work context.Context) {
	s.mu.Lock()
	s.work = work
	s.mu.Unlock()
}

func (s *shortcut) close() {
	s.mu.Lock()
	s.work = nil
	s.mu.Unlock()
}

// startNow starts the attempt of a due row whose outlet has nothing else to do and a worker to spare: then no other row would
// go first, and waking the dispatcher would only cost time. false: the row goes the ordinary way.
func (l *Ledger) startNow(o *outlet, n Notification) bool {
	l.shortcut.mu.RLock() // Run waits for what was started only after the shortcut is closed
	defer l.shortcut.mu.RUnlock()
	work := l.shortcut.work
	if work == nil || o.provider == nil || o.limiter != nil {
		return false
	}
	if _, ok := l.mayTake(o); !ok {
		return false
	}
	select {
	case o.slots <- struct{}{}:
	default:
		return false
	}
	if !o.claimIdle(n.Seq) {
		<-o.slots
		return false
	}
	l.flight.Go(func() {
		defer func() { <-o.slots }()
		l.send(work, o, n, KindSend, false, sync.OnceFunc(func() { o.finish(n.Seq) }))
	})
	return true
}

// claimIdle takes a row in work if the gate is open and no due row is known to wait.
func (o *outlet) claimIdle(seq int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.gate.Open() || o.pending[seq] {
		return false
	}
	for i := range o.lanes {
		if o.lanes[i].more || len(o.lanes[i].rows) > 0 {
			return false
		}
	}
	o.pending[seq] = true
	return true
}
