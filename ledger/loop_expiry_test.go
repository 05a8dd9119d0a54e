package ledger_test

import (
	"context"
	"testing"
	"time"

	"sendonce/ledger"
)

func expires(d time.Duration) func(*ledger.Event) {
	return func(e *ledger.Event) { e.ExpiresAt = time.Now().Add(d) }
}

func sendIn(d time.Duration) func(*ledger.Event) {
	return func(e *ledger.Event) { e.SendAt = time.Now().Add(d) }
}

func TestLoop_SendAtDelays(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		for _, wait := range []time.Duration{10 * time.Second, 59 * time.Second, 61 * time.Second, 26 * time.Hour} {
			n := r.claim(wait.String(), sendIn(wait))
			at := n.SendAt
			r.expect(n, ledger.StateClaimed, ledger.ReasonScheduled)
			r.advance(wait - 10*time.Millisecond)
			r.expect(n, ledger.StateClaimed, ledger.ReasonScheduled)
			r.advance(20 * time.Millisecond)
			r.expect(n, ledger.StateSent, "")
			if late := r.scripts["a"].of(n)[0].at.Sub(at); late < 0 || late > 10*time.Millisecond {
				t.Errorf("sent %v after %v", late, at)
			}
			if got := n.ExpiresAt.Sub(at); got != 72*time.Hour {
				t.Errorf("lives for %v after its time", got)
			}
		}
	})
}

func TestLoop_ExpiresWhileScheduled(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		// The sooner one comes second: the loop must not sleep past it.
		late := r.claim("late", sendIn(30*time.Minute), expires(40*time.Minute))
		r.act(late, ledger.Act{Action: ledger.CauseHold})
		n := r.claim("e1", expires(10*time.Second))
		r.expect(n, ledger.StateSent, "")
		r.act(late, ledger.Act{Action: ledger.CauseUnhold})
		r.expect(late, ledger.StateClaimed, ledger.ReasonScheduled)
		r.advance(31 * time.Minute)
		r.expect(late, ledger.StateSent, "")
	})
}

func TestLoop_ExpiresAtAClosedGate(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(unreachable)
		long := r.claim("long")
		n := r.claim("short", expires(90*time.Second))
		r.advance(89 * time.Second)
		r.expect(n, ledger.StateClaimed, r.row(n).Reason)
		r.advance(2 * time.Second)
		rec := r.expect(n, ledger.StateExpired, "")
		if rec.NextAction != ledger.DoNothing || rec.MaybeSent || rec.DueAt != (time.Time{}) {
			t.Errorf("row %+v", rec.Notification)
		}
		calls := len(r.scripts["a"].of(n))
		r.scripts["a"].then(accepted(""))
		r.advance(10 * time.Minute)
		r.expect(long, ledger.StateSent, "")
		r.expect(n, ledger.StateExpired, "")
		if got := len(r.scripts["a"].of(n)); got != calls {
			t.Error("an expired row was sent")
		}
	})
}

func TestLoop_ExpiresWhileHeld(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1", sendIn(time.Minute), expires(5*time.Minute))
		r.act(n, ledger.Act{Action: ledger.CauseHold})
		r.expect(n, ledger.StateHeld, "")
		r.advance(4 * time.Minute)
		r.expect(n, ledger.StateHeld, "")
		r.advance(61 * time.Second)
		r.expect(n, ledger.StateExpired, "")
		if got := len(r.scripts["a"].sent()); got != 0 {
			t.Errorf("%d requests", got)
		}
	})
}

func TestLoop_ExpiresWhileAmbiguous(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1", expires(10*time.Minute))
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if rec.Shown() != ledger.Ask {
			t.Errorf("shows %s", rec.Shown())
		}
		r.advance(601 * time.Second)
		rec = r.expect(n, ledger.StateFailed, ledger.ReasonExpiredUnknown)
		if !rec.MaybeSent {
			t.Error("expiry says nothing about whether it was sent")
		}
		last := rec.Settlements[len(rec.Settlements)-1]
		if last.Action != ledger.CauseAbandon || last.Actor != "sendonce" || last.From != ledger.StateAmbiguous {
			t.Errorf("settlement %+v", last)
		}
	})
}

// A retry that would come after the end is not made; the row expires instead.
func TestLoop_ExpiresOnTheLadder(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(deferred)
		n := r.claim("e1", expires(20*time.Second))
		if rec := r.row(n); !rec.DueAt.Equal(n.ExpiresAt) {
			t.Errorf("due at %v, expires at %v", rec.DueAt, n.ExpiresAt)
		}
		r.advance(21 * time.Second)
		r.expect(n, ledger.StateExpired, "")
		if got := len(r.scripts["a"].of(n)); got != 1 {
			t.Errorf("%d attempts", got)
		}
	})
}

func TestLoop_AttemptPastExpiryIsClosedAsItEnded(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(func(context.Context, *call) ledger.Result {
			time.Sleep(10 * time.Second)
			return accepted("m1")
		})
		n := r.claim("e1", expires(5*time.Second))
		r.advance(7 * time.Second)
		r.expect(n, ledger.StateSending, "")
		r.advance(4 * time.Second)
		r.expect(n, ledger.StateSent, "")
	})
}

func TestLoop_ReleasePastExpiryNeedsAnother(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(rejected)
		n := r.claim("e1", expires(time.Minute))
		r.scripts["a"].then(accepted(""))
		r.advance(2 * time.Minute)
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease}); err != ledger.ErrPast {
			t.Fatalf("release: %v, want %v", err, ledger.ErrPast)
		}
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, ExpiresAt: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		r.expect(n, ledger.StateSent, "")
	})
}

// Keeps out an expires_at of the year 10000, which RFC 3339 cannot write.
func TestClaim_ExpiryStaysWithinFourDigits(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		end := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		n := r.claim("e1", func(e *ledger.Event) { e.SendAt = end })
		if n.ExpiresAt.Year() != 9999 || n.ExpiresAt.Before(end) {
			t.Errorf("expires at %v", n.ExpiresAt)
		}
	})
}
