package ledger_test

import (
	"bytes"
	"testing"
	"time"

	"sendonce/ledger"
)

// keyed gives provider a a wire key that it honours for an hour.
func keyed(r *rig) {
	r.scripts["a"].window = time.Hour
	r.random = func() float64 { return 0.5 }
}

func TestRepeat_AsksUnderTheSameKeyWithTheSameBytes(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		n := r.claim("e1")
		if rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer); rec.Shown() != ledger.DoRepeat {
			t.Fatalf("shows %s", rec.Shown())
		}
		r.advance(6 * time.Second)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonRepeatAmbiguous)
		a.then(accepted("m1"))
		r.advance(31 * time.Second)
		rec := r.expect(n, ledger.StateSent, "")
		if rec.MaybeSent || rec.MessageID != "m1" || len(rec.Attempts) != 3 {
			t.Errorf("row %+v", rec.Notification)
		}
		calls := a.of(n)
		for i, c := range calls {
			kind := ledger.KindRepeat
			if i == 0 {
				kind = ledger.KindSend
			}
			if c.Kind != kind || c.WireKey != calls[0].WireKey || !bytes.Equal(c.body, calls[0].body) || c.Reference() != calls[0].Reference() {
				t.Errorf("call %d: kind %s, key %s, reference %s, body %s", i+1, c.Kind, c.WireKey, c.Reference(), c.body)
			}
			if a := rec.Attempts[i]; a.Number != i+1 || a.Kind != kind || a.RequestHash != rec.Attempts[0].RequestHash {
				t.Errorf("attempt %+v", a)
			}
		}
	})
}

func TestRepeat_OnlyAcceptedCounts(t *testing.T) {
	for name, c := range map[string]struct {
		result ledger.Result
		reason ledger.Reason
	}{
		"rejected": {rejected, ledger.ReasonRepeatRejected}, "deferred": {deferred, ledger.ReasonRepeatDeferred},
		"throttled": {throttled(time.Minute), ledger.ReasonRepeatDeferred}, "unreachable": {unreachable, ledger.ReasonRepeatDeferred},
		"lost": {lost, ledger.ReasonRepeatAmbiguous}, "another body": {ledger.Result{Phase: ledger.Answered, Status: 409}, ledger.ReasonRepeatAmbiguous},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				keyed(r)
				twoProviders(r)
			}, func(t *testing.T, r *rig) {
				r.scripts["a"].then(lost)
				n := r.claim("e1")
				r.scripts["a"].then(c.result)
				r.advance(6 * time.Second)
				if rec := r.expect(n, ledger.StateAmbiguous, c.reason); !rec.MaybeSent {
					t.Error("maybe_sent was cleared")
				}
				r.advance(5 * time.Hour)
				r.expect(n, ledger.StateAmbiguous, c.reason)
				if got := len(r.scripts["b"].sent()); got != 0 {
					t.Errorf("%d requests at another provider", got)
				}
				for _, call := range r.scripts["a"].of(n)[1:] {
					if call.Kind != ledger.KindRepeat {
						t.Error("a blind send")
					}
				}
			})
		})
	}
}

func TestRepeat_EndsWithTheWindow(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		n := r.claim("e1")
		r.advance(6 * time.Hour)
		calls := a.of(n)
		if len(calls) < 4 {
			t.Fatalf("%d attempts", len(calls))
		}
		if age := calls[len(calls)-1].at.Sub(calls[0].at); age >= 54*time.Minute {
			t.Errorf("the last repeat came at an age of %v, with a window of an hour", age)
		}
		if rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonRepeatAmbiguous); rec.Shown() != ledger.Ask {
			t.Errorf("shows %s", rec.Shown())
		}
	})
}

// The window is measured when the repeat is made, not when it was planned.
func TestRepeat_NotAfterAStopOverTheWindow(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.stop()
		r.advance(55 * time.Minute)
		r.start()
		r.advance(time.Hour)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if got := len(r.scripts["a"].of(n)); got != 1 {
			t.Errorf("%d attempts", got)
		}
	})
}

// What comes instead of a repeat that is refused comes in time: the housekeeper has counted on the repeat.
func TestRepeat_RefusedLeavesThePolicyItsTime(t *testing.T) {
	bubble(t, func(r *rig) {
		keyed(r)
		r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousAbandon, 56*time.Minute })
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.stop()
		r.advance(55*time.Minute + 50*time.Second)
		r.start() // the repeat is due, and the window is over
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.advance(11 * time.Second)
		r.expect(n, ledger.StateFailed, ledger.ReasonAbandoned)
	})
}

func TestRepeat_NotToAnotherAccount(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.stop()
		r.scripts["a"].account = "moved to another contract"
		r.start()
		r.advance(time.Hour)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if got := len(r.scripts["a"].of(n)); got != 1 {
			t.Errorf("%d attempts", got)
		}
	})
}

func TestRepeat_NotWhileTheClockIsBehind(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.ledger.ShiftWall(-30 * time.Minute)
		r.advance(20 * time.Minute)
		if got := len(r.scripts["a"].of(n)); got != 1 {
			t.Errorf("%d attempts while nobody knows the time", got)
		}
		r.scripts["a"].then(accepted(""))
		r.ledger.ShiftWall(0)
		r.advance(2 * time.Minute)
		r.expect(n, ledger.StateSent, "")
	})
}

// A first attempt that was surely refused already used the key: the next one under it has to be the same request.
func TestRepeat_RetriesKeepTheBytesToo(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(deferred)
		n := r.claim("e1")
		a.then(accepted(""))
		r.advance(time.Minute)
		r.expect(n, ledger.StateSent, "")
		calls := a.of(n)
		if len(calls) != 2 || calls[1].Kind != ledger.KindSend || !bytes.Equal(calls[0].body, calls[1].body) {
			t.Errorf("%d calls: %s, %s", len(calls), calls[0].body, calls[1].body)
		}
	})
}
