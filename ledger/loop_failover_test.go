package ledger_test

import (
	"context"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestLoop_FaultFailsOverAtOnce(t *testing.T) {
	bubble(t, twoProviders, func(t *testing.T, r *rig) {
		r.scripts["a"].then(unreachable)
		n := r.claim("e1")
		rec := r.expect(n, ledger.StateSent, "")
		if rec.Provider != "b" || rec.AttemptCount != 2 || rec.Deferrals != 0 {
			t.Errorf("provider %s after %d attempts and %d steps", rec.Provider, rec.AttemptCount, rec.Deferrals)
		}
		later := r.claim("e2") // the gate of a is closed: b takes it without asking a
		if rec := r.expect(later, ledger.StateSent, ""); rec.Provider != "b" || rec.AttemptCount != 1 {
			t.Errorf("provider %s after %d attempts", rec.Provider, rec.AttemptCount)
		}
	})
}

func TestLoop_OwnDeferralFailsOverAtOnceAndThenWaits(t *testing.T) {
	bubble(t, func(r *rig) {
		twoProviders(r)
		r.random = func() float64 { return 0.5 }
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(deferred)
		r.scripts["b"].then(deferred)
		n := r.claim("e1")
		rec := r.expect(n, ledger.StateClaimed, ledger.ReasonRetry)
		if rec.AttemptCount != 2 || rec.Deferrals != 1 || rec.Provider != "a" {
			t.Fatalf("%d attempts, %d steps, next %s: want both tried, one step, the first again", rec.AttemptCount, rec.Deferrals, rec.Provider)
		}
		if wait := rec.DueAt.Sub(n.ClaimedAt); wait != 30*time.Second {
			t.Errorf("waits %v", wait)
		}
		r.scripts["a"].then(accepted(""))
		r.advance(31 * time.Second)
		if rec := r.expect(n, ledger.StateSent, ""); rec.Provider != "a" {
			t.Errorf("after the wait %s took it, not the channel's first", rec.Provider)
		}
	})
}

func TestLoop_NothingFailsOverAfterALostAnswer(t *testing.T) {
	bubble(t, twoProviders, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.advance(71 * time.Hour)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if got := len(r.scripts["b"].sent()); got != 0 {
			t.Errorf("%d requests at the second provider", got)
		}
	})
}

// A row that policy released may have gone out: another provider would not know about it.
func TestLoop_MaybeSentStaysWithItsProvider(t *testing.T) {
	bubble(t, func(r *rig) {
		twoProviders(r)
		r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousSendAgain, time.Minute })
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.scripts["a"].then(unreachable)
		r.advance(2 * time.Minute)
		if rec := r.expect(n, ledger.StateClaimed, ledger.ReasonProviderPaused); !rec.MaybeSent {
			t.Error("maybe_sent was lost")
		}
		r.advance(time.Hour)
		if got := len(r.scripts["b"].sent()); got != 0 {
			t.Errorf("%d requests at the second provider", got)
		}
	})
}

func TestLoop_PinnedRowsWaitWhileOthersMove(t *testing.T) {
	bubble(t, twoProviders, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(unreachable)
		r.claim("first") // closes the gate
		pin := func(e *ledger.Event) { e.Provider = "a" }
		batch, err := r.ledger.ClaimBatch(context.Background(), []ledger.Event{event("pinned1", pin), event("free1"), event("pinned2", pin), event("free2")})
		if err != nil {
			t.Fatal(err)
		}
		r.advance(time.Millisecond)
		for i, c := range batch {
			want := []ledger.State{ledger.StateClaimed, ledger.StateSent}[i%2]
			if rec := r.row(c.Notification); rec.State != want {
				t.Errorf("%s is %s, want %s", rec.EventID, rec.State, want)
			}
		}
		a.then(accepted(""))
		r.advance(10 * time.Second)
		for _, c := range batch {
			if rec := r.row(c.Notification); rec.State != ledger.StateSent || (rec.Provider == "a") != rec.Pinned {
				t.Errorf("%s is %s by %s", rec.EventID, rec.State, rec.Provider)
			}
		}
	})
}

