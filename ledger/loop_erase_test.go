package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

const aDay = 24 * time.Hour

// forADay keeps rows whole for a day after they ended, and receipts without a row for two.
func forADay(r *rig) { r.settings.Retention = ledger.Retention{After: aDay, Unmatched: 2 * aDay} }

// erased waits until a row is erased and returns what is left.
func (r *rig) erased(n ledger.Notification) ledger.Notification {
	r.t.Helper()
	r.claim("the newest after " + n.ID.String()) // the newest row stays
	r.advance(aDay + 2*time.Hour)
	rec := r.row(n)
	if !rec.Erased() || !rec.ContentGone() || rec.EventID+rec.Recipient+rec.RecipientKey+rec.UserID+rec.MessageID != "" || len(rec.Attempts)+len(rec.Settlements)+len(rec.Receipts) > 0 {
		r.t.Fatalf("not erased: %+v", rec)
	}
	return rec.Notification
}

// F28, F39: rows that ended are erased after their time, and others never.
func TestRetention_ErasesWhatEndedLongAgo(t *testing.T) {
	bubble(t, forADay, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		unknown := r.claim("unknown")
		late := r.claim("late")
		r.scripts["a"].then(accepted(""))
		sent := r.claim("sent")
		r.advance(aDay - time.Hour)
		young := r.claim("young")
		if _, err := r.act(late, ledger.Act{Action: ledger.CauseConfirm}); err != nil {
			t.Fatal(err)
		}
		if r.row(sent).ErasedAt != (time.Time{}) {
			t.Fatal("erased before its time")
		}
		r.advance(3 * time.Hour)
		if n := r.row(sent); n.ErasedAt.IsZero() || n.State != ledger.StateSent || !n.ConfirmedAt.Equal(n.UpdatedAt) {
			t.Errorf("%+v", n)
		}
		for _, n := range []ledger.Notification{unknown, late, young} {
			if r.row(n).ErasedAt != (time.Time{}) {
				t.Errorf("%s is erased", n.EventID)
			}
		}
		r.claim("newest")
		r.advance(aDay)
		for n, want := range map[*ledger.Notification]bool{&unknown: false, &late: true, &young: true} {
			if got := r.row(*n); got.Erased() != want {
				t.Errorf("%s: erased is %v", n.EventID, !want)
			}
		}
		r.expect(unknown, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
	})
}

// Where the ledger was looked at to its end, what is claimed later is erased when its time comes, not with the next look at all.
func TestRetention_GoesOnBehindTheEnd(t *testing.T) {
	const soon = time.Second
	bubble(t, func(r *rig) { r.settings.Retention = ledger.Retention{After: soon} }, func(t *testing.T, r *rig) {
		for i := range 3 {
			n := r.claim(fmt.Sprint("e", i))
			r.claim(fmt.Sprint("newest", i)) // it stays
			r.advance(3 * soon)
			if left := r.row(n); !left.Erased() {
				t.Fatalf("%s is whole, long after its time", n.EventID)
			}
		}
	})
}

// A repeat of an erased event finds its key, whatever it says, and sends nothing. Memory does not bring back what was erased.
func TestRetention_ARepeatOfAnErasedEventIsKnown(t *testing.T) {
	bubble(t, forADay, func(t *testing.T, r *rig) {
		words := ledger.EventHash{1}
		n := r.claim("e1")
		r.claim("e1", func(e *ledger.Event) { e.Hash = words })
		if got, ok := r.ledger.Known(words, "test"); !ok || string(got.Notification.Message) != `{"text":"e1"}` {
			t.Fatal("the words are not known while the row is whole")
		}
		left := r.erased(n)
		before := len(r.scripts["a"].sent())
		if got, ok := r.ledger.Known(words, "test"); ok {
			t.Errorf("memory brings it back: %+v", got)
		}
		for i, change := range []func(*ledger.Event){
			func(e *ledger.Event) { e.Hash = words },
			func(e *ledger.Event) { e.Message = []byte(`{"text":"other"}`) },
			func(e *ledger.Event) { e.EventType, e.UserID = "other", "u_9" },
			func(e *ledger.Event) { e.Hash = words },
		} {
			res, err := r.ledger.Claim(context.Background(), event("e1", change))
			got := res.Notification
			if err != nil || !res.Duplicate || res.Differs != nil || got.ID != left.ID || !got.Erased() || got.Message != nil || got.EventID != "" {
				t.Fatalf("repeat %d: %+v, %v", i, res, err)
			}
		}
		list, err := r.ledger.ClaimBatch(context.Background(), []ledger.Event{event("e1"), event("e2")})
		if err != nil || !list[0].Duplicate || list[0].Err != nil || list[1].Duplicate {
			t.Fatalf("in a batch: %+v, %v", list, err)
		}
		r.advance(time.Second)
		if got := len(r.scripts["a"].sent()); got != before+1 {
			t.Errorf("%d messages for one new event", got-before)
		}
		if got := r.row(n); got.Duplicates != left.Duplicates+5 || got.State != ledger.StateSent {
			t.Errorf("%d repeats, %s", got.Duplicates, got.State)
		}
		r.stop()
		r.start()
		if res, err := r.ledger.Claim(context.Background(), event("e1")); err != nil || !res.Duplicate || res.Notification.ID != left.ID {
			t.Errorf("after a restart: %+v, %v", res, err)
		}
	})
}

