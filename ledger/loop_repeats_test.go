package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

// A batch that is refused as a whole comes again: its repeats count then.
func TestClaimBatch_CountsARepeatOnlyWhenAnswered(t *testing.T) {
	a := asked{reads: new(int), refuse: new(error)}
	bubble(t, func(r *rig) {
		r.wrap = func(s *store.Store) ledger.Store { a.Store = s; return a }
	}, func(t *testing.T, r *rig) {
		first := r.claim("e1")
		r.ledger.GuessNew()
		*a.refuse = ledger.ErrOverload
		if _, err := r.ledger.ClaimBatch(t.Context(), []ledger.Event{event("e1"), event("e2")}); !errors.Is(err, ledger.ErrOverload) {
			t.Fatal(err)
		}
		if got := r.row(first).Duplicates; got != 0 {
			t.Errorf("duplicate_count %d after a refused batch, want 0: it will come again", got)
		}
		*a.refuse = nil
		if _, err := r.ledger.ClaimBatch(t.Context(), []ledger.Event{event("e1"), event("e2")}); err != nil {
			t.Fatal(err)
		}
		if got := r.row(first).Duplicates; got != 1 {
			t.Errorf("duplicate_count %d, want 1", got)
		}
	})
}

// No row is said to look like one that was never made, such as that of a wrong guess.
func TestNear_SuspectedIsARowThatExists(t *testing.T) {
	askedNear(t, func(t *testing.T, r *rig, first ledger.Notification) {
		same := func(e *ledger.Event) { e.Message = []byte(`{"text":"e1"}`) }
		list, err := r.ledger.ClaimBatch(t.Context(), []ledger.Event{event("e1"), event("fresh-key", same)})
		if err != nil || !list[0].Duplicate {
			t.Fatalf("%+v %v", list, err)
		}
		n := list[1].Notification
		var none [16]byte
		if n.SuspectedOf == none {
			return
		}
		if _, err := r.ledger.Get(t.Context(), n.SuspectedOf, nil); err != nil {
			t.Errorf("suspected_duplicate_of %v: %v (the first row is %v)", n.SuspectedOf, err, first.ID)
		}
	})
}

func askedNear(t *testing.T, body func(t *testing.T, r *rig, first ledger.Notification)) {
	bubble(t, func(r *rig) { r.settings.NearDuplicate.Window = 10 * time.Minute }, func(t *testing.T, r *rig) {
		first := r.claim("e1")
		r.stop()
		r.start()
		r.ledger.GuessNew()
		body(t, r, first)
	})
}

// A repeat is answered from reads whatever is wrong with the writer: at once, or from the second on.
func TestClaim_RepeatsAreKnownWhileTheWriterFails(t *testing.T) {
	for _, refusal := range []error{ledger.ErrUnavailable, ledger.ErrUnknown} {
		askedBubble(t, func(t *testing.T, r *rig, first ledger.Notification, a asked) {
			*a.refuse = refusal
			res, err := r.ledger.Claim(t.Context(), event("e1"))
			if errors.Is(refusal, ledger.ErrUnknown) { // what is read now may be its own row, which may be lost yet
				if !errors.Is(err, refusal) {
					t.Errorf("a guess whose commit nobody knows: %v", err)
				}
				res, err = r.ledger.Claim(t.Context(), event("e1"))
			}
			if err != nil || !res.Duplicate {
				t.Errorf("%v: a repeat is refused: %v", refusal, err)
			}
		})
	}
}

// slowSuppress holds the write of suppressed repeats.
type slowSuppress struct {
	*store.Store
	in, out chan struct{}
}

func (s slowSuppress) Suppress(l []ledger.Suppressed) ([]ledger.Counted, error) {
	s.in <- struct{}{}
	<-s.out
	return s.Store.Suppress(l)
}

// failsOnce refuses the first write of suppressed repeats.
type failsOnce struct {
	*store.Store
	refused *int
}

func (s failsOnce) Suppress(l []ledger.Suppressed) ([]ledger.Counted, error) {
	if *s.refused++; *s.refused == 1 {
		return nil, ledger.ErrUnavailable
	}
	return s.Store.Suppress(l)
}

// Keeps out repeats that a disk which was full for a moment leaves in memory until the next one comes, or until the process is killed.
func TestRepeats_AreWrittenOnceTheDiskIsBack(t *testing.T) {
	refused := 0
	bubble(t, func(r *rig) {
		r.wrap = func(d *store.Store) ledger.Store { return failsOnce{d, &refused} }
	}, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		r.claim("e1")
		r.advance(3 * time.Second)
		direct, err := r.disk.Get(t.Context(), n.ID) // what is in the file, without what memory adds
		if err != nil || direct.Duplicates != 1 || refused != 2 {
			t.Errorf("%d repeats in the file after %d tries: %v", direct.Duplicates, refused, err)
		}
	})
}

// The count in answers never goes back.
func TestRepeats_CountNeverFallsWhileItIsWritten(t *testing.T) {
	s := slowSuppress{}
	bubble(t, func(r *rig) {
		s.in, s.out = make(chan struct{}), make(chan struct{})
		r.wrap = func(d *store.Store) ledger.Store { s.Store = d; return s }
	}, func(t *testing.T, r *rig) {
		r.claim("e1")
		for range 5 {
			if _, err := r.ledger.Claim(t.Context(), event("e1")); err != nil {
				t.Fatal(err)
			}
		}
		<-s.in
		res, err := r.ledger.Claim(t.Context(), event("e1"))
		if err != nil || res.Notification.Duplicates != 6 {
			t.Errorf("duplicate_count %d of the sixth repeat (%v), want 6", res.Notification.Duplicates, err)
		}
		if got := r.row(res.Notification).Duplicates; got != 6 {
			t.Errorf("get shows %d", got)
		}
		close(s.out)
		go func() {
			for range s.in {
			}
		}()
		synctest.Wait()
		r.stop()
		close(s.in)
	})
}

// Reports that come at the same time: a repeat shows the delivery that the ledger has.
func TestProve_RepeatShowsTheNewestDelivery(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		wrong := 0
		for i := range 400 {
			id := fmt.Sprintf("e%d", i)
			n := r.claim(id)
			var all sync.WaitGroup
			for _, d := range []ledger.Delivery{ledger.PassedOn, ledger.Delivered, ledger.Queued, ledger.Delayed} {
				all.Go(func() {
					if _, err := r.ledger.Prove(context.Background(), receipt(n, 1, string(d), d)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			res, err := r.ledger.Claim(t.Context(), event(id))
			if err != nil {
				t.Fatal(err)
			}
			if want := r.row(n).Delivery; res.Notification.Delivery != want {
				wrong++
				if wrong == 1 {
					t.Errorf("%s: the repeat says %s, the ledger %s", id, res.Notification.Delivery, want)
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%d of 400 repeats show an old delivery", wrong)
		}
	})
}
