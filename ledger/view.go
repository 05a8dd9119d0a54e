package ledger

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// MaxBacklog is how far waiting rows are counted.
const MaxBacklog = 10_000

// ProviderView is a provider at work, for people.
type ProviderView struct {
	ProviderStatus
	Missing  bool    // the configuration lacks it, and rows name it
	Rate     float64 // requests a second; 0: no limit
	Workers  int     // requests at the same time
	InFlight int
	Waiting  int    // claimed rows that name it, those that are due later included; MaxBacklog: so many or more
	Hour     Counts // the last one
	Latency  Latency
	Price    Price
	Repeats  Repeats // since the service started
}

// ProviderViews returns all providers by name, also those that only rows name.
func (l *Ledger) ProviderViews(ctx context.Context) ([]ProviderView, error) {
	now := l.clock.now()
	var list []ProviderView
	for _, o := range l.outlets {
		v := ProviderView{
			ProviderStatus: o.status(), Missing: o.provider == nil, Workers: cap(o.slots), InFlight: len(o.slots),
			Hour: o.tally.hour(now), Latency: o.tally.latency(now), Price: o.price, Repeats: o.tally.saved(),
		}
		if o.limiter != nil {
			v.Rate = float64(o.limiter.Limit())
		}
		var err error
		if v.Waiting, err = l.store.Backlog(ctx, o.name, MaxBacklog); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b ProviderView) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// hour adds up the last hour.
func (t *tally) hour(now time.Time) (c Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.minutes.each(now, func(_ int, s *slot) { c.add(&s.Counts) })
	return c
}
