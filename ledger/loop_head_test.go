package ledger_test

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

// takesCounted is a store that counts takes of their own.
type takesCounted struct {
	*store.Store
	takes *atomic.Int64
}

func (c takesCounted) Take(t ledger.Taking) error {
	c.takes.Add(1)
	return c.Store.Take(t)
}

// A new row is claimed and taken in one commit where nothing stands in the way of its first attempt, and nowhere else.
func TestHead_OnlyWhereNothingStandsInTheWay(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*rig)
		before func(*testing.T, *rig)
		change func(*ledger.Event)
		takes  int64
		ends   ledger.State // ten seconds later
		reason ledger.Reason
	}{
		"a free provider": {ends: ledger.StateSent},
		"a rate":          {set: func(r *rig) { r.scripts["a"].rate = 100 }, takes: 1, ends: ledger.StateSent},
		"later":           {change: func(e *ledger.Event) { e.SendAt = time.Now().Add(time.Second) }, takes: 1, ends: ledger.StateSent},
		"no worker":       {set: func(r *rig) { r.scripts["a"].workers = 1 }, before: busy, takes: 1, ends: ledger.StateSent},
		"bad":             {set: unbuildable, ends: ledger.StateFailed, reason: ledger.ReasonUnbuildable},
		"a paused gate": {before: func(t *testing.T, r *rig) {
			if _, err := r.ledger.Pause(context.Background(), "a", "ops", "test"); err != nil {
				t.Fatal(err)
			}
		}, ends: ledger.StateClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			var takes atomic.Int64
			bubble(t, func(r *rig) {
				r.wrap = func(s *store.Store) ledger.Store { return takesCounted{s, &takes} }
				if c.set != nil {
					c.set(r)
				}
			}, func(t *testing.T, r *rig) {
				if c.before != nil {
					c.before(t, r)
				}
				takes.Store(0)
				n := r.claim(name, func(e *ledger.Event) {
					if c.change != nil {
						c.change(e)
					}
				})
				r.advance(10 * time.Second)
				if n.State != ledger.StateClaimed || n.Version != 1 || n.AttemptCount != 0 {
					t.Errorf("the answer shows %s, version %d, %d attempts", n.State, n.Version, n.AttemptCount)
				}
				if takes.Load() != c.takes {
					t.Errorf("%d takes, want %d", takes.Load(), c.takes)
				}
				r.expect(n, c.ends, c.reason)
			})
		})
	}
}

// unbuildable makes the provider refuse to build what is bad.
func unbuildable(r *rig) {
	r.scripts["a"].disguise = func(s *script) ledger.Provider { return noBad{s} }
}

type noBad struct{ *script }

func (p noBad) Build(o ledger.Order) (ledger.Request, error) {
	if bytes.Contains(o.Message, []byte("bad")) {
		return nil, errUnbuildable
	}
	return p.script.Build(o)
}

// busy lets a row keep its provider's only worker for a while.
func busy(_ *testing.T, r *rig) {
	r.scripts["a"].thenDo(after(5*time.Second, accepted("")))
	r.claim("e0")
}

// Keeps out workers that a claim takes and never gives back: of a repeat that was taken for new, and of one that cannot be built.
func TestHead_GivesItsWorkerBack(t *testing.T) {
	bubble(t, func(r *rig) {
		r.scripts["a"].workers = 2
		unbuildable(r)
	}, func(t *testing.T, r *rig) {
		for i := range 3000 { // beyond what is looked up first after a start, and back to guessing
			r.claim(fmt.Sprint("e", i%1500))
		}
		for i := range 9 {
			r.claim(fmt.Sprint("bad", i))
		}
		r.scripts["a"].thenDo(after(time.Second, accepted("")))
		r.claim("last one")
		r.claim("very last one")
		synctest.Wait()
		r.scripts["a"].mu.Lock()
		defer r.scripts["a"].mu.Unlock()
		if got := r.scripts["a"].inFlight; got != 2 {
			t.Errorf("%d of 2 workers are at work", got)
		}
	})
}
