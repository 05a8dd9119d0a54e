package ledger

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sort"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Ledger is the use cases over a store and its providers. Make it with New, call Recover once, then Run; the
// other methods may be called from any goroutine.
type Ledger struct {
	store    Store
	log      *slog.Logger
	troubles *Troubles
	settings Settings
	outlets  map[string]*outlet // by provider name; fixed after Recover
	clock    *clock
	random   func() float64
	began    time.Time // when Recover had ended: from here on all is counted as it happens
	strays   *tally    // of rows whose provider no outlet has

	shortcut shortcut
	waiters  waiters
	near     *nearWatch
	recent   recent
	repeats  suppressions
	watchers watchers
	guesses  guesses
	unclosed atomic.Int64 // closes that could not be written yet: no take meanwhile
	draining atomic.Bool
	wake     chan struct{} // of the housekeeper
	house    house
	desk     *desk
	flight   crew
}

// New makes a ledger. It panics on settings that name a provider that is not among providers.
func New(store Store, providers []ProviderSettings, s Settings, log *slog.Logger) *Ledger {
	l := &Ledger{
		store: store, log: log, troubles: NewTroubles(log), settings: s,
		outlets: map[string]*outlet{},
		clock:   newClock(),
		random:  rand.Float64,
		near:    newNearWatch(s.NearDuplicate.Window),
		repeats: suppressions{wake: make(chan struct{}, 1)},
		flight:  newCrew(),
		wake:    make(chan struct{}, 1),
		strays:  newTally(),
	}
	l.began = l.clock.now()
	l.desk = newDesk(s.Operator, log, l.clock.now, func() float64 { return l.random() })
	for _, p := range providers {
		l.outlets[p.Name] = newOutlet(p)
	}
	for ch, c := range s.Channels {
		for _, name := range c.Providers {
			if l.outlets[name] == nil {
				panic("ledger: channel " + string(ch) + " names provider " + name + ", which does not exist")
			}
		}
	}
	return l
}

// Recover closes what a dead process left open and reads pauses. It comes before Run and before the first claim.
// It returns how many rows it moved.
func (l *Ledger) Recover(ctx context.Context) (int, error) {
	newest, err := l.store.Newest(ctx)
	if err != nil {
		return 0, err
	}
	l.clock.atLeast(newest)
	restored := l.store.Condition().Restored
	moved, err := l.store.Recover(l.clock.now(), restored, func(n Notification) (NextAction, time.Time) {
		if restored { // no policy sends on the word of an old copy
			return expiry(n)
		}
		u := l.unknownOf(n)
		if u.since.IsZero() { // it was a first handing that the process died in
			u.since = n.UpdatedAt
		}
		return l.nextEvidence(n, l.repeatWait(0), u)
	})
	if err != nil {
		return 0, err
	}
	pauses, err := l.store.Pauses(ctx)
	if err != nil {
		return 0, err
	}
	for _, p := range pauses {
		if o := l.outlets[p.Provider]; o != nil {
			o.gate.Pause(p)
		}
	}
	if err := l.adoptMissing(ctx); err != nil {
		return moved, err
	}
	l.began = l.clock.now()
	return moved, nil
}

// adoptMissing gives an outlet without a provider to each name that rows stand under and the configuration
// lacks, so that its rows go to another provider of their channel, or wait when they are pinned.
func (l *Ledger) adoptMissing(ctx context.Context) error {
	known := make([]string, 0, len(l.outlets))
	for name := range l.outlets {
		known = append(known, name)
	}
	if err := l.store.MarkMissing(l.clock.now(), known); err != nil {
		return err
	}
	names, err := l.store.Providers(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if l.outlets[name] == nil {
			l.outlets[name] = newMissing(name)
		}
	}
	return nil
}

// Get returns a row in full. A non-nil source hides rows of other sources: ErrNotFound.
func (l *Ledger) Get(ctx context.Context, id uuid.UUID, source *string) (Record, error) {
	r, err := l.store.Get(ctx, id)
	if err != nil {
		return Record{}, err
	}
	if source != nil && *source != r.Source {
		return Record{}, ErrNotFound
	}
	l.repeats.addTo(&r.Notification)
	return r, nil
}

// List returns rows that match.
func (l *Ledger) List(ctx context.Context, f Filter) (Page, error) { return l.store.List(ctx, f) }

// Stats counts.
func (l *Ledger) Stats(ctx context.Context) (Stats, error) { return l.store.Stats(ctx) }

// Ready returns nil when a claim can be made durable now, else ErrDraining, ErrUnknown, ErrUnavailable or ErrStorageLow.
func (l *Ledger) Ready() error { return l.Condition().Err }

// Condition is what the ledger can do now: the store's, and ErrDraining once the service stops.
func (l *Ledger) Condition() Condition {
	c := l.store.Condition()
	if l.draining.Load() {
		c.Err = ErrDraining
	}
	return c
}

// ProviderStatus is a provider as people see it.
type ProviderStatus struct {
	Name         string
	Type         string
	Channels     []Channel
	Gate         GateStatus
	Capabilities []Capability // that are in use
	Offers       []Capability // that the type's service has
}

// GateStatus is a gate as people see it.
type GateStatus struct {
	State  string // open, slowed, paused
	Until  time.Time
	Since  time.Time // when it closed; zero: it is open
	Reason string
	By     string
}

// ByItself reports whether the ledger closed the gate, so that Reason is the word of a Fault and no person's text.
func (g GateStatus) ByItself() bool { return g.By == actorSelf }

// Providers returns all providers by name.
func (l *Ledger) Providers() []ProviderStatus {
	out := make([]ProviderStatus, 0, len(l.outlets))
	for _, o := range l.outlets {
		if o.provider != nil {
			out = append(out, o.status())
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

func (o *outlet) status() ProviderStatus {
	o.mu.Lock()
	defer o.mu.Unlock()
	return ProviderStatus{
		Name: o.name, Type: o.kind, Channels: o.channels, Gate: o.gate.Status(), Capabilities: o.uses(), Offers: o.offers,
	}
}
