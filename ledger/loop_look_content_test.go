package ledger_test

import (
	"context"
	"testing"
	"time"

	"sendonce/ledger"
)

// copyOf claims an event of its own with the very content of e1.
func copyOf(e *ledger.Event) { e.Message = []byte(`{"text": "e1!"}`) }

// verdict is what the last look said.
func verdict(t *testing.T, rec ledger.Record) evidence {
	t.Helper()
	list := evidenceOf(t, rec)
	if len(list) == 0 {
		t.Fatal("no look was kept")
	}
	return list[len(list)-1]
}

func TestLookByContent_TheOnlyOneIsProof(t *testing.T) {
	looking(t, byContent(), nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		outside := message("old", 0, time.Now().Add(-2*time.Minute)) // made before the attempt
		f.finds(outside, message("m1", 0, time.Now().Add(2*time.Second)))
		r.advance(3 * time.Minute)
		rec := r.expect(n, ledger.StateSent, ledger.ReasonProof)
		if e := verdict(t, rec); rec.MessageID != "m1" || e.Verdict != "found" || e.By != "content" || e.Attempt != 1 {
			t.Errorf("message id %s, evidence %+v", rec.MessageID, e)
		}
	})
}

// What a look by content finds is no proof where anything else may have made it: a person has to say, and no policy sends again.
func TestLookByContent_ProbablyIsForAPerson(t *testing.T) {
	now := time.Now // of the bubble
	for why, prepare := range map[string]func(t *testing.T, r *rig, f *finder){
		"several": func(_ *testing.T, _ *rig, f *finder) {
			f.finds(message("m1", 0, now()), message("m2", 0, now()))
		},
		"list_cut": func(_ *testing.T, _ *rig, f *finder) {
			f.cut = true
			f.finds(message("m1", 0, now()))
		},
		"id_of_another_row": func(t *testing.T, r *rig, f *finder) {
			r.scripts["a"].then(accepted("m1"))
			r.claim("other", func(e *ledger.Event) { e.Recipient = "+15550100002" })
			f.finds(message("m1", 0, now()))
		},
		"another_row_alike": func(t *testing.T, r *rig, f *finder) { // one sent and one unknown
			r.scripts["a"].then(accepted("m2"))
			r.claim("reminder", copyOf)
			f.finds(message("m1", 0, now()))
		},
		"another_row_alike, unknown too": func(t *testing.T, r *rig, f *finder) {
			r.claim("reminder", copyOf)
			f.finds(message("m1", 0, now()))
		},
		"another_row_alike, in flight": func(t *testing.T, r *rig, f *finder) {
			r.scripts["a"].timeout = 10 * time.Minute
			r.scripts["a"].thenDo(func(ctx context.Context, c *call) ledger.Result {
				time.Sleep(9 * time.Minute)
				return lost
			})
			r.claim("reminder", copyOf)
			f.finds(message("m1", 0, now()))
		},
	} {
		t.Run(why, func(t *testing.T) {
			looking(t, byContent(), func(r *rig) {
				r.scripts["a"].timeout = 10 * time.Minute
				r.sms(func(c *ledger.ChannelSettings) {
					c.OnAmbiguous, c.After, c.ExpiresAfter = ledger.OnAmbiguousSendAgain, time.Hour, 3*time.Hour
				})
			}, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
				prepare(t, r, f)
				r.advance(2*time.Minute + time.Second)
				rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
				if e := verdict(t, rec); e.Verdict != "probably" || why[:len(e.Why)] != e.Why {
					t.Fatalf("evidence %+v, want %s", e, why)
				}
				r.advance(2 * time.Hour)
				rec = r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
				if rec.AttemptCount != 1 || rec.Shown() != ledger.Ask || len(evidenceOf(t, rec)) != 1 {
					t.Errorf("%d attempts, shows %s, %d looks", rec.AttemptCount, rec.Shown(), len(evidenceOf(t, rec)))
				}
			})
		})
	}
}

// Rows that cannot have made it do not matter: other words, another time, another person, or surely not sent.
func TestLookByContent_RowsThatDoNotMatter(t *testing.T) {
	var f *finder
	bubble(t, func(r *rig) { f = finding(r, byContent()) }, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(accepted("m0"))
		r.claim("earlier", copyOf)
		r.advance(20 * time.Minute)
		r.claim("other words")
		r.claim("another person", copyOf, func(e *ledger.Event) { e.Recipient = "+15550100002" })
		a.then(rejected)
		r.claim("not sent", copyOf)
		a.then(lost)
		n := r.claim("e1")
		f.finds(message("m1", 0, time.Now()))
		r.advance(3 * time.Minute)
		r.expect(n, ledger.StateSent, ledger.ReasonProof)
	})
}

// What is found may be of either handing: that is said by no time.
func TestLookByContent_TwoHandingsAreNotToldApart(t *testing.T) {
	looking(t, byContent(), nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		row := r.row(n)
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: row.Version}); err != nil {
			t.Fatal(err)
		}
		row = r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		f.finds(message("m1", 0, time.Now()))
		r.advance(3 * time.Minute)
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if e := verdict(t, rec); row.AttemptCount != 2 || e.Why != "several_attempts" {
			t.Errorf("%d attempts, evidence %+v", row.AttemptCount, e)
		}
	})
}

// Another account has other messages.
func TestLookByContent_NotAtAnotherAccount(t *testing.T) {
	looking(t, byContent(), nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		r.stop()
		r.scripts["a"].account = "moved to another contract"
		r.start()
		r.advance(time.Hour)
		if rec := r.row(n); len(f.looks()) != 0 || rec.Shown() != ledger.Ask {
			t.Errorf("%d looks, shows %s", len(f.looks()), rec.Shown())
		}
	})
}