// Nothing can be decided about an erased row, and a report that comes late finds nothing that it could be about.
func TestRetention_AnErasedRowStaysAsItIs(t *testing.T) {
	bubble(t, forADay, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseAbandon}); err != nil {
			t.Fatal(err)
		}
		left := r.erased(n)
		if left.State != ledger.StateFailed || left.Reason != ledger.ReasonAbandoned || !left.MaybeSent {
			t.Fatalf("%+v", left)
		}
		other := "crm"
		for _, a := range append(ledger.Actions, ledger.CauseResend) {
			for source, want := range map[*string]error{nil: ledger.ErrContentGone, &other: ledger.ErrNotFound} {
				act := ledger.Act{Action: a, ID: n.ID, Reason: "test", Actor: "ops", IfMatch: n.Version, Source: source}
				var err error
				if a == ledger.CauseResend {
					_, err = r.ledger.Resend(context.Background(), act, true)
				} else {
					_, err = r.ledger.Settle(context.Background(), act)
				}
				if !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", a, err, want)
				}
			}
		}
		bulk := ledger.Bulk{Action: ledger.CauseRelease, Filter: ledger.Filter{DedupeKey: left.DedupeKey, States: []ledger.State{ledger.StateFailed}}, Reason: "test", Actor: "ops"}
		if res, err := r.ledger.SettleMany(context.Background(), bulk); err != nil || res.Matched != 0 {
			t.Errorf("in bulk: %+v, %v", res, err)
		}
		report := ledger.Receipt{Provider: "a", EventKey: "r1", ID: n.ID, Number: 1, MessageID: "m1", Kind: "delivered", Delivery: ledger.Delivered}
		if _, err := r.ledger.Prove(context.Background(), report); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("a late report: %v", err)
		}
		for _, step := range []struct {
			wait time.Duration
			want int64
		}{{aDay, 1}, {aDay + 2*time.Hour, 0}} {
			r.advance(step.wait)
			if st, err := r.ledger.Stats(context.Background()); err != nil || st.Unmatched != step.want {
				t.Errorf("%d reports wait, want %d (%v)", st.Unmatched, step.want, err)
			}
		}
		if got := r.row(n).Notification; got.State != left.State || got.Version != left.Version || got.Delivery != "" {
			t.Errorf("%+v", got)
		}
	})
}

// eraser counts the steps in which rows are erased.
type eraser struct {
	*store.Store
	steps *[]int
}

func (e eraser) Erase(families []ledger.Family, before, at time.Time) ([]int64, error) {
	rows, err := e.Store.Erase(families, before, at)
	*e.steps = append(*e.steps, len(rows))
	return rows, err
}

func TestRetention_GoesInSmallSteps(t *testing.T) {
	var steps []int
	bubble(t, func(r *rig) {
		forADay(r)
		r.wrap = func(s *store.Store) ledger.Store { return eraser{s, &steps} }
	}, func(t *testing.T, r *rig) {
		var last ledger.Notification
		for i := range 100 {
			last = r.claim(fmt.Sprint(i))
		}
		r.erased(last)
		total := 0
		for _, n := range steps {
			if total += n; n > 16 {
				t.Errorf("%d rows in one commit", n)
			}
		}
		if st, err := r.ledger.Stats(context.Background()); err != nil || st.Erased != 100 || total != 100 || st.Notifications != 101 {
			t.Errorf("%d erased in steps of %v: %+v, %v", total, steps, st, err)
		}
	})
}

// Without a time rows stay whole for ever, and so they do in a copy that nobody accepted.
func TestRetention_ErasesNothingUnasked(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		r.claim("e2")
		r.advance(2 * aDay)
		if r.row(n).ErasedAt != (time.Time{}) {
			t.Error("erased without a retention")
		}
		r.stop()
		copied := filepath.Join(t.TempDir(), "sendonce.db")
		copyLedger(t, r.path, copied)
		if err := os.Remove(copied + ".lock"); err != nil {
			t.Fatal(err)
		}
		r.path = copied
		forADay(r)
		r.start()
		r.advance(2 * aDay)
		if r.row(n).ErasedAt != (time.Time{}) {
			t.Error("erased in a copy that nobody accepted")
		}
	})
}
