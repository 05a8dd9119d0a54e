package ledger_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"sendonce/ledger"
	"sendonce/store"
)

// blind is a store whose look-up before a claim finds nothing, as a read that was cut short or came too early does.
type blind struct{ *store.Store }

func (blind) Prior(context.Context, ledger.Claim) (ledger.Notification, bool, error) {
	return ledger.Notification{}, false, nil
}

// F19: a look-up that found nothing proves nothing: the row is made by an insert against the unique key, or not at all.
func TestClaim_F19_ALookUpThatFoundNothingProvesNothing(t *testing.T) {
	bubble(t, func(r *rig) { r.wrap = func(s *store.Store) ledger.Store { return blind{s} } }, func(t *testing.T, r *rig) {
		first := r.claim("e1")
		for range 3 {
			res, err := r.ledger.Claim(context.Background(), event("e1"))
			if err != nil || !res.Duplicate || res.Notification.ID != first.ID || res.Notification.State != ledger.StateSent {
				t.Fatalf("the event again: %+v, %v", res, err)
			}
		}
		list, err := r.ledger.ClaimBatch(context.Background(), []ledger.Event{event("e1"), event("e2"), event("e2")})
		if err != nil || !list[0].Duplicate || list[1].Duplicate || !list[2].Duplicate || list[2].Notification.ID != list[1].Notification.ID {
			t.Fatalf("in a batch: %+v, %v", list, err)
		}
		synctest.Wait()
		if got := len(r.scripts["a"].sent()); got != 2 {
			t.Errorf("%d messages for two events", got)
		}
	})
}

// F19: a claim under a context that has ended is an error, makes no row and sends nothing.
func TestClaim_F19_ACancelledContextIsAnError(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if res, err := r.ledger.Claim(ctx, event("e1")); !errors.Is(err, context.Canceled) {
			t.Errorf("claim: %+v, %v", res, err)
		}
		if list, err := r.ledger.ClaimBatch(ctx, []ledger.Event{event("e1"), event("e2")}); !errors.Is(err, context.Canceled) {
			t.Errorf("batch: %+v, %v", list, err)
		}
		synctest.Wait()
		st, err := r.ledger.Stats(context.Background())
		if err != nil || st.Notifications != 0 || len(r.scripts["a"].sent()) != 0 {
			t.Errorf("%d rows, %d messages (%v)", st.Notifications, len(r.scripts["a"].sent()), err)
		}
		if n := r.claim("e1"); r.row(n).State != ledger.StateSent {
			t.Error("the same event under a living context is not sent")
		}
	})
}
