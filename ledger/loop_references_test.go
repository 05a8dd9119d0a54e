package ledger_test

import (
	"testing"

	"sendonce/ledger"
)

// A message id that belongs to another row already proves by our reference all the same, and is called by its name.
func TestReceive_AMessageIDOfAnotherRow(t *testing.T) {
	bubble(t, reports, func(t *testing.T, r *rig) {
		r.scripts["a"].then(accepted("m1"))
		first := r.claim("e1")
		r.scripts["a"].then(lost)
		second := r.claim("e2")
		rc := receipt(second, 1, "delivered", ledger.Delivered)
		rc.MessageID = "m1"
		r.receive(rc)
		r.expect(second, ledger.StateSent, ledger.ReasonMessageIDShared)
		if rec := r.expect(first, ledger.StateSent, ""); rec.Delivery != ledger.NoDelivery || len(rec.Receipts) != 0 {
			t.Errorf("the other row took it: %+v", rec.Notification)
		}
		if st := r.stats(); st.Shared != 1 {
			t.Errorf("%d shared", st.Shared)
		}
	})
}

// A reference to what another provider was handed settles nothing.
func TestReceive_ReferencesOfOthers(t *testing.T) {
	bubble(t, func(r *rig) {
		reports(r)
		r.use(newScript("b"))
		r.sms(func(c *ledger.ChannelSettings) { c.Providers = []string{"b", "a"} })
	}, func(t *testing.T, r *rig) {
		r.scripts["b"].then(lost)
		n := r.claim("e1")
		stranger := receipt(n, 1, "delivered", ledger.Delivered)
		ahead := receipt(n, 2, "delivered", ledger.Delivered)
		if got := r.receive(stranger, ahead); got.Unmatched != 2 || got.Settled != 0 {
			t.Errorf("%+v", got)
		}
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
	})
}
