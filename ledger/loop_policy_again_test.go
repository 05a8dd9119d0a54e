package ledger_test

import (
	"testing"
	"time"

	"sendonce/ledger"
)

// Once in a row's life is counted from what is stored: neither a restart nor a person's release begins a new count.
func TestPolicy_SendAgainIsCountedFromSettlements(t *testing.T) {
	bubble(t, func(r *rig) {
		r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousSendAgain, time.Minute })
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.advance(61 * time.Second)
		if rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer); rec.AttemptCount != 2 {
			t.Fatalf("%d attempts", rec.AttemptCount)
		}
		r.stop()
		r.start()
		r.advance(5 * time.Minute)
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if rec.AttemptCount != 2 || rec.Shown() != ledger.Ask {
			t.Fatalf("%d attempts after a restart, shows %s", rec.AttemptCount, rec.Shown())
		}
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: rec.Version}); err != nil {
			t.Fatal(err)
		}
		r.advance(5 * time.Minute)
		if rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer); rec.AttemptCount != 3 || rec.Shown() != ledger.Ask {
			t.Errorf("%d attempts after a person's release, shows %s", rec.AttemptCount, rec.Shown())
		}
	})
}

// A row that expires before its policy would act is abandoned as unknown, whatever the policy is.
func TestPolicy_ExpiryGoesFirst(t *testing.T) {
	for _, policy := range []ledger.OnAmbiguous{ledger.OnAmbiguousSendAgain, ledger.OnAmbiguousAssumeSent, ledger.OnAmbiguousAbandon} {
		t.Run(string(policy), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.sms(func(c *ledger.ChannelSettings) {
					c.OnAmbiguous, c.After, c.ExpiresAfter = policy, 2*time.Minute, 2*time.Minute
				})
			}, func(t *testing.T, r *rig) {
				r.scripts["a"].then(lost)
				n := r.claim("e1")
				r.advance(3 * time.Minute)
				if rec := r.expect(n, ledger.StateFailed, ledger.ReasonExpiredUnknown); rec.AttemptCount != 1 || !rec.MaybeSent {
					t.Errorf("%d attempts, maybe_sent %t", rec.AttemptCount, rec.MaybeSent)
				}
			})
		})
	}
}

// A policy of one channel says nothing about another's rows of the same event type.
func TestPolicy_OfAChannel(t *testing.T) {
	bubble(t, func(r *rig) {
		r.settings.Policies = []ledger.PolicySettings{{EventType: "x", Channel: ledger.Email, OnAmbiguous: ledger.OnAmbiguousAbandon, After: time.Minute}}
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1", ofType("x"))
		r.advance(time.Hour)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
	})
}
