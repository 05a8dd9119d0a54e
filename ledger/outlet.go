package ledger

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	laneRoom = 1024 // rows of one lane that an outlet holds in memory
	laneRead = 256  // rows that it reads at once
)

// outlet is one provider at work: its gate, its limits, and the due rows that were handed to it in memory.
// Rows are taken from memory while that holds all that is due, and read from the store when it does not.
type outlet struct {
	name     string
	kind     string
	channels []Channel
	offers   []Capability
	provider Provider // nil: the configuration lacks it
	timeout  time.Duration
	slots    chan struct{} // one for each request at the same time
	limiter  *rate.Limiter // nil: no limit
	wake     chan struct{}
	deciding sync.Mutex // a person's pause and its end: ledger and gate change together
	looks    lookQueue
	states   *stateQueue

	mu       sync.Mutex
	gate     Gate
	lanes    [2]lane
	skimmed  bool           // the store may have rows that were not wanted while the gate was shut
	pending  map[int64]bool // rows that are in a lane or in work, so that a reading does not bring them again
	barriers int64          // of the store, when memory was last right
	rest     time.Time      // no take before: the store refused one
	told     time.Time      // since of the slowed gate that people were told of
	nextDue  time.Time      // when the store's next row is due; zero: none that is known
}

type lane struct {
	rows []Notification
	more bool // the store has due rows that are not here
}

func newOutlet(p ProviderSettings) *outlet {
	o := &outlet{
		name: p.Name, kind: p.Type, channels: p.Channels, offers: p.Offers, provider: p.Provider, timeout: p.Timeout,
		slots:   make(chan struct{}, max(p.Workers, 1)),
		wake:    make(chan struct{}, 1),
		pending: map[int64]bool{},
		looks:   lookQueue{queued: map[int64]bool{}, turn: make(chan struct{}, 1)},
		states:  newStateQueue(p.Provider),
	}
	if p.Rate > 0 {
		o.limiter = rate.NewLimiter(rate.Limit(p.Rate), max(1, int(p.Rate/10)))
	}
	o.lanes[Urgent].more, o.lanes[Normal].more = true, true
	return o
}

// newMissing makes the outlet of a provider that rows name and the configuration lacks: nothing passes it.
func newMissing(name string) *outlet {
	o := newOutlet(ProviderSettings{Name: name})
	o.gate.Pause(Pause{Provider: name, Reason: string(ReasonProviderMissing)})
	return o
}

// poke wakes the dispatcher.
func (o *outlet) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// offer hands a due row over in memory. Behind a backlog, or when memory is full, the row stays in the store only.
func (o *outlet) offer(n Notification) {
	o.mu.Lock()
	l := &o.lanes[n.Lane]
	switch {
	case l.more || o.pending[n.Seq]:
		l.more = true
	case len(l.rows) >= laneRoom:
		l.more = true
	default:
		l.rows = append(l.rows, n)
		o.pending[n.Seq] = true
	}
	o.mu.Unlock()
	o.poke()
}

// forget drops what is held in memory: it is read from the store again.
func (o *outlet) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.lanes {
		for j := range o.lanes[i].rows {
			delete(o.pending, o.lanes[i].rows[j].Seq)
		}
		o.lanes[i] = lane{more: true}
	}
}

// skim drops rows that nothing passes for. They stay in the store, in their order, and are read again when a gate has changed
// or may let a probe pass: to look through a backlog for each row that joins it would cost more than to send it.
func (o *outlet) skim() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.lanes {
		for j := range o.lanes[i].rows {
			delete(o.pending, o.lanes[i].rows[j].Seq)
		}
		o.lanes[i].rows = nil
	}
	o.skimmed = true
}

// finish ends the work on a row.
func (o *outlet) finish(seq int64) {
	o.mu.Lock()
	delete(o.pending, seq)
	o.mu.Unlock()
}

// pop returns the first row, urgent ones before normal ones, that accept takes. Rows that it refuses are
// dropped from memory; they stay in the store and are read again.
func (o *outlet) pop(accept func(*Notification) bool) (Notification, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.lanes {
		l := &o.lanes[i]
		for len(l.rows) > 0 {
			n := l.rows[0]
			l.rows[0] = Notification{}
			l.rows = l.rows[1:]
			if accept(&n) {
				return n, true
			}
			delete(o.pending, n.Seq)
			l.more = true
		}
		l.rows = nil
	}
	return Notification{}, false
}

// rows copies the rows of both lanes that go first.
func (o *outlet) rows(most int) (rows []Notification) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.lanes {
		n := min(len(o.lanes[i].rows), most-len(rows))
		rows = append(rows, o.lanes[i].rows[:n]...)
	}
	return rows
}

// again is when a row will be due, or the gate may let one pass, if that is what is waited for; zero: when poked.
func (o *outlet) again(closed bool) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if closed {
		return earlier(o.nextDue, o.gate.Until())
	}
	return o.nextDue
}

// look makes the next refill read the store.
func (o *outlet) look() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lanes[Urgent].more, o.lanes[Normal].more = true, true
}

// schedule notes a row that is due later.
func (o *outlet) schedule(due time.Time) {
	o.mu.Lock()
	sooner := o.nextDue.IsZero() || due.Before(o.nextDue)
	if sooner {
		o.nextDue = due
	}
	o.mu.Unlock()
	if sooner {
		o.poke()
	}
}

// reading says which lanes are to be read, and whether only rows that another provider may take are wanted. From here on
// what comes meanwhile is noted in the lane, so that a reading which began before cannot hide it.
func (o *outlet) reading(now time.Time) (movable bool, lanes [2]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.nextDue.IsZero() && !now.Before(o.nextDue) {
		o.nextDue = time.Time{}
		o.lanes[Urgent].more, o.lanes[Normal].more = true, true
	}
	shut := o.provider == nil || !o.gate.Open() && !o.gate.Ready(now)
	if o.skimmed && !shut {
		o.skimmed, o.lanes[Urgent].more, o.lanes[Normal].more = false, true, true
	}
	for i := range o.lanes {
		if lanes[i] = o.lanes[i].more && len(o.lanes[i].rows) == 0; lanes[i] {
			o.lanes[i].more = false
		}
	}
	return shut, lanes
}

// fill puts rows that were read into a lane. next is when the row after them is due.
func (o *outlet) fill(lane Lane, rows []Notification, next time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lanes[lane].more = o.lanes[lane].more || len(rows) == laneRead
	o.nextDue = earlier(o.nextDue, next)
	for _, n := range rows {
		if !o.pending[n.Seq] {
			o.pending[n.Seq] = true
			o.lanes[lane].rows = append(o.lanes[lane].rows, n)
		}
	}
	if len(rows) == laneRead && len(o.lanes[lane].rows) == 0 { // all of them are in work: look again when that has moved on
		o.nextDue = rows[0].DueAt
		o.lanes[lane].more = false
	}
}

// restUntil keeps the outlet from taking before a time.
func (o *outlet) restUntil(t time.Time) {
	o.mu.Lock()
	o.rest = t
	o.mu.Unlock()
}

// withdraw gives a probe back that was not sent. Somebody may have seen it on its way and wait for its end.
func (o *outlet) withdraw() {
	o.mu.Lock()
	o.gate.Withdraw()
	o.mu.Unlock()
	o.poke()
}

func (o *outlet) open() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.provider != nil && o.gate.Open()
}
