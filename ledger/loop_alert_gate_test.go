package ledger_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// A gate that only a person can help is told at once, one that passes by itself once it has lasted, a person's pause always.
func TestAlert_Gates(t *testing.T) {
	for name, c := range map[string]struct {
		result ledger.Result
		state  string
		after  time.Duration
	}{
		"credentials": {credentials, "paused", time.Second},
		"unreachable": {unreachable, "slowed", 5 * time.Minute},
		"throttled":   {throttled(20 * time.Second), "slowed", 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
				closed := time.Now()
				r.scripts["a"].then(c.result)
				r.claim("e1")
				r.advance(c.after - 500*time.Millisecond)
				if h.tries() != 0 {
					t.Errorf("told after %v: %+v", c.after, h.tried)
				}
				r.advance(2 * time.Hour)
				told := h.of(ledger.AlertGate)
				if len(told) != 1 || told[0].Count != 1 {
					t.Fatalf("told %+v", told)
				}
				s := told[0].Subjects[0]
				if s.Provider != "a" || s.State != c.state || s.Reason != name || s.By != "sendonce" || s.Since.Sub(closed).Abs() > time.Millisecond {
					t.Errorf("told %+v", s)
				}
				r.scripts["a"].then(accepted(""))
				r.advance(6 * time.Minute)
				r.scripts["a"].then(c.result)
				r.claim("e2") // closed anew
				r.advance(c.after + 2*time.Minute)
				if told := h.of(ledger.AlertGate); len(told) != 2 {
					t.Errorf("told %+v after it had closed a second time", told)
				}
			})
		})
	}
	t.Run("short outage", func(t *testing.T) {
		alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
			r.scripts["a"].then(unreachable)
			r.claim("e1")
			r.advance(2 * time.Minute)
			r.scripts["a"].then(accepted(""))
			r.advance(time.Hour)
			if h.tries() != 0 {
				t.Errorf("told %+v", h.tried)
			}
		})
	})
	t.Run("nobody asks it again", func(t *testing.T) {
		alerts(t, twoProviders, func(t *testing.T, r *rig, h *hook, _ *lines) {
			r.scripts["a"].then(unreachable)
			r.expect(r.claim("e1"), ledger.StateSent, "") // by the other one
			r.advance(2 * time.Hour)
			if h.tries() != 0 {
				t.Errorf("told %+v: nobody knows whether it lasts", h.tried)
			}
		})
	})
	t.Run("by a person", func(t *testing.T) {
		alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
			if _, err := r.ledger.Pause(context.Background(), "a", "ada", "call +15550100001 first"); err != nil {
				t.Fatal(err)
			}
			r.advance(time.Hour)
			told := h.of(ledger.AlertGate)
			if len(told) != 1 || told[0].Subjects[0].By != "ada" || told[0].Subjects[0].Reason != "" || told[0].Subjects[0].State != "paused" {
				t.Errorf("told %+v: what a person wrote stays inside", told)
			}
		})
	})
}

func TestAlert_ExhaustedAndDuplicates(t *testing.T) {
	alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
		a := r.scripts["a"]
		a.then(deferred)
		n := r.claim("e1")
		a.then(rejected)
		r.claim("e2") // told to its caller, not to an operator
		a.then(deferred)
		r.advance(24 * time.Hour)
		r.expect(n, ledger.StateFailed, ledger.ReasonExhausted)
		if told := h.of(ledger.AlertExhausted); len(told) != 1 || told[0].Count != 1 || told[0].Subjects[0].ID != n.ID || h.tries() != 1 {
			t.Fatalf("told %+v", h.tried)
		}

		a.then(lost)
		twice := r.claim("e3")
		if _, err := r.act(twice, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(twice).Version}); err != nil {
			t.Fatal(err)
		}
		r.prove(receipt(twice, 1, "delivered", ledger.Delivered))
		r.prove(receipt(twice, 2, "delivered", ledger.Delivered))
		r.prove(receipt(twice, 2, "delivered", ledger.Delivered))
		r.advance(2 * time.Second)
		if told := h.of(ledger.AlertDuplicate); len(told) != 1 || told[0].Count != 1 || told[0].Subjects[0].ID != twice.ID {
			t.Fatalf("told %+v", h.tried)
		}

		late := r.claim("e4") // its first attempt is proven while the second is under way
		a.thenDo(func(ctx context.Context, c *call) ledger.Result {
			time.Sleep(10 * time.Second)
			return accepted("m2")
		})
		if _, err := r.act(late, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(late).Version}); err != nil {
			t.Fatal(err)
		}
		r.prove(receipt(late, 1, "delivered", ledger.Delivered))
		r.advance(time.Minute)
		synctest.Wait()
		if told := h.of(ledger.AlertDuplicate); len(told) != 2 || told[1].Subjects[0].ID != late.ID {
			t.Errorf("told %+v", told)
		}
	})
}

// Keeps out a gate that closes so often that another one, which closed too, is never named.
func TestAlert_AGateThatFlutters(t *testing.T) {
	alerts(t, func(r *rig) { r.use(newScript("b")) }, func(t *testing.T, r *rig, h *hook, _ *lines) {
		for range ledger.MaxSubjects {
			_, closed := r.ledger.Pause(context.Background(), "a", "ops", "test")
			_, opened := r.ledger.Resume(context.Background(), "a", "ops")
			if closed != nil || opened != nil {
				t.Fatal(closed, opened)
			}
		}
		if _, err := r.ledger.Pause(context.Background(), "b", "ops", "test"); err != nil {
			t.Fatal(err)
		}
		r.advance(2 * time.Second)
		told := h.of(ledger.AlertGate)
		if len(told) != 1 || told[0].Count != ledger.MaxSubjects+1 || len(told[0].Subjects) != 2 || told[0].Subjects[1].Provider != "b" {
			t.Errorf("told %+v", told)
		}
	})
}
