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
	tally    *tally
	price    Price
	states   *stateQueue
	seen     glance // of its dispatcher, which sees to the reading

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
		tally:   newTally(),
		price:   p.Price,
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

// finish ends the work on a row.
func (o *outlet) finish(seq int64) {
	o.mu.Lock()
	delete(o.pending, seq)
	o.mu.Unlock()
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
