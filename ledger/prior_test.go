package ledger_test

import (
	"context"
	"errors"
	"testing"

	"sendonce/ledger"
	"sendonce/store"
)

// asked is a store that counts the look-ups before a claim, and may refuse claims.
type asked struct {
	*store.Store
	reads  *int
	refuse *error
}

func (a asked) Prior(ctx context.Context, c ledger.Claim) (ledger.Notification, bool, error) {
	*a.reads++
	return a.Store.Prior(ctx, c)
}

func (a asked) Claim(c []ledger.Claim) ([]ledger.Claimed, error) {
	if *a.refuse != nil {
		return nil, *a.refuse
	}
	return a.Store.Claim(c)
}

// askedBubble is a ledger that has claimed e1, was started anew so that memory is empty, and takes the next event for a new one.
func askedBubble(t *testing.T, body func(t *testing.T, r *rig, first ledger.Notification, a asked)) {
	t.Helper()
	a := asked{reads: new(int), refuse: new(error)}
	bubble(t, func(r *rig) {
		r.wrap = func(s *store.Store) ledger.Store { a.Store = s; return a }
	}, func(t *testing.T, r *rig) {
		first := r.claim("e1")
		r.stop()
		r.start()
		*a.reads = 0
		r.ledger.GuessNew()
		body(t, r, first, a)
	})
}

// Keeps out a read for each new event, and a writer that is asked about each event of a queue that is played again.
func TestClaim_ReadsFirstOnlyWhereRepeatsAreAbout(t *testing.T) {
	askedBubble(t, func(t *testing.T, r *rig, first ledger.Notification, a asked) {
		r.claim("e2")
		if *a.reads != 0 {
			t.Fatalf("%d look-ups before a new event", *a.reads)
		}
		res, err := r.ledger.Claim(t.Context(), event("e1"))
		if err != nil || !res.Duplicate || res.Notification.ID != first.ID || *a.reads != 0 {
			t.Fatalf("a wrong guess: %+v, %v, %d look-ups", res, err, *a.reads)
		}
		r.claim("e5")
		if *a.reads != 1 {
			t.Errorf("%d look-ups for the event after a wrong guess, want 1", *a.reads)
		}
		r.ledger.GuessNew()
		if _, err := r.ledger.ClaimBatch(t.Context(), []ledger.Event{event("e3"), event("e4")}); err != nil || *a.reads != 3 {
			t.Errorf("%d look-ups after a batch of two, want 3 (%v)", *a.reads, err)
		}
	})
}

// A repeat is answered while no claim can be written, whatever was guessed.
func TestClaim_RepeatsAreKnownWhileClaimsAreRefused(t *testing.T) {
	for _, refusal := range []error{ledger.ErrStorageLow, ledger.ErrOverload} {
		askedBubble(t, func(t *testing.T, r *rig, first ledger.Notification, a asked) {
			*a.refuse = refusal
			res, err := r.ledger.Claim(t.Context(), event("e1"))
			if err != nil || !res.Duplicate || res.Notification.ID != first.ID {
				t.Errorf("%v: %+v, %v", refusal, res, err)
			}
			r.ledger.GuessNew()
			if _, err := r.ledger.Claim(t.Context(), event("e2")); !errors.Is(err, refusal) {
				t.Errorf("a new event: %v, want %v", err, refusal)
			}
			r.ledger.GuessNew()
			list, err := r.ledger.ClaimBatch(t.Context(), []ledger.Event{event("e1")})
			if err != nil || !list[0].Duplicate {
				t.Errorf("in a batch: %+v, %v", list, err)
			}
		})
	}
}

// A repeat is answered though its event could not be claimed any more.
func TestClaim_RepeatsOfWhatIsRefusedNowAreKnown(t *testing.T) {
	askedBubble(t, func(t *testing.T, r *rig, first ledger.Notification, _ asked) {
		late := event("e1")
		late.ExpiresAt = first.ClaimedAt
		res, err := r.ledger.Claim(t.Context(), late)
		if err != nil || !res.Duplicate || res.Notification.ID != first.ID {
			t.Errorf("%+v, %v", res, err)
		}
		r.ledger.GuessNew()
		late.EventID = "e2"
		var invalid *ledger.InvalidError
		if _, err := r.ledger.Claim(t.Context(), late); !errors.As(err, &invalid) {
			t.Errorf("a new event: %v", err)
		}
		r.ledger.GuessNew()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.ledger.Claim(ctx, event("e3")); !errors.Is(err, context.Canceled) { // F19
			t.Errorf("under a context that has ended: %v", err)
		}
	})
}
