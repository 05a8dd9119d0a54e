package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

// looking runs a body with one ambiguous row of provider a, which is asked by ups.
func looking(t *testing.T, ups ledger.LookUps, set func(*rig), body func(*testing.T, *rig, *finder, ledger.Notification)) {
	t.Helper()
	var f *finder
	bubble(t, func(r *rig) {
		f = finding(r, ups)
		if set != nil {
			set(r)
		}
	}, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		if rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer); rec.Shown() != ledger.DoLookUp {
			t.Fatalf("shows %s", rec.Shown())
		}
		body(t, r, f, n)
	})
}

func TestLook_FoundByReferenceIsProof(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		r.advance(119 * time.Second)
		if got := len(f.looks()); got != 0 {
			t.Fatalf("%d looks before their time", got)
		}
		found := message("m1", 1, time.Time{})
		found.Delivery = ledger.Delivered
		f.finds(found)
		r.advance(2 * time.Second)
		rec := r.expect(n, ledger.StateSent, ledger.ReasonProof)
		if rec.MessageID != "m1" || rec.Delivery != ledger.Delivered || rec.MaybeSent || len(rec.Receipts) != 1 || rec.Receipts[0].Kind != "look_up" {
			t.Errorf("row %+v, receipts %+v", rec.Notification, rec.Receipts)
		}
		e := evidenceOf(t, rec)
		if len(e) != 1 || e[0].Verdict != "found" || e[0].By != "reference" || e[0].Attempt != 1 || len(e[0].MessageIDs) != 1 {
			t.Errorf("evidence %+v", e)
		}
		if got := len(r.scripts["a"].of(n)); got != 1 {
			t.Errorf("%d requests", got)
		}
		s := f.looks()[0].searches[0]
		if s.ID != n.ID.String() || s.Recipient != n.RecipientKey || s.From.After(n.ClaimedAt.Add(-59*time.Second)) || s.Until.Before(n.ClaimedAt.Add(4*time.Minute)) {
			t.Errorf("searched for %+v", s)
		}
	})
}

// The number of looks is bounded by the schedule, and each of them is kept. Then a person is asked.
func TestLook_NotFoundProvesNothing(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		r.advance(71 * time.Hour)
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if len(f.looks()) != 3 || rec.Shown() != ledger.Ask || rec.AttemptCount != 1 {
			t.Fatalf("%d looks, shows %s, %d attempts", len(f.looks()), rec.Shown(), rec.AttemptCount)
		}
		for i, e := range evidenceOf(t, rec) {
			at := rec.Attempts[0].EndedAt.Add(byReference.At[i])
			if got := rec.Settlements[i].At; e.Verdict != "not_found" || got.Before(at) || got.After(at.Add(time.Second)) {
				t.Errorf("look %d: %+v at %v, want %v", i+1, e, got, at)
			}
		}
		if want := int64(len(rec.Settlements)) + 3; rec.Version != want {
			t.Errorf("version %d, want %d: it moves with settlements", rec.Version, want)
		}
	})
}

func TestLook_ComesAgainAfterARestart(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		r.advance(3 * time.Minute)
		r.stop()
		r.advance(time.Hour)
		r.start()
		r.advance(time.Minute)
		if got := len(f.looks()); got != 3 {
			t.Errorf("%d looks, want 3: the one before the stop and the two that are due", got)
		}
		if rec := r.row(n); rec.Shown() != ledger.Ask {
			t.Errorf("shows %s", rec.Shown())
		}
	})
}

func TestLook_AFailureProvesNothingAndComesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		least int
	}{
		"too many": {&ledger.LookUpError{Fault: ledger.FaultThrottled, Status: 429, RetryAfter: 20 * time.Minute}, 3},
		"5xx":      {&ledger.LookUpError{Fault: ledger.FaultUnexpectedReply, Status: 503}, 5}, "network": {&ledger.LookUpError{Fault: ledger.FaultUnreachable}, 5},
		"credentials": {&ledger.LookUpError{Fault: ledger.FaultCredentials, Status: 401}, 5}, "another": {errors.New("broken"), 5},
	} {
		t.Run(name, func(t *testing.T) {
			looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
				f.fails(c.err)
				r.advance(6 * time.Hour)
				rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
				if len(rec.Settlements) != 0 || rec.Shown() != ledger.DoLookUp {
					t.Errorf("%d settlements, shows %s", len(rec.Settlements), rec.Shown())
				}
				looks := f.looks()
				if len(looks) < c.least || len(looks) > 12 {
					t.Errorf("%d looks in 6 hours", len(looks))
				}
				for i := 1; i < len(looks); i++ {
					if gap := looks[i].at.Sub(looks[i-1].at); gap < time.Minute || gap > 70*time.Minute {
						t.Errorf("look %d came %v after the one before", i+1, gap)
					}
				}
				if g := r.gate("a"); g.State != "open" {
					t.Errorf("a look-up closed the gate: %+v", g)
				}
				f.finds(message("m1", 1, time.Time{}))
				r.advance(70 * time.Minute)
				r.expect(n, ledger.StateSent, ledger.ReasonProof)
			})
		})
	}
}

// A look that fails for ever is given up: the row waits for a person.
func TestLook_FailuresAreGivenUp(t *testing.T) {
	looking(t, byReference, func(r *rig) {
		r.sms(func(c *ledger.ChannelSettings) { c.ExpiresAfter = 1000 * time.Hour })
	}, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		f.fails(errors.New("broken"))
		r.advance(80 * time.Hour)
		made := len(f.looks())
		r.advance(10 * time.Hour)
		if rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer); rec.Shown() != ledger.Ask || len(f.looks()) != made {
			t.Errorf("shows %s, %d looks, then %d", rec.Shown(), made, len(f.looks()))
		}
	})
}

func TestLook_APanicIsAFailure(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		f.does(func(context.Context, []ledger.Search) ([][]ledger.Found, error) { panic("x") })
		r.advance(3 * time.Minute)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		f.does(func(context.Context, []ledger.Search) ([][]ledger.Found, error) { return nil, nil }) // no answer to the search
		r.advance(10 * time.Minute)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		f.finds(message("m1", 1, time.Time{}))
		r.advance(2 * time.Hour)
		r.expect(n, ledger.StateSent, ledger.ReasonProof)
	})
}

func TestLook_NotWhileAPersonHasPausedTheProvider(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		if _, err := r.ledger.Pause(context.Background(), "a", "ops", "test"); err != nil {
			t.Fatal(err)
		}
		r.advance(2 * time.Hour)
		if got := len(f.looks()); got != 0 {
			t.Errorf("%d looks at a provider that is not to be used", got)
		}
		if _, err := r.ledger.Resume(context.Background(), "a", "ops"); err != nil {
			t.Fatal(err)
		}
		f.finds(message("m1", 1, time.Time{}))
		r.advance(15 * time.Minute)
		r.expect(n, ledger.StateSent, ledger.ReasonProof)
	})
}

// After an outage the provider is not asked once for each row, nor by many at once.
func TestLook_ManyRowsAreAskedForTogether(t *testing.T) {
	var f *finder
	bubble(t, func(r *rig) {
		f = finding(r, byReference)
		f.wide = true
	}, func(t *testing.T, r *rig) {
		var rows []ledger.Notification
		for i := range 300 {
			rows = append(rows, r.claim(fmt.Sprint("e", i)))
		}
		f.does(func(_ context.Context, searches []ledger.Search) ([][]ledger.Found, error) {
			out := make([][]ledger.Found, len(searches))
			for i, s := range searches {
				out[i] = []ledger.Found{message("m-"+s.ID, 1, time.Time{})}
			}
			return out, nil
		})
		r.advance(15 * time.Minute)
		for _, n := range rows {
			r.expect(n, ledger.StateSent, ledger.ReasonProof)
		}
		if got := len(f.looks()); got > 20 {
			t.Errorf("%d calls for 300 rows", got)
		}
	})
}
