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

// reserve takes a worker of an outlet that has nothing else to do and one to spare, for a row that is due: then no other row would
// go first, and waking the dispatcher would only cost time. seq is 0 for a row that is not made yet. nil: the row goes the ordinary
// way; else start or giveBack must follow.
func (l *Ledger) reserve(o *outlet, seq int64) (work context.Context) {
	l.shortcut.mu.RLock() // Run waits for what was expected only after the shortcut is closed
	defer l.shortcut.mu.RUnlock()
	if work = l.shortcut.work; work == nil || o.provider == nil || o.limiter != nil {
		return nil
	}
	if _, ok := l.mayTake(o); !ok {
		return nil
	}
	select {
	case o.slots <- struct{}{}:
	default:
		return nil
	}
	if !o.claimIdle(seq) {
		<-o.slots
		return nil
	}
	l.flight.Expect()
	return work
}

// giveBack ends a reservation that nothing came of.
func (l *Ledger) giveBack(o *outlet) {
	<-o.slots
	l.flight.Cancel()
}

// startNow starts the attempt of a due row. false: the row goes the ordinary way.
func (l *Ledger) startNow(o *outlet, n Notification) bool {
	work := l.reserve(o, n.Seq)
	if work == nil {
		return false
	}
	l.flight.Do(func() {
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
	if seq != 0 {
		o.pending[seq] = true
	}
	return true
}

// head is the first attempt of a row that is not made yet.
type head struct {
	outlet  *outlet
	work    context.Context
	attempt Attempt
	request Request
}

// begin makes the first attempt of a new row ready, so that claim and take share a commit: half the waiting and half the writing. A
// process that dies right behind that commit leaves an unknown where surely nothing left; all others are as ever. nil: the row
// goes the ordinary way, which also says what is wrong with it.
func (l *Ledger) begin(c *Claim) *head {
	o := l.outlets[c.Provider]
	if o == nil || c.Reason != "" || c.DueAt.After(c.ClaimedAt) {
		return nil
	}
	work := l.reserve(o, 0)
	if work == nil {
		return nil
	}
	h := &head{outlet: o, work: work, attempt: o.attempt(&c.Notification, KindSend, l.clock.now())}
	var err error
	if h.request, err = build(o.provider, l.order(c.Notification, h.attempt, nil)); err != nil {
		l.giveBack(o)
		return nil
	}
	h.attempt.seal(h.request, o.repeatWindow() > 0)
	return h
}

// follow sends a row that was claimed and taken in one commit.
func (l *Ledger) follow(h *head, n Notification) {
	Reach(PointAttemptOpened)
	h.attempt.Seq = n.Seq
	l.flight.Do(func() {
		defer func() { <-h.outlet.slots }()
		l.carryOut(h.work, h.outlet, n, h.attempt, errand{request: h.request}, func() {})
	})
}
