package ledger

import (
	"slices"
	"sync"
	"time"
)

// Spans of a History: the last hour by the minute, and the last day by the quarter of an hour.
const (
	minuteSpan  = time.Minute
	minuteSpans = 60
	quarterSpan = 15 * time.Minute
	quarterDay  = 96
)

// Counts are what happened in some span of time.
type Counts struct {
	Claims     int64 // new rows
	Suppressed int64 // repeats of an event that sent nothing
	Accepted   int64 // attempts that ended so, repeats under a wire key included
	Rejected   int64
	Deferred   int64
	Ambiguous  int64
	ByEvidence int64 // rows that a receipt, a look-up or a repeat settled
	ByPerson   int64 // rows that a person settled
	ByPolicy   int64 // rows that a policy settled
}

func (c *Counts) add(o *Counts) {
	c.Claims += o.Claims
	c.Suppressed += o.Suppressed
	c.Accepted += o.Accepted
	c.Rejected += o.Rejected
	c.Deferred += o.Deferred
	c.Ambiguous += o.Ambiguous
	c.ByEvidence += o.ByEvidence
	c.ByPerson += o.ByPerson
	c.ByPolicy += o.ByPolicy
}

// Attempts is how many attempts ended.
func (c *Counts) Attempts() int64 { return c.Accepted + c.Rejected + c.Deferred + c.Ambiguous }

// outcome counts an attempt that ended.
func (c *Counts) outcome(o Outcome) {
	switch o {
	case Accepted:
		c.Accepted++
	case Rejected:
		c.Rejected++
	case Deferred:
		c.Deferred++
	default:
		c.Ambiguous++
	}
}

// tally counts, for one provider, what happened lately. It is memory of a fixed size, and no figure of it decides anything.
type tally struct {
	mu       sync.Mutex
	minutes  ring
	quarters ring
	repeats  Repeats
}

// Repeats are the suppressed repeats of rows of one provider since the service started.
type Repeats struct {
	Count int64
	Parts int64 // in which they would have been sent: an SMS may have several, anything else has one
}

func newTally() *tally {
	return &tally{minutes: newRing(minuteSpan, minuteSpans), quarters: newRing(quarterSpan, quarterDay)}
}

// count adds to the spans of a time.
func (t *tally) count(at time.Time, add func(*slot)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range [...]*ring{&t.minutes, &t.quarters} {
		if s := r.at(at); s != nil {
			add(s)
		}
	}
}

// repeat counts a repeat that was suppressed.
func (t *tally) repeat(at time.Time, parts int) {
	t.count(at, func(s *slot) { s.Suppressed++ })
	t.mu.Lock()
	defer t.mu.Unlock()
	t.repeats.Count++
	t.repeats.Parts += int64(max(parts, 1))
}

// attempt counts an attempt that ended, and how long its answer took.
func (t *tally) attempt(a *Attempt) {
	t.count(a.EndedAt, func(s *slot) {
		s.outcome(a.Outcome)
		if a.Phase == Answered {
			s.answers.add(a.EndedAt.Sub(a.StartedAt))
		}
	})
}

// ring holds what was counted in the last spans.
type ring struct {
	span   time.Duration
	newest int64 // number of the newest span since the epoch; 0: nothing was counted
	slots  []slot
}

// slot is one span of a ring.
type slot struct {
	Counts
	answers latency
}

func newRing(span time.Duration, n int) ring { return ring{span: span, slots: make([]slot, n)} }

func (r *ring) number(t time.Time) int64 { return t.UnixMilli() / r.span.Milliseconds() }

func (r *ring) slot(number int64) *slot { return &r.slots[number%int64(len(r.slots))] }

// at returns the slot of a time; nil: it is too long ago. A span that begins takes the place of the oldest.
func (r *ring) at(t time.Time) *slot {
	n, size := r.number(t), int64(len(r.slots))
	if n <= r.newest-size || n <= 0 {
		return nil
	}
	for i := max(r.newest, n-size) + 1; i <= n; i++ {
		*r.slot(i) = slot{}
	}
	r.newest = max(r.newest, n)
	return r.slot(n)
}

// each hands the slots of the last n spans up to now that hold something to visit, with how many spans they are ago.
func (r *ring) each(now time.Time, visit func(ago int, s *slot)) {
	last, size := r.number(now), int64(len(r.slots))
	for n := max(last-size, r.newest-size) + 1; n <= min(last, r.newest); n++ {
		visit(int(last-n), r.slot(n))
	}
}

// Span is what happened in one span of a history.
type Span struct {
	At time.Time // its begin
	Counts
}

// History is what happened lately. The last span has only begun. Of before the start it has what the newest rows tell, see remember:
// no repeats.
type History struct {
	At      time.Time
	Since   time.Time // when the service started
	Hour    []Span    // 60, the oldest first
	Day     []Span    // 96
	Repeats Repeats
}

// total adds up spans.
func total(list []Span) (c Counts) {
	for i := range list {
		c.add(&list[i].Counts)
	}
	return c
}

// LastHour adds up what happened in the last hour, by whole minutes.
func (h *History) LastHour() Counts { return total(h.Hour) }

// LastDay adds up what happened in the last day, by whole quarters of an hour.
func (h *History) LastDay() Counts { return total(h.Day) }

// History returns what happened lately, of all providers or of one. Its cost hangs on neither rows nor sends.
func (l *Ledger) History(provider string) History {
	now := l.clock.now()
	h := History{
		At: now, Since: l.began,
		Hour: spans(now, minuteSpan, minuteSpans), Day: spans(now, quarterSpan, quarterDay),
	}
	for name, o := range l.outlets {
		if provider == "" || provider == name {
			o.tally.addTo(&h, now)
		}
	}
	if provider == "" {
		l.strays.addTo(&h, now)
	}
	return h
}

func (t *tally) addTo(h *History, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.minutes.each(now, func(ago int, s *slot) { h.Hour[len(h.Hour)-1-ago].add(&s.Counts) })
	t.quarters.each(now, func(ago int, s *slot) { h.Day[len(h.Day)-1-ago].add(&s.Counts) })
	h.Repeats.Count += t.repeats.Count
	h.Repeats.Parts += t.repeats.Parts
}

// spans are n empty ones, the last of which holds now.
func spans(now time.Time, span time.Duration, n int) []Span {
	list := make([]Span, 0, n)
	for t := now.Truncate(span); len(list) < n; t = t.Add(-span) {
		list = append(list, Span{At: t})
	}
	slices.Reverse(list)
	return list
}

// tallyOf is where a row's provider is counted.
func (l *Ledger) tallyOf(n *Notification) *tally {
	if o := l.outlets[n.Provider]; o != nil {
		return o.tally
	}
	return l.strays
}
