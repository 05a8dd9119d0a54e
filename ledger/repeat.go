package ledger

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	repeatPutOff = time.Minute      // how long a repeat waits that meets a closed gate: long enough that many of them cost little
	repeatSpread = 10 * time.Second // over which repeats that the rate or the workers do not allow come again
)

// startRepeat asks a provider once more under the same wire key, to learn what happened. Where the gate, the workers or the rate
// do not allow it now it is put off, and the row's policy may come first. false: nothing was done.
func (l *Ledger) startRepeat(work context.Context, n Notification) (bool, error) {
	o := l.outlets[n.Provider]
	if o == nil || o.repeatWindow() == 0 || n.ContentGone() {
		return true, l.reschedule(n, noRepeat)
	}
	if _, ok := l.mayTake(o); !ok {
		return false, nil
	}
	o.mu.Lock()
	busy := o.pending[n.Seq]
	entry := Shut
	if !busy {
		entry = o.gate.Enter(l.clock.now())
	}
	if entry != Shut {
		o.pending[n.Seq] = true
	}
	o.mu.Unlock()
	switch {
	case busy:
		return false, nil
	case entry == Shut:
		return true, l.reschedule(n, repeatPutOff)
	}
	if !o.spare() {
		if entry == AsProbe {
			o.withdraw()
		}
		o.finish(n.Seq)
		return true, l.reschedule(n, storeRetry+time.Duration(l.random()*float64(repeatSpread)))
	}
	l.flight.Go(func() {
		defer func() { <-o.slots }()
		l.send(work, o, n, KindRepeat, entry == AsProbe, sync.OnceFunc(func() { o.finish(n.Seq) }))
	})
	return true, nil
}

// spare takes a worker that is free now, and a request that the rate allows now: first messages go before repeats.
func (o *outlet) spare() bool {
	select {
	case o.slots <- struct{}{}:
	default:
		return false
	}
	if o.limiter != nil && !o.limiter.Allow() {
		<-o.slots
		return false
	}
	return true
}

// firstBytes returns the attempt whose bytes this one has to send: where a provider honours a key, every attempt to that account
// sends the same body under it. nil: there is none, build a new request. false: the attempt is not to be made.
func (l *Ledger) firstBytes(work context.Context, o *outlet, n Notification, kind Kind) (*Attempt, bool) {
	if kind == KindRepeat {
		first, ok := l.repeatable(work, o, n)
		return &first, ok
	}
	if n.AttemptCount == 0 || o.repeatWindow() == 0 {
		return nil, true
	}
	first, err := l.store.FirstAttempt(work, n.Seq, o.provider.Account())
	switch {
	case errors.Is(err, ErrNotFound) || err == nil && first.Request == nil:
		return nil, true
	case err != nil:
		l.notTaken(o, n, err)
		return nil, false
	}
	return &first, true
}

// repeatable returns the first attempt that reached the provider's account, when a repeat under its key is still safe: the
// same account, its bytes kept, and its age inside the provider's window less a margin, by a clock that can be trusted.
// Otherwise it gives the row its next piece of evidence.
func (l *Ledger) repeatable(work context.Context, o *outlet, n Notification) (Attempt, bool) {
	first, err := l.store.FirstAttempt(work, n.Seq, o.provider.Account())
	if err != nil && !errors.Is(err, ErrNotFound) {
		l.troubles.Tell("repeat", "id", n.ID, "error", err)
		o.restUntil(l.clock.now().Add(storeRetry))
		return Attempt{}, false
	}
	age := l.clock.now().Sub(first.StartedAt)
	if !l.clock.steady() { // it was a moment ago: the row stays due, and the housekeeper waits until it is again
		return Attempt{}, false
	}
	if err == nil && first.Request != nil && age >= 0 && age < usable(o.repeatWindow()) {
		return first, true
	}
	if err := l.reschedule(n, noRepeat); err != nil {
		l.troubles.Tell("repeat", "id", n.ID, "error", err)
	}
	return Attempt{}, false
}
