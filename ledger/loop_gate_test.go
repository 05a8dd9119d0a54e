package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestLoop_SendsWhatIsClaimed(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(accepted("m1"))
		n := r.claim("e1")
		rec := r.expect(n, ledger.StateSent, "")
		if rec.MessageID != "m1" || rec.AttemptCount != 1 || len(r.scripts["a"].of(n)) != 1 {
			t.Errorf("row %+v", rec.Notification)
		}
	})
}

// An outage of three hours costs no row a step of its ladder, and nobody has to put anything back afterwards.
func TestLoop_OutageFailsNoRow(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(unreachable)
		var rows []ledger.Notification
		for i := range 20 {
			rows = append(rows, r.claim(fmt.Sprint("e", i)))
		}
		r.advance(3 * time.Hour)
		for _, n := range rows {
			if rec := r.row(n); rec.State != ledger.StateClaimed || rec.Deferrals != 0 {
				t.Fatalf("%s is %s after %d steps", n.EventID, rec.State, rec.Deferrals)
			}
		}
		probes := len(a.sent())
		if probes > 60 {
			t.Errorf("%d requests in three hours at a closed gate", probes)
		}
		if err := r.ledger.Ready(); err != nil {
			t.Errorf("Ready: %v: a claim can be made durable all the same", err)
		}
		a.then(accepted(""))
		r.advance(5 * time.Minute)
		for _, n := range rows {
			r.expect(n, ledger.StateSent, "")
		}
		if got := len(a.sent()) - probes; got != len(rows) {
			t.Errorf("%d requests for %d rows after the outage", got, len(rows))
		}
	})
}

func TestLoop_ProbeIsASingleRowAndDoubles(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(unreachable)
		for i := range 10 {
			r.claim(fmt.Sprint("e", i))
		}
		r.advance(30 * time.Minute)
		calls := a.sent()
		for i, want := range []int{5, 10, 20, 40, 80, 160, 300, 300} {
			if i+1 >= len(calls) {
				t.Fatalf("only %d requests", len(calls))
			}
			gap := calls[i+1].at.Sub(calls[i].at)
			if d := gap - time.Duration(want)*time.Second; d < 0 || d > 100*time.Millisecond {
				t.Errorf("probe %d after %v, want %d s", i+1, gap, want)
			}
		}
		if a.most > 1 {
			t.Errorf("%d rows at the same time at a closed gate", a.most)
		}
	})
}

func TestLoop_CredentialsPauseWithReason(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(credentials)
		n := r.claim("e1")
		r.expect(n, ledger.StateClaimed, ledger.ReasonProviderPaused)
		g := r.gate("a")
		if g.State != "paused" || g.Reason != "credentials" || g.By != "sendonce" || g.Until.IsZero() {
			t.Errorf("gate %+v", g)
		}
		if err := r.ledger.Ready(); err != nil {
			t.Errorf("Ready: %v", err)
		}
		a.then(accepted(""))
		r.advance(6 * time.Second)
		r.expect(n, ledger.StateSent, "")
		if g := r.gate("a"); g.State != "open" {
			t.Errorf("gate %+v after an answered probe", g)
		}
	})
}

func TestLoop_RetryAfterOfThrottlingIsClamped(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, time.Millisecond: time.Second, 90 * time.Second: 90 * time.Second, 100 * time.Hour: time.Hour,
	} {
		t.Run(after.String(), func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				a := r.scripts["a"]
				a.then(throttled(after))
				n := r.claim("e1")
				a.then(accepted(""))
				r.advance(want - 50*time.Millisecond)
				r.expect(n, ledger.StateClaimed, ledger.ReasonProviderPaused)
				r.advance(100 * time.Millisecond)
				r.expect(n, ledger.StateSent, "")
			})
		})
	}
}

func TestLoop_OneRejectedMessagePausesNobody(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(rejected)
		bad := r.claim("bad")
		r.scripts["a"].then(accepted(""))
		good := r.claim("good")
		r.expect(bad, ledger.StateFailed, ledger.ReasonRejected)
		r.expect(good, ledger.StateSent, "")
		r.advance(24 * time.Hour)
		if got := len(r.scripts["a"].of(bad)); got != 1 {
			t.Errorf("%d attempts for a rejected message", got)
		}
	})
}

// A row that may not leave through another provider does not hide the closed gate's probe.
func TestLoop_PinnedRowsAloneProbeInTime(t *testing.T) {
	bubble(t, twoProviders, func(t *testing.T, r *rig) {
		r.scripts["a"].then(unreachable)
		n := r.claim("e1", func(e *ledger.Event) { e.Provider = "a" })
		r.scripts["a"].then(accepted(""))
		r.advance(5100 * time.Millisecond)
		r.expect(n, ledger.StateSent, "")
	})
}

func twoProviders(r *rig) {
	r.use(newScript("b"))
	r.sms(func(c *ledger.ChannelSettings) { c.Providers = []string{"a", "b"} })
}