func TestLoop_PersonsPauseSendsThroughTheNext(t *testing.T) {
	bubble(t, twoProviders, func(t *testing.T, r *rig) {
		if _, err := r.ledger.Pause(context.Background(), "a", "ops", "contract ended"); err != nil {
			t.Fatal(err)
		}
		free := r.claim("free")
		pinned := r.claim("pinned", func(e *ledger.Event) { e.Provider = "a" })
		if rec := r.expect(free, ledger.StateSent, ""); rec.Provider != "b" {
			t.Errorf("sent by %s", rec.Provider)
		}
		r.advance(24 * time.Hour)
		r.expect(pinned, ledger.StateClaimed, "")
		if got := len(r.scripts["a"].sent()); got != 0 {
			t.Errorf("%d requests at a provider that a person paused", got)
		}
	})
}

func TestLoop_PersonsPauseSurvivesARestart(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		if _, err := r.ledger.Pause(context.Background(), "a", "ops", "contract ended"); err != nil {
			t.Fatal(err)
		}
		n := r.claim("e1")
		r.stop()
		r.start()
		r.advance(time.Hour)
		r.expect(n, ledger.StateClaimed, "")
		if g := r.gate("a"); g.State != "paused" || g.Reason != "contract ended" || g.By != "ops" {
			t.Errorf("gate %+v", g)
		}
		if _, err := r.ledger.Resume(context.Background(), "a", "ops"); err != nil {
			t.Fatal(err)
		}
		r.advance(time.Millisecond)
		r.expect(n, ledger.StateSent, "")
		r.stop()
		r.start()
		if g := r.gate("a"); g.State != "open" {
			t.Errorf("gate %+v after resume and restart", g)
		}
	})
}

// picky is a script that can send no message with a template, and counts the parts of a text.
type picky struct{ *script }

func (p picky) Check(e ledger.Event) error {
	if m, err := ledger.ParseMessage(e.Channel, e.Message); err != nil || m.Template != nil {
		return ledger.Invalid("message.template", "is none of this provider's")
	}
	return nil
}

func (p picky) Build(o ledger.Order) (ledger.Request, error) {
	if err := p.Check(ledger.Event{Channel: o.Channel, Message: o.Message}); err != nil {
		return nil, err
	}
	return p.script.Build(o)
}

func (p picky) Segments(message []byte) ledger.Segments {
	return ledger.Segments{Encoding: "GSM-7", Count: len(message)}
}

// A message that the next provider of the channel cannot build waits for the first instead of ending as unbuildable there.
func TestLoop_NoFailOverToWhoCannotSendIt(t *testing.T) {
	bubble(t, func(r *rig) {
		twoProviders(r)
		r.scripts["b"].disguise = func(s *script) ledger.Provider { return picky{s} }
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(unreachable)
		template := r.claim("e1", func(e *ledger.Event) { e.Message = []byte(`{"template":{"id":"t","variables":{}}}`) })
		text := r.claim("e2")
		r.expect(template, ledger.StateClaimed, ledger.ReasonProviderPaused)
		if rec := r.expect(text, ledger.StateSent, ""); rec.Provider != "b" {
			t.Errorf("a text went through %s", rec.Provider)
		}
		r.scripts["a"].then(accepted(""))
		r.advance(time.Minute)
		if rec := r.expect(template, ledger.StateSent, ""); rec.Provider != "a" || len(r.scripts["b"].of(template)) != 0 {
			t.Errorf("the template went through %s", rec.Provider)
		}
	})
}

// The answer to a claim says in how many parts its text goes out, also when the event was known.
func TestClaim_SegmentsOfItsProvider(t *testing.T) {
	bubble(t, func(r *rig) {
		twoProviders(r)
		r.scripts["a"].disguise = func(s *script) ledger.Provider { return picky{s} }
	}, func(t *testing.T, r *rig) {
		for _, known := range []bool{false, true} {
			res, err := r.ledger.Claim(context.Background(), event("e1"))
			want := ledger.Segments{Encoding: "GSM-7", Count: len(event("e1").Message)}
			if err != nil || res.Duplicate != known || res.Segments != want {
				t.Errorf("known %v: %+v, %v, want %+v", known, res.Segments, err, want)
			}
		}
		res, err := r.ledger.Claim(context.Background(), event("e2", func(e *ledger.Event) { e.Provider = "b" }))
		if err != nil || res.Segments != (ledger.Segments{}) {
			t.Errorf("a provider that counts nothing: %+v, %v", res.Segments, err)
		}
	})
}
