package ledger

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	idleLook   = time.Minute // the longest sleep of the loop
	storeRetry = time.Second // between tries of what the store refused
	closeGrace = 5 * time.Second
)

// Run sends what is due until ctx is done. Then nothing more is taken; requests that run keep their own
// deadlines for at most the drain, are cancelled at its end, and Run returns when each has closed its attempt.
func (l *Ledger) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	begun := l.clock.now()
	var loops sync.WaitGroup
	for _, o := range l.outlets {
		loops.Go(func() { l.dispatch(ctx, work, o) })
		if len(o.states.at) > 0 {
			loops.Go(func() { l.keepStates(ctx, o) })
		}
	}
	loops.Go(func() { l.keepHouse(ctx, work) })
	loops.Go(func() { l.keepRepeats(ctx) })
	if l.settings.Retention != (Retention{}) {
		loops.Go(func() { l.keepRetention(ctx) })
	}
	loops.Go(func() { l.tellWaiting(ctx, begun) })
	loops.Go(func() { l.desk.run(ctx) })
	loops.Go(func() { l.remember(ctx) })
	l.shortcut.open(work)
	<-ctx.Done()
	l.draining.Store(true)
	l.shortcut.close()
	loops.Wait()
	drained := make(chan struct{})
	go func() {
		l.flight.Wait()
		close(drained)
	}()
	drain := time.NewTimer(l.settings.Drain)
	defer drain.Stop()
	select {
	case <-drained:
	case <-drain.C:
		cancel()
		<-drained
	}
	err := l.Flush()
	l.desk.finish()
	return err
}

// dispatch is the loop of one outlet: do what can be done, then sleep until something may have changed.
func (l *Ledger) dispatch(ctx, work context.Context, o *outlet) {
	for ctx.Err() == nil {
		next, err := l.runOnce(ctx, work, o)
		if err != nil && ctx.Err() == nil {
			l.troubles.Tell("loop", "provider", o.name, "error", err)
			next = l.clock.now().Add(storeRetry)
		}
		if !sleep(ctx, o.wake, l.until(next)) {
			l.lookAgain(o)
		}
	}
}

// until is how long to sleep for a time; zero: as long as the loop ever sleeps.
func (l *Ledger) until(t time.Time) time.Duration {
	if t.IsZero() {
		return idleLook
	}
	return min(idleLook, max(t.Sub(l.clock.now()), time.Millisecond))
}

// await waits for a signal or the end, and reports whether it was the signal.
func await(ctx context.Context, wake <-chan struct{}) bool {
	select {
	case <-wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// sleep waits for a signal, a time or the end, and reports whether it was the signal.
func sleep(ctx context.Context, wake <-chan struct{}, wait time.Duration) bool {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-wake:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

// runOnce takes every row of an outlet that may be taken now and starts its attempt. It returns when to look again; zero: when poked.
func (l *Ledger) runOnce(ctx, work context.Context, o *outlet) (time.Time, error) {
	for ctx.Err() == nil {
		if at, ok := l.mayTake(o); !ok {
			return at, nil
		}
		if at, ok := l.blocked(o); ok {
			return at, nil
		}
		if err := l.refill(ctx, o); err != nil {
			o.look()
			return time.Time{}, err
		}
		target, next := l.road(o)
		if target == nil {
			return next, nil
		}
		if !target.acquire(ctx) {
			return time.Time{}, nil
		}
		if !l.start(work, o, target) {
			<-target.slots
		}
	}
	return time.Time{}, nil
}

// mayTake says whether rows may be taken at all, and else when to ask again.
func (l *Ledger) mayTake(o *outlet) (time.Time, bool) {
	now := l.clock.now()
	c := l.store.Condition()
	o.mu.Lock()
	stale, rest := o.barriers != c.Barriers, o.rest
	o.barriers = c.Barriers
	o.mu.Unlock()
	if stale {
		o.forget()
	}
	switch {
	case c.Restored:
		return time.Time{}, false
	case c.Err != nil && !errors.Is(c.Err, ErrStorageLow), l.unclosed.Load() > 0:
		return now.Add(storeRetry), false
	case now.Before(rest):
		return rest, false
	}
	return time.Time{}, true
}

// refill reads due rows into lanes that are empty and known to lack some, and notes when the next row is due.
func (l *Ledger) refill(ctx context.Context, o *outlet) error {
	now := l.clock.now()
	movable, due := o.reading(now)
	var channels []Channel
	if movable {
		if channels = l.leaving(o); len(channels) == 0 { // they have closed just now
			o.look()
			return nil
		}
	}
	for _, lane := range []Lane{Urgent, Normal} {
		if !due[lane] {
			continue
		}
		rows, err := l.store.Due(ctx, DueQuery{Provider: o.name, Lane: lane, At: now, Limit: laneRead, Movable: movable, Channels: channels})
		if err != nil {
			return err
		}
		if len(rows) > 0 { // what is begun may come to nothing, and wait here again
			o.seen = glance{}
		}
		next := time.Time{}
		if len(rows) < laneRead {
			if next, err = l.store.NextDue(ctx, o.name, now); err != nil {
				return err
			}
		}
		o.fill(lane, rows, next)
	}
	return nil
}

// acquire waits for a worker and for the rate; false: ctx is done.
func (o *outlet) acquire(ctx context.Context) bool {
	select {
	case o.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if o.limiter != nil && o.limiter.Wait(ctx) != nil {
		<-o.slots
		return false
	}
	return true
}

// start picks the row only now, so that an urgent one that came meanwhile goes first, and lets it go if the target's
// gate still lets it pass. false: nothing was started, the slot is still the caller's.
func (l *Ledger) start(work context.Context, o, target *outlet) bool {
	target.mu.Lock()
	entry := target.gate.Enter(l.clock.now())
	target.mu.Unlock()
	if entry == Shut {
		return false
	}
	n, ok := o.pop(func(n *Notification) bool {
		return target == o || l.detour(o, n) == target
	})
	if !ok {
		if entry == AsProbe {
			target.withdraw()
		}
		return false
	}
	l.flight.Go(func() {
		defer func() { <-target.slots }()
		l.send(work, target, n, KindSend, entry == AsProbe, sync.OnceFunc(func() { o.finish(n.Seq) }))
	})
	return true
}
