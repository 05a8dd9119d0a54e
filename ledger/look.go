package ledger

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	lookRoom     = 1024                   // looks of one provider that wait in memory
	lookTogether = 256                    // of which one call is about so many at most
	lookPause    = 200 * time.Millisecond // between two calls to one provider
	lookTimeout  = time.Minute            // for one call, which may be several requests
	lookLease    = 2 * time.Minute        // how long the row of a look that is under way leaves it alone
	lookGrace    = time.Minute            // how long a policy waits for a look that is under way
	lookRestMin  = time.Minute            // after a look that failed, doubling
	lookRestMax  = time.Hour
	lookGiveUp   = 72 * time.Hour // behind the last look, when those that fail are not tried any more
)

// lookQueue is what one provider is to be asked about. One worker asks, so that an outage of the provider is not followed by one
// request for each message of it. A look that fails goes behind those that wait, and the next one is about one row: what is wrong
// with one of them keeps no other from being found.
type lookQueue struct {
	mu       sync.Mutex
	list     []look
	queued   map[int64]bool // by Seq, those at work included
	working  bool
	rest     time.Time // no look before: one failed
	failures int       // in a row

	turn chan struct{} // held while the provider is asked: one call at a time
}

// resting is before when nothing is asked.
func (q *lookQueue) resting() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.rest
}

// answered notes that the provider answers.
func (q *lookQueue) answered() {
	q.mu.Lock()
	q.failures = 0
	q.mu.Unlock()
}

// lookUps are the look-ups of an outlet's provider.
func (o *outlet) lookUps() LookUps {
	if f, ok := o.provider.(Finder); ok {
		return f.LookUps()
	}
	return LookUps{}
}

// startLook hands a row to the worker that asks its provider. The row waits meanwhile as if it had to be looked for again: when the
// look fails, or the process ends, it is. false: nothing was done.
func (l *Ledger) startLook(work context.Context, n Notification) (bool, error) {
	o := l.outlets[n.Provider]
	if o == nil || len(o.lookUps().At) == 0 {
		return true, l.reschedule(n, l.repeatWait(n.Deferrals))
	}
	rec, err := l.store.Get(work, n.ID)
	if err != nil {
		return false, err
	}
	u := unknownOf(&rec)
	item, ok := l.lookFor(o, &rec, u)
	if !ok {
		u.looks = noLooks
		return true, l.wait(n, l.repeatWait(n.Deferrals), u)
	}
	now := l.clock.now()
	u.underWay = now.Add(o.queueLook(item, now, o.pausedByPerson()))
	if err := l.wait(n, l.repeatWait(n.Deferrals), u); err != nil {
		return false, err
	}
	if o.lookWorker(now) {
		l.flight.Go(func() { l.workLooks(work, o) })
	}
	return true, nil
}

// pausedByPerson reports whether a person said that the provider is not to be used. What the ledger closed by itself is no
// reason not to ask: that a gate takes no messages says little about what is read.
func (o *outlet) pausedByPerson() bool {
	g := o.status().Gate
	return g.State == "paused" && !g.ByItself()
}

// queueLook puts a look into memory, where there is room, and says for how long its row is to leave it alone.
func (o *outlet) queueLook(i look, now time.Time, paused bool) time.Duration {
	q := &o.looks
	q.mu.Lock()
	defer q.mu.Unlock()
	lease := max(lookLease, q.rest.Sub(now)) + time.Duration(len(q.list))*time.Second
	switch {
	case paused:
		return lookRestMax / 6
	case q.queued[i.row.Seq]: // as it is now, in its old place
		if at := slices.IndexFunc(q.list, func(old look) bool { return old.row.Seq == i.row.Seq }); at >= 0 {
			q.list[at] = i
		}
		return lease
	case len(q.list) >= lookRoom:
		return lease
	}
	q.queued[i.row.Seq] = true
	q.list = append(q.list, i)
	return lease
}

// lookWorker reports whether a worker is to be started.
func (o *outlet) lookWorker(now time.Time) bool {
	q := &o.looks
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.working || len(q.list) == 0 || now.Before(q.rest) {
		return false
	}
	q.working = true
	return true
}

// nextLooks takes the first look and all that go together with it; none: the worker ends.
func (o *outlet) nextLooks(f Finder, now time.Time) (group []look) {
	q := &o.looks
	q.mu.Lock()
	defer q.mu.Unlock()
	most := lookTogether
	switch {
	case now.Before(q.rest):
		q.working = false
		return nil
	case q.failures > 0:
		most = 1
	}
	var others []look
	for _, i := range q.list {
		if len(group) == 0 || len(group) < most && f.Together(group[0].search, i.search) {
			group = append(group, i)
		} else {
			others = append(others, i)
		}
	}
	q.list, q.working = others, len(group) > 0
	return group
}

// workLooks asks about all that waits, one call after the other.
func (l *Ledger) workLooks(work context.Context, o *outlet) {
	f := o.provider.(Finder)
	for {
		group := o.nextLooks(f, l.clock.now())
		if len(group) == 0 {
			return
		}
		if l.draining.Load() || work.Err() != nil {
			o.lookedAt(group)
			continue
		}
		answer, err := l.find(work, o, group)
		if err == nil {
			err = l.looked(o, group, answer)
		}
		if err != nil {
			l.lookFailed(o, group, err)
			continue
		}
		o.looks.answered()
		o.lookedAt(group)
		sleep(work, nil, lookPause)
	}
}

// find asks for a group of looks.
func (l *Ledger) find(work context.Context, o *outlet, group []look) (answer LookedUp, err error) {
	searches := make([]Search, len(group))
	for i := range group {
		searches[i] = group[i].search
	}
	err = o.looks.ask(work, func(ctx context.Context) (err error) {
		answer, err = o.provider.(Finder).Find(ctx, l.clock.now(), searches)
		return err
	})
	if err == nil && len(answer.Found) != len(group) {
		err = errors.New("the adapter answered other searches than it was asked")
	}
	return answer, err
}

// ask lets an adapter make one call when no other call that reads is made to its provider. A panic in it is an answer that cannot
// be used.
func (q *lookQueue) ask(ctx context.Context, call func(context.Context) error) (err error) {
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-q.turn }()
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v}
		}
	}()
	return call(ctx)
}

// lookFailed lets the provider rest. The rows come again by themselves. The gate stays as it is, since what reads may fail where
// sending works, and the other way round.
func (l *Ledger) lookFailed(o *outlet, group []look, cause error) {
	var failed *LookUpError
	var fault Fault
	after := time.Duration(0)
	if errors.As(cause, &failed) {
		fault, after = failed.Fault, failed.RetryAfter
	}
	wait := o.looks.failed(l.clock.now(), after)
	l.troubles.Tell("look-up", "provider", o.name, "fault", fault, "error", cause, "again_in", wait)
	o.lookedAt(group)
}

// failed sets when the next look may be made, and returns how long that is.
func (q *lookQueue) failed(now time.Time, after time.Duration) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	wait := max(min(lookRestMin<<min(q.failures, 10), lookRestMax), min(after, lookRestMax))
	q.failures++
	q.rest = now.Add(wait)
	return wait
}

// lookedAt ends the work on looks, whatever came of them.
func (o *outlet) lookedAt(group []look) {
	o.looks.mu.Lock()
	defer o.looks.mu.Unlock()
	for _, i := range group {
		delete(o.looks.queued, i.row.Seq)
	}
}
