package ledger

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	gatherFor   = time.Second      // from the first subject to the alert: what happens at once is told at once
	gatherLong  = 30 * time.Second // between two alerts of a kind
	tellTimeout = 15 * time.Second
	lastTelling = 5 * time.Second // for what is left when the service stops
)

// tellLadder is how long after a failure the next alert is tried; its last step is repeated for as long as it takes.
var tellLadder = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// desk puts alerts together, writes each into the log, and tells them to the operator. It holds two alerts of a kind at most,
// whatever happens: what comes while one is being told is counted in the next. All of it is memory: the ledger itself has the
// rows that wait, and the next start counts them again.
type desk struct {
	operator Operator // nil: the log only
	log      *slog.Logger
	now      func() time.Time // the ledger's
	random   func() float64
	wake     chan struct{}

	mu       sync.Mutex
	gathered map[AlertKind]*gathering

	// Of the one goroutine that tells.
	outbox []Alert             // one of a kind at most; what was tried once stays as it is, since the operator may have it
	more   map[AlertKind]Alert // what came behind them
	failed int                 // in a row
	rest   time.Time           // no try before
}

// gathering is an alert that is being put together.
type gathering struct {
	alert Alert
	due   time.Time
	last  time.Time // when the one before was cut
}

func newDesk(operator Operator, log *slog.Logger, now func() time.Time, random func() float64) *desk {
	return &desk{operator: operator, log: log, now: now, random: random, wake: make(chan struct{}, 1), gathered: map[AlertKind]*gathering{}, more: map[AlertKind]Alert{}}
}

// add counts one subject. It never waits.
func (d *desk) add(kind AlertKind, s Subject) {
	d.merge(kind, Alert{Count: 1, Subjects: []Subject{s}})
}

// merge counts many.
func (d *desk) merge(kind AlertKind, found Alert) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.gathered[kind]
	if g == nil {
		g = &gathering{}
		d.gathered[kind] = g
	}
	if g.alert.Count == 0 {
		g.due = time.Now().Add(gatherFor)
		if again := g.last.Add(gatherLong); again.After(g.due) {
			g.due = again
		}
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
	g.alert.merge(found)
}

// run tells until ctx is done. finish tells the rest.
func (d *desk) run(ctx context.Context) {
	for ctx.Err() == nil {
		next := earlier(d.cut(time.Now(), false), d.tell(ctx))
		if next.IsZero() {
			await(ctx, d.wake)
			continue
		}
		sleep(ctx, d.wake, max(time.Until(next), time.Millisecond))
	}
}

// finish tells what is left, once and not for long. Nothing is added any more.
func (d *desk) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), lastTelling)
	defer cancel()
	d.cut(time.Now(), true)
	d.rest = time.Time{}
	for left := len(d.outbox) + len(d.more); left > 0 && len(d.outbox) > 0 && ctx.Err() == nil; left-- {
		d.tell(ctx)
		d.rest = time.Time{}
	}
}

// cut closes the alerts that are due, or all, and returns when the next one is; zero: none is being put together.
func (d *desk) cut(now time.Time, all bool) (next time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, kind := range AlertKinds {
		g := d.gathered[kind]
		switch {
		case g == nil || g.alert.Count == 0:
		case !all && now.Before(g.due):
			next = earlier(next, g.due)
		default:
			a := g.alert
			a.Kind, a.At = kind, d.now()
			g.alert, g.last = Alert{}, now
			d.write(&a)
			d.post(a)
		}
	}
	return next
}

// write is the one line of an alert in the log.
func (d *desk) write(a *Alert) {
	names := make([]string, len(a.Subjects))
	for i, s := range a.Subjects {
		names[i] = s.Provider + " " + s.State
		if s.ID != uuid.Nil {
			names[i] = s.ID.String()
		}
	}
	d.log.Warn("a person is needed", "kind", a.Kind, "count", a.Count, "first", strings.Join(names, ", "))
}

// post puts an alert into the outbox.
func (d *desk) post(a Alert) {
	if d.operator == nil {
		return
	}
	if slices.ContainsFunc(d.outbox, func(b Alert) bool { return b.Kind == a.Kind }) {
		behind := d.more[a.Kind]
		behind.merge(a)
		behind.Kind, behind.At = a.Kind, a.At
		d.more[a.Kind] = behind
		return
	}
	a.ID = uuid.NewString()
	d.outbox = append(d.outbox, a)
}

// tell tries the first alert of the outbox, and returns when to try the next; zero: there is none. One that fails goes behind
// the others, which wait as long as it does.
func (d *desk) tell(ctx context.Context) time.Time {
	if len(d.outbox) == 0 || time.Now().Before(d.rest) {
		return d.again()
	}
	a := d.outbox[0]
	d.outbox = d.outbox[1:]
	within, cancel := context.WithTimeout(ctx, tellTimeout)
	defer cancel()
	if err := d.operator.Tell(within, a, d.now()); err != nil {
		wait, _ := backoff(tellLadder, min(d.failed, len(tellLadder)-1), 0, d.random())
		d.outbox = append(d.outbox, a)
		d.failed++
		d.rest = time.Now().Add(wait)
		d.log.Warn("the operator was not told", "kind", a.Kind, "count", a.Count, "tries", d.failed, "error", err)
		return d.rest
	}
	d.failed, d.rest = 0, time.Time{}
	if behind, ok := d.more[a.Kind]; ok {
		delete(d.more, a.Kind)
		d.post(behind)
	}
	return d.again()
}

// again is when the next alert of the outbox is tried; zero: there is none.
func (d *desk) again() time.Time {
	if len(d.outbox) == 0 {
		return time.Time{}
	}
	if d.rest.IsZero() {
		return time.Now()
	}
	return d.rest
}
