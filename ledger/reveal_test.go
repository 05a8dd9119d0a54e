package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sendonce/ledger"
)

// A look at a recipient is recorded in every state, also while an attempt runs, and changes nothing: neither the version that
// others hold, nor the times, nor what comes next. The check at the end of the bubble reads it so too.
func TestReveal_RecordedAndNothingElse(t *testing.T) {
	look := func(t *testing.T, r *rig, n ledger.Notification) {
		t.Helper()
		before := r.row(n)
		got, err := r.ledger.Reveal(context.Background(), ledger.Act{ID: n.ID, Reason: "the customer asked", Actor: "ops", Person: "ada"})
		if err != nil || got.Recipient == "" || got.Message == nil {
			t.Fatalf("in %s: %v, %+v", before.State, err, got)
		}
		after := r.row(n)
		last := after.Settlements[len(after.Settlements)-1]
		if last.Action != ledger.CauseReveal || last.From != before.State || last.To != before.State || last.Actor != "ops" || last.Person != "ada" || last.Reason != "the customer asked" {
			t.Errorf("in %s: recorded %+v", before.State, last)
		}
		if a, b := before.Notification, after.Notification; a.Version != b.Version || a.State != b.State || a.DueAt != b.DueAt || a.UpdatedAt != b.UpdatedAt || a.NextAction != b.NextAction {
			t.Errorf("in %s: the row was %+v and is %+v", before.State, a, b)
		}
	}
	bubble(t, nil, func(t *testing.T, r *rig) {
		waits := r.claim("later", func(e *ledger.Event) { e.SendAt = time.Now().Add(time.Hour) })
		r.advance(time.Second)
		look(t, r, waits)
		r.scripts["a"].answer = func(context.Context, *call) ledger.Result {
			time.Sleep(5 * time.Second)
			return ledger.Result{Reason: ledger.ReasonNoAnswer, Phase: ledger.Written}
		}
		lost := r.claim("lost")
		r.advance(time.Second)
		if r.row(lost).State != ledger.StateSending {
			t.Fatalf("the row is %s", r.row(lost).State)
		}
		look(t, r, lost)
		r.advance(10 * time.Second)
		look(t, r, r.expect(lost, ledger.StateAmbiguous, ledger.ReasonNoAnswer).Notification)
		row := r.row(lost).Notification
		if _, err := r.act(row, ledger.Act{Action: ledger.CauseConfirm, IfMatch: row.Version}); err != nil {
			t.Fatal(err)
		}
		look(t, r, row)
		if n, err := r.act(row, ledger.Act{Action: ledger.CauseConfirm, IfMatch: row.Version}); err != nil || n.State != ledger.StateSent {
			t.Errorf("the same decision once more, behind a look: %v", err)
		}
	})
}

// Who may not see a row can't reveal it, and a look needs a reason.
func TestReveal_Refused(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e")
		r.advance(time.Second)
		other := "other"
		if _, err := r.ledger.Reveal(context.Background(), ledger.Act{ID: n.ID, Reason: "x", Actor: "ops", Source: &other}); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("of another source: %v", err)
		}
		var invalid *ledger.InvalidError
		if _, err := r.ledger.Reveal(context.Background(), ledger.Act{ID: n.ID, Actor: "ops"}); !errors.As(err, &invalid) {
			t.Errorf("without a reason: %v", err)
		}
		if len(r.row(n).Settlements) != 0 {
			t.Error("a refused look was recorded")
		}
	})
}
