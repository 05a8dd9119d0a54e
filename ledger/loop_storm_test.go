package ledger_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// storm is a world in which everything happens at once: providers with every outcome, and people with every action.
type storm struct {
	mu     sync.Mutex
	random *rand.Rand
	calm   bool
	last   map[string]ledger.Outcome // of the last handing of a row
	free   map[string]bool           // the row was released since
	blind  []string
}

func (s *storm) pick(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// answer notes a handing, and whether it is a blind one, before it decides how it ends.
func (s *storm) answer(window bool) func(context.Context, *call) ledger.Result {
	return func(ctx context.Context, c *call) ledger.Result {
		results := []ledger.Result{accepted(""), accepted(""), rejected, deferred, deferred, unreachable, throttled(3 * time.Second), credentials, lost, lost, {}}
		s.mu.Lock()
		res := results[s.random.IntN(len(results))]
		wait := time.Duration(s.random.IntN(20_000)) * time.Millisecond
		if s.calm {
			res, wait = accepted(""), 0
		}
		outcome, known := s.last[c.ID]
		if c.Kind == ledger.KindSend && known && outcome != ledger.Deferred && !s.free[c.ID] {
			s.blind = append(s.blind, fmt.Sprintf("%s-%d after %s", c.ID, c.Number, outcome))
		}
		if c.Kind == ledger.KindRepeat && !window {
			s.blind = append(s.blind, fmt.Sprintf("%s-%d repeated without a key", c.ID, c.Number))
		}
		s.last[c.ID], s.free[c.ID] = ledger.Ambiguous, false
		s.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			res = lost
		}
		s.mu.Lock()
		s.last[c.ID] = res.Outcome
		s.mu.Unlock()
		if res.Outcome == ledger.Ambiguous && wait%7 == 0 {
			panic("the adapter is broken")
		}
		return res
	}
}

// whatever does something that a person may do at any time.
func (s *storm) whatever(r *rig, rows []ledger.Notification) {
	ctx := context.Background()
	if s.pick(6) == 0 {
		p := []string{"a", "b", "c"}[s.pick(3)]
		if s.pick(3) == 0 {
			_, _ = r.ledger.Pause(ctx, p, "ops", "storm")
		} else {
			_, _ = r.ledger.Resume(ctx, p, "ops")
		}
		return
	}
	n := rows[s.pick(len(rows))]
	rec := r.row(n)
	a := ledger.Act{ID: n.ID, Actor: "ops", Reason: "storm", Action: ledger.Actions[s.pick(len(ledger.Actions))], IfMatch: rec.Version}
	if a.Action == ledger.CauseRelease {
		s.mu.Lock()
		before := s.free[n.ID.String()]
		s.free[n.ID.String()] = true // before the loop may take it
		s.mu.Unlock()
		if got, err := r.ledger.Settle(ctx, a); err != nil || got.Version == rec.Version {
			s.mu.Lock()
			s.free[n.ID.String()] = before
			s.mu.Unlock()
		}
		return
	}
	_, _ = r.ledger.Settle(ctx, a)
}

// Whatever happens, no handing follows one that may have been accepted, and once it is calm nothing is left lying.
func TestLoop_Storm(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := &storm{random: rand.New(rand.NewPCG(seed, 1)), last: map[string]ledger.Outcome{}, free: map[string]bool{}}
			bubble(t, func(r *rig) {
				r.use(newScript("b"), newScript("c"))
				r.scripts["a"].window, r.scripts["a"].workers = time.Hour, 3
				r.scripts["b"].rate = 5
				for name, p := range r.scripts {
					p.then(ledger.Result{})
					p.thenDo(s.answer(name == "a"))
				}
				r.sms(func(c *ledger.ChannelSettings) { c.Providers = []string{"a", "b", "c"} })
			}, func(t *testing.T, r *rig) { s.blow(t, r) })
		})
	}
}

func (s *storm) blow(t *testing.T, r *rig) {
	var rows []ledger.Notification
	for i := range 150 {
		rows = append(rows, r.claim(fmt.Sprint("e", i), func(e *ledger.Event) {
			e.Lane = []string{"", "urgent"}[s.pick(2)]
			if s.pick(5) == 0 {
				e.Provider = []string{"a", "b", "c"}[s.pick(3)]
			}
			if s.pick(5) == 0 {
				e.SendAt = time.Now().Add(time.Duration(s.pick(7200)) * time.Second)
			}
		}))
		s.whatever(r, rows)
		r.advance(time.Duration(s.pick(3000)) * time.Millisecond)
		if i == 100 {
			r.stop()
			r.start()
		}
	}
	for range 300 {
		s.whatever(r, rows)
		r.advance(time.Duration(s.pick(30_000)) * time.Millisecond)
	}
	s.mu.Lock()
	s.calm = true
	s.mu.Unlock()
	for _, p := range []string{"a", "b", "c"} {
		if _, err := r.ledger.Resume(context.Background(), p, "ops"); err != nil {
			t.Fatal(err)
		}
	}
	r.advance(8 * time.Hour)
	for _, n := range rows {
		rec := r.row(n)
		if slices.Contains([]ledger.State{ledger.StateClaimed, ledger.StateSending}, rec.State) {
			t.Errorf("%s is %s (%s) at %s, due %v, by now %v", rec.EventID, rec.State, rec.Reason, rec.Provider, rec.DueAt, time.Now().UTC())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.blind {
		t.Errorf("blind: %s", b)
	}
}
