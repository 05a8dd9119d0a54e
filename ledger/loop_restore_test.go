package ledger_test

import (
	"os"
	"testing"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

// An old copy does not know what was done since: neither its claims nor its policies send by themselves.
func TestRestore_OldCopySendsNothingByItself(t *testing.T) {
	bubble(t, func(r *rig) {
		r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousSendAgain, time.Minute })
	}, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		unknown := r.claim("unknown")
		scheduled := r.claim("scheduled", sendIn(5*time.Minute))
		held := r.claim("held", sendIn(5*time.Minute))
		r.act(held, ledger.Act{Action: ledger.CauseHold})
		live, old := r.path, r.path+".old"
		copyLedger(t, live, old)

		a.then(accepted(""))
		r.advance(6 * time.Minute) // the policy sent the first again, the second was sent
		r.expect(unknown, ledger.StateSent, "")
		r.expect(scheduled, ledger.StateSent, "")
		r.stop()
		calls := len(a.sent())

		lock, err := os.ReadFile(live + ".lock") // nobody restores the lock file
		if err == nil {
			err = os.WriteFile(old+".lock", lock, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.path = old
		r.start()
		r.expect(unknown, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.expect(scheduled, ledger.StateAmbiguous, ledger.ReasonRestored)
		r.expect(held, ledger.StateAmbiguous, ledger.ReasonRestored)
		fresh := r.claim("fresh")
		r.advance(time.Hour)
		r.expect(fresh, ledger.StateClaimed, ledger.ReasonRestored)
		r.stop()

		if err := store.AcceptRestored(store.Options{Path: r.path, Log: quiet}); err != nil {
			t.Fatal(err)
		}
		r.start()
		r.advance(time.Hour)
		r.expect(fresh, ledger.StateSent, "")
		for _, n := range []ledger.Notification{unknown, scheduled, held} {
			if rec := r.row(n); rec.State != ledger.StateAmbiguous || rec.Shown() != ledger.Ask {
				t.Errorf("%s is %s and shows %s", n.EventID, rec.State, rec.Shown())
			}
		}
		if got := len(a.sent()) - calls; got != 1 {
			t.Errorf("%d messages left after the copy was accepted, want the one that was claimed since", got)
		}
	})
}
