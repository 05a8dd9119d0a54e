package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestLoop_WallClockSetBackStopsExpiryAndPolicies(t *testing.T) {
	bubble(t, func(r *rig) {
		r.settings.Policies = []ledger.PolicySettings{{EventType: "drop", OnAmbiguous: ledger.OnAmbiguousAbandon, After: time.Minute}}
	}, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		dropped := r.claim("drop", ofType("drop"))
		a.then(deferred)
		retried := r.claim("retry")
		held := r.claim("held", sendIn(time.Minute), expires(2*time.Minute))
		r.act(held, ledger.Act{Action: ledger.CauseHold})
		a.then(accepted(""))

		r.ledger.ShiftWall(-time.Hour)
		r.advance(30 * time.Minute)
		r.expect(dropped, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.expect(held, ledger.StateHeld, "")
		r.expect(retried, ledger.StateSent, "") // waits are monotonic
		fresh := r.claim("fresh")
		if rec := r.expect(fresh, ledger.StateSent, ""); rec.ClaimedAt.Before(retried.ClaimedAt) {
			t.Error("a later row was claimed earlier: stored times ran backwards")
		}

		r.ledger.ShiftWall(0)
		r.advance(30 * time.Second)
		r.expect(dropped, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.advance(45 * time.Second)
		r.expect(dropped, ledger.StateFailed, ledger.ReasonAbandoned)
		r.expect(held, ledger.StateExpired, "")
	})
}

func TestLoop_WallClockJumpForwardRestsBeforeItExpires(t *testing.T) {
	bubble(t, func(r *rig) {
		r.settings.Policies = []ledger.PolicySettings{{EventType: "drop", OnAmbiguous: ledger.OnAmbiguousAbandon, After: time.Minute}}
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		dropped := r.claim("drop", ofType("drop"))
		r.scripts["a"].then(unreachable)
		waiting := r.claim("waiting", expires(2*time.Minute))
		r.ledger.ShiftWall(time.Hour)
		r.scripts["a"].then(accepted(""))
		r.advance(55 * time.Second)
		r.expect(dropped, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if rec := r.row(waiting); rec.State != ledger.StateClaimed {
			t.Errorf("right after a jump a row is %s", rec.State)
		}
		if got := len(r.scripts["a"].of(waiting)); got != 1 {
			t.Errorf("a row past its end was sent: %d attempts", got)
		}
		r.advance(20 * time.Second)
		r.expect(dropped, ledger.StateFailed, ledger.ReasonAbandoned)
		r.expect(waiting, ledger.StateExpired, "")
	})
}

// A jump that is put right within a minute ends no row.
func TestLoop_WallClockBlipForward(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1", expires(10*time.Minute))
		r.ledger.ShiftWall(2 * time.Hour)
		r.claim("e2") // somebody looks at the clock
		r.advance(30 * time.Second)
		r.ledger.ShiftWall(0)
		r.advance(9 * time.Minute)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if r.ledger.Steady() {
			t.Error("the ledger is two hours ahead of the wall clock and calls that steady")
		}
	})
}

// After a restart the wall clock is behind the newest time in the ledger: the same.
func TestLoop_StartBehindTheLedger(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1", expires(10*time.Minute))
		r.ledger.ShiftWall(5 * time.Minute)
		r.claim("later")
		r.stop()
		r.start() // by a clock that is five minutes behind
		r.advance(6 * time.Minute)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.advance(50 * time.Minute) // the lead has melted
		r.expect(n, ledger.StateFailed, ledger.ReasonExpiredUnknown)
	})
}

// Keeps out a scheduled message that goes hours early, and a live one that is called expired, because the clock was ahead
// before: a caller's times are not compared while the clock is behind.
func TestClaim_WithATimeWaitsForTheClock(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(accepted(""))
		r.ledger.ShiftWall(time.Hour)
		r.claim("ahead")
		r.ledger.ShiftWall(0)
		later := func(e *ledger.Event) { e.SendAt, e.ExpiresAt = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour) }
		if _, err := r.ledger.Claim(context.Background(), event("later", later)); !errors.Is(err, ledger.ErrClockBehind) {
			t.Fatalf("got %v", err)
		}
		r.claim("at once")
		r.advance(11 * time.Hour) // an hour of lead melts in ten
		if _, err := r.ledger.Claim(context.Background(), event("later", later)); err != nil {
			t.Fatal(err)
		}
	})
}
