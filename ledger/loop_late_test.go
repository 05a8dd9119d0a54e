package ledger_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
	"sendonce/store"
)

// late is a store whose calls may be held up by the test.
type late struct {
	*store.Store
	get     atomic.Pointer[chan struct{}] // the next Get waits for it
	claimed once                          // after a claim's commit, before its caller knows
	settle  once                          // before a settlement
	first   once                          // before the first attempt of a row is read
}

// once is something that a test wants done at the next opportunity.
type once struct{ f atomic.Pointer[func()] }

func (o *once) set(f func()) { o.f.Store(&f) }

func (o *once) do() {
	if f := o.f.Swap(nil); f != nil {
		(*f)()
	}
}

func (s *late) Get(ctx context.Context, id uuid.UUID) (ledger.Record, error) {
	if wait := s.get.Swap(nil); wait != nil {
		<-*wait
	}
	return s.Store.Get(ctx, id)
}

func (s *late) Claim(list []ledger.Claim) ([]ledger.Claimed, error) {
	out, err := s.Store.Claim(list)
	s.claimed.do()
	return out, err
}

func (s *late) Settle(id uuid.UUID, decide func(ledger.Notification) (ledger.Change, error)) (ledger.Notification, error) {
	s.settle.do()
	return s.Store.Settle(id, decide)
}

func (s *late) FirstAttempt(ctx context.Context, seq int64, account [8]byte) (ledger.Attempt, error) {
	s.first.do()
	return s.Store.FirstAttempt(ctx, seq, account)
}

func onLate(s **late, set func(*rig)) func(*rig) {
	return func(r *rig) {
		if set != nil {
			set(r)
		}
		r.wrap = func(disk *store.Store) ledger.Store {
			*s = &late{Store: disk}
			return *s
		}
	}
}

// Two callers ask about a row that has just ended: the second must not wait because the first is still looking.
func TestWait_SecondCallerLooksToo(t *testing.T) {
	var s *late
	bubble(t, onLate(&s, nil), func(t *testing.T, r *rig) {
		n := r.claim("e1") // as it was claimed: it is sent by now
		hold := make(chan struct{})
		s.get.Store(&hold)
		go r.ledger.Wait(context.Background(), n, time.Hour, nil)
		synctest.Wait()
		began := time.Now()
		if got := r.ledger.Wait(context.Background(), n, 30*time.Second, nil); got.State != ledger.StateSent || time.Since(began) > time.Second {
			t.Errorf("%s after %v", got.State, time.Since(began))
		}
		close(hold)
		synctest.Wait()
	})
}

// A row may be taken from the store and end before the caller who claimed it has put it into memory.
func TestRecent_RowThatEndedBeforeItsClaimReturnedIsNotStale(t *testing.T) {
	var s *late
	bubble(t, onLate(&s, nil), func(t *testing.T, r *rig) {
		s.claimed.set(func() {
			if _, err := r.ledger.Resume(context.Background(), "a", "ops"); err != nil { // makes the loop read the store
				t.Error(err)
			}
			time.Sleep(time.Second)
		})
		r.claim("e1")
		res, err := r.ledger.Claim(context.Background(), event("e1"))
		if err != nil || res.Notification.State != ledger.StateSent {
			t.Errorf("a repeat is told %s, %v", res.Notification.State, err)
		}
	})
}

// What memory shows of a row in flight is what the ledger has.
func TestRecent_RowInFlightIsShownAsStored(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(10*time.Second, accepted("")))
		n := r.claim("e1", func(e *ledger.Event) { e.SendAt = time.Now().Add(time.Minute) })
		r.advance(61 * time.Second)
		want := r.expect(n, ledger.StateSending, "")
		got := r.claim("e1")
		if got.Reason != want.Reason || got.Version != want.Version || !got.UpdatedAt.Equal(want.UpdatedAt) || got.NextAction != want.NextAction {
			t.Errorf("shown   %+v\nstored %+v", got, want.Notification)
		}
	})
}

// The housekeeper read a row that somebody moved before it could act: nobody who waits for that row is woken.
func TestHouse_RowThatMovedWakesNobody(t *testing.T) {
	var s *late
	bubble(t, onLate(&s, policies), func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1", ofType("otp.login")) // the policy sends again after 20 s
		r.scripts["a"].thenDo(after(10*time.Second, accepted("m2")))
		woken := make(chan ledger.Notification, 1)
		s.settle.set(func() { // a person is faster
			row, err := r.ledger.Get(context.Background(), n.ID, nil)
			if err == nil {
				_, err = r.ledger.Settle(context.Background(), ledger.Act{ID: n.ID, Action: ledger.CauseRelease, Reason: "r", Actor: "ops", IfMatch: row.Version})
			}
			if err != nil {
				t.Error(err)
			}
			for row.State != ledger.StateSending {
				time.Sleep(time.Millisecond)
				row, _ = r.ledger.Get(context.Background(), n.ID, nil)
			}
			go func() { woken <- r.ledger.Wait(context.Background(), row.Notification, time.Hour, nil) }()
			time.Sleep(time.Millisecond)
		})
		r.advance(40 * time.Second)
		if got := <-woken; got.State != ledger.StateSent {
			t.Errorf("woken with %s", got.State)
		}
	})
}

// Nothing new is begun once the stop was told.
func TestStop_HousekeeperBeginsNoRepeat(t *testing.T) {
	var s *late
	bubble(t, onLate(&s, func(r *rig) {
		keyed(r)
		r.settings.Policies = []ledger.PolicySettings{{EventType: "drop", OnAmbiguous: ledger.OnAmbiguousAbandon, After: 5 * time.Second}}
	}), func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		first := r.claim("e1", ofType("drop"))
		for i := range 5 {
			r.claim(fmt.Sprint("r", i))
		}
		calls := len(a.sent())
		s.settle.set(func() { // the stop comes during the first row's settlement
			r.cancel()
			time.Sleep(2 * time.Second)
		})
		r.advance(10 * time.Second)
		r.expect(first, ledger.StateFailed, ledger.ReasonAbandoned)
		if got := len(a.sent()); got != calls {
			t.Errorf("%d requests after the stop", got-calls)
		}
	})
}

// A clock that jumps just before a repeat puts it off; it does not end the asking.
func TestRepeat_ComesAfterAClockThatJumped(t *testing.T) {
	var s *late
	bubble(t, onLate(&s, keyed), func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		n := r.claim("e1")
		s.first.set(func() { r.ledger.ShiftWall(20 * time.Second) })
		r.advance(6 * time.Second)
		if got := len(a.sent()); got != 1 {
			t.Fatalf("%d requests by a clock that has just jumped", got)
		}
		a.then(accepted("m1"))
		r.advance(5 * time.Minute)
		r.expect(n, ledger.StateSent, "")
	})
}
