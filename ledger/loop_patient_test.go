package ledger_test

import (
	"testing"
	"time"

	"sendonce/ledger"
)

// patient is a script that is waited for longer than the time-out.
type patient struct{ *script }

func (patient) Patience() time.Duration { return 10 * time.Minute }

func patiently(r *rig) {
	r.scripts["a"].disguise = func(s *script) ledger.Provider { return patient{s} }
}

// F01: the reply of a mail server may take ten minutes, and who gives up earlier does not know what became of the mail.
func TestPatience_OutlastsTheTimeOut(t *testing.T) {
	for name, c := range map[string]struct {
		answers time.Duration
		state   ledger.State
		reason  ledger.Reason
	}{
		"late":     {10 * time.Minute, ledger.StateSent, ""},
		"too late": {10*time.Minute + 16*time.Second, ledger.StateAmbiguous, ledger.ReasonNoAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, patiently, func(t *testing.T, r *rig) {
				r.scripts["a"].thenDo(after(c.answers, accepted("m1")))
				n := r.claim("e1")
				r.advance(9 * time.Minute)
				r.expect(n, ledger.StateSending, "")
				r.advance(2 * time.Minute)
				r.expect(n, c.state, c.reason)
				if calls := len(r.scripts["a"].sent()); calls != 1 {
					t.Errorf("%d handings", calls)
				}
			})
		})
	}
}

// F25: a stop does not wait ten minutes: the drain is the longest, and what it cuts is unknown.
func TestPatience_EndsWithTheDrain(t *testing.T) {
	bubble(t, patiently, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(5*time.Minute, accepted("m1")))
		n := r.claim("e1")
		began := time.Now()
		r.stop()
		if took := time.Since(began); took < 30*time.Second || took > 32*time.Second {
			t.Errorf("the stop took %v with a drain of 30 s", took)
		}
		r.open()
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
	})
}
