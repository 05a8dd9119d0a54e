package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

// Many rows that wait for a closed gate's repeat keep neither others nor themselves from what their policy says.
func TestRepeat_WaitingAtAClosedGateHoldsNobodyUp(t *testing.T) {
	bubble(t, func(r *rig) {
		keyed(r)
		r.settings.Policies = []ledger.PolicySettings{{EventType: "drop", OnAmbiguous: ledger.OnAmbiguousAbandon, After: 10 * time.Second}}
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		var events []ledger.Event
		for i := range 400 {
			events = append(events, event(string(rune('A'+i%26))+time.Duration(i).String()))
		}
		if _, err := r.ledger.ClaimBatch(context.Background(), events); err != nil {
			t.Fatal(err)
		}
		r.advance(100 * time.Millisecond)
		n := r.claim("drop", ofType("drop"))
		if _, err := r.ledger.Pause(context.Background(), "a", "ops", "test"); err != nil {
			t.Fatal(err)
		}
		r.advance(20 * time.Second)
		r.expect(n, ledger.StateFailed, ledger.ReasonAbandoned)
		r.scripts["a"].then(accepted(""))
		if _, err := r.ledger.Resume(context.Background(), "a", "ops"); err != nil {
			t.Fatal(err)
		}
		r.advance(3 * time.Minute)
		if st, err := r.ledger.Stats(context.Background()); err != nil || st.States[ledger.StateSent] != 400 {
			t.Errorf("%d of 400 rows are sent (%v)", st.States[ledger.StateSent], err)
		}
	})
}

// Keeps out that what a lost connection left unknown is asked faster than the provider allows.
func TestRepeat_KeepsTheRate(t *testing.T) {
	bubble(t, func(r *rig) {
		keyed(r)
		r.scripts["a"].rate = 1
	}, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		for i := range 20 {
			r.claim(fmt.Sprint("e", i))
		}
		r.advance(30 * time.Second)
		for i, c := range a.sent() {
			if i > 1 && c.at.Sub(a.sent()[i-2].at) < 1900*time.Millisecond {
				t.Fatalf("calls %d to %d within %v", i-1, i+1, c.at.Sub(a.sent()[i-2].at))
			}
		}
		a.then(accepted(""))
		r.advance(5 * time.Minute)
		if st, err := r.ledger.Stats(context.Background()); err != nil || st.States[ledger.StateSent] != 20 {
			t.Errorf("%d of 20 rows are sent (%v)", st.States[ledger.StateSent], err)
		}
	})
}

// A policy that has nothing to do any more does not end the asking.
func TestRepeat_GoesOnAfterAPolicyThatWasUsed(t *testing.T) {
	bubble(t, func(r *rig) {
		keyed(r)
		r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousSendAgain, 2*time.Second })
	}, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		n := r.claim("e1")
		r.advance(3 * time.Second) // sent again
		a.then(accepted("m1"))
		r.advance(10 * time.Minute)
		r.expect(n, ledger.StateSent, "")
	})
}
