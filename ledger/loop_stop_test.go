package ledger_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

func after(d time.Duration, res ledger.Result) func(context.Context, *call) ledger.Result {
	return func(ctx context.Context, _ *call) ledger.Result {
		select {
		case <-time.After(d):
			return res
		case <-ctx.Done():
			return lost
		}
	}
}

func TestStop_LetsWhatRunsEnd(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(3*time.Second, accepted("m1")))
		n := r.claim("e1")
		began := time.Now()
		r.stop()
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("the stop took %v", took)
		}
		r.scripts["a"].thenDo(nil)
		r.start()
		if rec := r.expect(n, ledger.StateSent, ""); rec.MessageID != "m1" {
			t.Errorf("message id %q", rec.MessageID)
		}
	})
}

func TestStop_CutsAtTheEndOfTheDrain(t *testing.T) {
	bubble(t, func(r *rig) {
		r.sms(func(c *ledger.ChannelSettings) { c.Timeout = 5 * time.Minute })
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(2*time.Minute, accepted("m1")))
		n := r.claim("e1")
		began := time.Now()
		r.stop()
		if took := time.Since(began); took < 30*time.Second || took > 32*time.Second {
			t.Errorf("the stop took %v with a drain of 30 s", took)
		}
		r.open()
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer) // closed by itself: not process_ended
		if len(rec.Attempts) != 1 || rec.Attempts[0].Open() {
			t.Errorf("attempts %+v", rec.Attempts)
		}
	})
}

func TestStop_TakesNothingNew(t *testing.T) {
	bubble(t, func(r *rig) { r.scripts["a"].workers = 1 }, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(3*time.Second, accepted("")))
		first, second := r.claim("e1"), r.claim("e2")
		r.cancel()
		synctest.Wait()
		if err := r.ledger.Ready(); !errors.Is(err, ledger.ErrDraining) {
			t.Errorf("Ready while stopping: %v", err)
		}
		if _, err := r.ledger.Claim(context.Background(), event("e3")); !errors.Is(err, ledger.ErrDraining) {
			t.Errorf("claim while stopping: %v", err)
		}
		if res, err := r.ledger.Claim(context.Background(), event("e1")); err != nil || !res.Duplicate {
			t.Errorf("a known event while stopping: %+v %v", res, err)
		}
		r.stop()
		r.open()
		r.expect(first, ledger.StateSent, "")
		r.expect(second, ledger.StateClaimed, "")
	})
}

// brittle is a store whose closes fail while broken is set.
type brittle struct {
	*store.Store
	broken atomic.Bool
	tries  atomic.Int64
}

var errDisk = errors.New("disk gone")

func (b *brittle) Close(c ledger.Closing, decide func(ledger.CloseFacts) ledger.Change) (ledger.Notification, error) {
	if b.broken.Load() {
		b.tries.Add(1)
		return ledger.Notification{}, errors.Join(ledger.ErrUnavailable, errDisk)
	}
	return b.Store.Close(c, decide)
}

// While the ledger cannot write down what became of a message, it sends no other.
func TestLoop_CloseThatCannotBeWrittenKeepsTakesOff(t *testing.T) {
	var b *brittle
	bubble(t, func(r *rig) {
		r.wrap = func(s *store.Store) ledger.Store {
			b = &brittle{Store: s}
			return b
		}
	}, func(t *testing.T, r *rig) {
		b.broken.Store(true)
		first := r.claim("e1")
		second := r.claim("e2")
		r.advance(10 * time.Minute)
		r.expect(first, ledger.StateSending, "")
		r.expect(second, ledger.StateClaimed, "")
		if got := len(r.scripts["a"].sent()); got != 1 {
			t.Fatalf("%d requests while nothing can be written", got)
		}
		if tries := b.tries.Load(); tries < 500 || tries > 700 {
			t.Errorf("the close was tried %d times in ten minutes", tries)
		}
		b.broken.Store(false)
		r.advance(3 * time.Second)
		r.expect(first, ledger.StateSent, "")
		r.expect(second, ledger.StateSent, "")
		if got := len(r.scripts["a"].sent()); got != 2 {
			t.Errorf("%d requests for two rows", got)
		}
	})
}

// A process that has to go leaves such an attempt open; the next start knows that it may have been sent.
func TestStop_UnwrittenCloseIsAmbiguousAtTheNextStart(t *testing.T) {
	var b *brittle
	bubble(t, func(r *rig) {
		r.wrap = func(s *store.Store) ledger.Store {
			b = &brittle{Store: s}
			return b
		}
	}, func(t *testing.T, r *rig) {
		b.broken.Store(true)
		n := r.claim("e1")
		began := time.Now()
		r.stop()
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("the stop took %v", took)
		}
		r.open()
		r.run()
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonProcessEnded)
		if got := len(r.scripts["a"].sent()); got != 1 {
			t.Errorf("%d requests", got)
		}
	})
}
