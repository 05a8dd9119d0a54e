package ledger_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
	"sendonce/store"
)

// The same action again is a 200 only while the row stands where that action brought it.
func TestSettle_SecondReleaseOfALostAnswerIsRefused(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(rejected)
		n := r.claim("e1")
		a.thenDo(after(time.Second, lost))
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease}); err != nil {
			t.Fatal(err)
		}
		sending := r.expect(n, ledger.StateSending, "")
		r.advance(2 * time.Second)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		got, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: sending.Version})
		var version *ledger.VersionError
		if !errors.As(err, &version) {
			t.Errorf("a release that did nothing is answered with %s, %v", got.State, err)
		}
	})
}

// Another message id is another decision, and it was not noted.
func TestSettle_SecondConfirmWithAnotherMessageIDIsRefused(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		for _, id := range []string{"m1", "m1"} {
			if _, err := r.act(n, ledger.Act{Action: ledger.CauseConfirm, MessageID: id}); err != nil {
				t.Fatalf("confirm as %s: %v", id, err)
			}
		}
		if got, err := r.act(n, ledger.Act{Action: ledger.CauseConfirm, MessageID: "m2"}); err == nil {
			t.Errorf("confirmed as m2 and shown as %s", got.MessageID)
		}
	})
}

// What a policy did is not what a person asks for: his release says that nothing was sent.
func TestSettle_ReleaseAfterAPolicysIsRefusedWhileSending(t *testing.T) {
	bubble(t, func(r *rig) {
		r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousSendAgain, time.Minute })
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.scripts["a"].thenDo(after(10*time.Second, lost))
		r.advance(61 * time.Second)
		r.expect(n, ledger.StateSending, "")
		if got, err := r.act(n, ledger.Act{Action: ledger.CauseRelease}); err == nil {
			t.Errorf("released, and maybe_sent is %t", got.MaybeSent)
		}
	})
}

// full is a store whose disk takes no settlement.
type full struct{ *store.Store }

func (f full) Settle(id uuid.UUID, decide func(ledger.Notification) (ledger.Change, error)) (ledger.Notification, error) {
	return ledger.Notification{}, errors.Join(ledger.ErrUnavailable, errDisk)
}

// A disk that is full is our own fault, not a row that somebody else moved.
func TestSettleMany_TellsAStoreThatRefuses(t *testing.T) {
	bubble(t, func(r *rig) {
		r.wrap = func(s *store.Store) ledger.Store { return full{s} }
		r.scripts["a"].then(rejected)
	}, func(t *testing.T, r *rig) {
		r.claim("e1")
		r.claim("e2")
		res, err := r.ledger.SettleMany(context.Background(), ledger.Bulk{Action: ledger.CauseRelease, Reason: "test", Actor: "ops",
			Filter: ledger.Filter{States: []ledger.State{ledger.StateFailed}}, Expected: 2})
		if !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// filling is a store whose disk takes so many settlements more.
type filling struct {
	*store.Store
	room *atomic.Int64
}

func (f filling) Settle(id uuid.UUID, decide func(ledger.Notification) (ledger.Change, error)) (ledger.Notification, error) {
	if f.room.Add(-1) < 0 {
		return ledger.Notification{}, errors.Join(ledger.ErrUnavailable, errDisk)
	}
	return f.Store.Settle(id, decide)
}

// A decision over many that breaks off half way is not one of which surely nothing was written: an operator would count on it.
func TestSettleMany_BreaksOffHalfWay(t *testing.T) {
	var room atomic.Int64
	bubble(t, func(r *rig) {
		r.wrap = func(s *store.Store) ledger.Store { return filling{s, &room} }
		r.scripts["a"].then(rejected)
	}, func(t *testing.T, r *rig) {
		r.claim("e1")
		r.claim("e2")
		room.Store(1)
		res, err := r.ledger.SettleMany(context.Background(), ledger.Bulk{Action: ledger.CauseRelease, Reason: "test", Actor: "ops",
			Filter: ledger.Filter{States: []ledger.State{ledger.StateFailed}}, Expected: 2})
		if !errors.Is(err, ledger.ErrUnknown) || errors.Is(err, ledger.ErrUnavailable) || res.Changed != 1 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// Keeps out that a key with the role send, which may release only what surely was not sent, can't hold or cancel a row either.
func TestAct_SurelyIsAboutReleaseOnly(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("later", func(e *ledger.Event) { e.SendAt = time.Now().Add(time.Hour) })
		for _, action := range []ledger.Cause{ledger.CauseHold, ledger.CauseUnhold, ledger.CauseCancel} {
			if _, err := r.act(n, ledger.Act{Action: action, Surely: true}); err != nil {
				t.Errorf("%s: %v", action, err)
			}
		}
		r.scripts["a"].answer = func(context.Context, *call) ledger.Result {
			return ledger.Result{Reason: ledger.ReasonNoAnswer, Phase: ledger.Written}
		}
		lost := r.claim("lost")
		r.advance(time.Second)
		row := r.expect(lost, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if _, err := r.act(lost, ledger.Act{Action: ledger.CauseRelease, Surely: true, IfMatch: row.Version}); !errors.Is(err, ledger.ErrMayBeSent) {
			t.Errorf("release of what may be sent: %v", err)
		}
	})
}
