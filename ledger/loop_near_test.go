package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

func text(s string) func(*ledger.Event) {
	return func(e *ledger.Event) { e.Message = fmt.Appendf(nil, `{"text":%q}`, s) }
}

// The sign of a caller that makes a fresh key for each try.
func TestNear_SameContentUnderAnotherKeyIsShown(t *testing.T) {
	bubble(t, func(r *rig) { r.settings.NearDuplicate.Window = 10 * time.Minute }, func(t *testing.T, r *rig) {
		first := r.claim("e1", text("hello"))
		if first.SuspectedOf != uuid.Nil {
			t.Error("the first is suspected")
		}
		r.advance(9 * time.Minute)
		second := r.claim("e2", text("hello"))
		if second.SuspectedOf != first.ID {
			t.Errorf("suspected of %s", second.SuspectedOf)
		}
		r.expect(second, ledger.StateSent, "") // it is a hint, nothing is kept back
		for name, change := range map[string][]func(*ledger.Event){
			"another text":      {text("bye")},
			"another recipient": {text("hello"), func(e *ledger.Event) { e.Recipient = "+15550100002" }},
			"another source":    {text("hello"), func(e *ledger.Event) { e.Source = "shop" }},
		} {
			if n := r.claim(name, change...); n.SuspectedOf != uuid.Nil {
				t.Errorf("%s: suspected of %s", name, n.SuspectedOf)
			}
		}
		r.advance(11 * time.Minute)
		if n := r.claim("late", text("hello")); n.SuspectedOf != uuid.Nil {
			t.Error("suspected after the window")
		}
		if rec := r.row(second); rec.SuspectedOf != first.ID {
			t.Error("the suspicion was not stored")
		}
	})
}

func TestNear_Off(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.claim("e1", text("hello"))
		if n := r.claim("e2", text("hello")); n.SuspectedOf != uuid.Nil {
			t.Error("suspected although it is off")
		}
	})
}

func TestSuppressed_WrittenWithinASecond(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		before := r.row(n)
		for i := range 25 {
			res, err := r.ledger.Claim(context.Background(), event("e1", func(e *ledger.Event) { e.Caller = fmt.Sprint("caller", i) }))
			if err != nil || !res.Duplicate || res.Notification.Duplicates != int64(i+1) {
				t.Fatalf("repeat %d: %+v %v", i, res, err)
			}
		}
		var reused *ledger.ReusedError
		if _, err := r.ledger.Claim(context.Background(), event("e1", text("other"))); !errors.As(err, &reused) || !slices.Equal(reused.Differs, []string{"message"}) {
			t.Errorf("another message under the key: %v", err)
		}
		r.advance(time.Second)
		direct, err := r.disk.Get(context.Background(), n.ID) // what is in the file, without what memory adds
		if err != nil {
			t.Fatal(err)
		}
		if direct.Duplicates != 26 || direct.DuplicateAt.IsZero() || len(direct.Suppressed) != ledger.MaxDuplicates {
			t.Errorf("%d duplicates, %d listed", direct.Duplicates, len(direct.Suppressed))
		}
		last := direct.Suppressed[len(direct.Suppressed)-1]
		if !slices.Equal(last.Differs, []string{"message"}) || direct.Suppressed[0].Caller != "caller6" {
			t.Errorf("first %+v, last %+v", direct.Suppressed[0], last)
		}
		if direct.Version != before.Version || len(r.scripts["a"].sent()) != 1 {
			t.Error("a repeat moved the row")
		}
	})
}

func TestSuppressed_WrittenAtTheStop(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		r.claim("e1")
		r.stop()
		r.start()
		if rec := r.row(n); rec.Duplicates != 1 {
			t.Errorf("%d duplicates after a clean stop", rec.Duplicates)
		}
	})
}

// A batch may hold the same content twice as well as two calls.
func TestNear_WithinABatch(t *testing.T) {
	bubble(t, func(r *rig) { r.settings.NearDuplicate.Window = 10 * time.Minute }, func(t *testing.T, r *rig) {
		same := func(id string) ledger.Event { return event(id, text("hello")) }
		res, err := r.ledger.ClaimBatch(context.Background(), []ledger.Event{same("e1"), same("e2"), same("e1")})
		if err != nil {
			t.Fatal(err)
		}
		if got := res[1].Notification.SuspectedOf; got != res[0].Notification.ID {
			t.Errorf("suspected of %s, want %s", got, res[0].Notification.ID)
		}
	})
}
