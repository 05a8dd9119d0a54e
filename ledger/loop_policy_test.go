package ledger_test

import (
	"testing"
	"time"

	"sendonce/ledger"
)

func ofType(name string) func(*ledger.Event) { return func(e *ledger.Event) { e.EventType = name } }

func policies(r *rig) {
	r.settings.Policies = []ledger.PolicySettings{
		{EventType: "otp.*", Lane: "urgent", ExpiresAfter: 5 * time.Minute, OnAmbiguous: ledger.OnAmbiguousSendAgain, After: 20 * time.Second},
		{EventType: "news.weekly", OnAmbiguous: ledger.OnAmbiguousAssumeSent, After: time.Hour},
		{EventType: "news.*", OnAmbiguous: ledger.OnAmbiguousAbandon, After: 2 * time.Hour},
		{EventType: "quick.*", OnAmbiguous: ledger.OnAmbiguousAbandon},
	}
}

func TestPolicy_AskWaitsForAPerson(t *testing.T) {
	bubble(t, policies, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1", ofType("order.shipped"))
		r.advance(71 * time.Hour)
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if len(rec.Settlements) != 0 || rec.AttemptCount != 1 {
			t.Errorf("%d settlements, %d attempts", len(rec.Settlements), rec.AttemptCount)
		}
	})
}

func TestPolicy_SendAgainOnceInARowsLife(t *testing.T) {
	bubble(t, policies, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		n := r.claim("e1", ofType("otp.login"))
		if got := n.ExpiresAt.Sub(n.ClaimedAt); got != 5*time.Minute || n.Lane != ledger.Urgent {
			t.Errorf("expires after %v, lane %s", got, n.Lane)
		}
		r.advance(19900 * time.Millisecond)
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.advance(200 * time.Millisecond)
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if rec.AttemptCount != 2 || len(rec.Settlements) != 1 || rec.Settlements[0].Actor != "policy:otp.*" {
			t.Fatalf("%d attempts, settlements %+v", rec.AttemptCount, rec.Settlements)
		}
		r.advance(4 * time.Minute)
		if rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer); rec.AttemptCount != 2 || rec.Shown() != ledger.Ask {
			t.Errorf("%d attempts, shows %s: once means once", rec.AttemptCount, rec.Shown())
		}
		r.advance(time.Minute)
		r.expect(n, ledger.StateFailed, ledger.ReasonExpiredUnknown)
	})
}

// Only a person says that the first message surely was not sent.
func TestPolicy_SendAgainKeepsMaybeSent(t *testing.T) {
	bubble(t, policies, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1", ofType("otp.login"))
		r.scripts["a"].then(rejected)
		r.advance(21 * time.Second)
		if rec := r.expect(n, ledger.StateFailed, ledger.ReasonRejected); !rec.MaybeSent {
			t.Error("maybe_sent was cleared by a policy")
		}
	})
}

func TestPolicy_PatternsFirstMatchWins(t *testing.T) {
	bubble(t, policies, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		weekly := r.claim("weekly", ofType("news.weekly"))
		daily := r.claim("daily", ofType("news.daily"))
		r.advance(59 * time.Minute)
		r.expect(weekly, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.advance(2 * time.Minute)
		rec := r.expect(weekly, ledger.StateSent, ledger.ReasonAssumed)
		if s := rec.Settlements[0]; s.Actor != "policy:news.weekly" || s.Action != ledger.CauseConfirm {
			t.Errorf("settlement %+v", s)
		}
		r.expect(daily, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.advance(time.Hour)
		if rec := r.expect(daily, ledger.StateFailed, ledger.ReasonAbandoned); !rec.MaybeSent {
			t.Error("abandoning says nothing about whether it was sent")
		}
	})
}

func TestPolicy_WithoutAfterActsAtOnce(t *testing.T) {
	bubble(t, policies, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1", ofType("quick.one"))
		r.advance(10 * time.Millisecond)
		r.expect(n, ledger.StateFailed, ledger.ReasonAbandoned)
	})
}

// The time counts from the moment the row became ambiguous, whatever repeats came in between.
func TestPolicy_AfterCountsFromTheLostAnswer(t *testing.T) {
	bubble(t, func(r *rig) {
		policies(r)
		r.scripts["a"].window = 24 * time.Hour
		r.settings.Policies = []ledger.PolicySettings{{OnAmbiguous: ledger.OnAmbiguousAbandon, After: time.Minute}}
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(hang)
		n := r.claim("e1")
		r.advance(16 * time.Second) // the time-out: ambiguous 15 s after the start
		unknown := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer).UpdatedAt
		r.scripts["a"].then(lost)
		r.advance(time.Until(unknown.Add(time.Minute)) - 50*time.Millisecond)
		if rec := r.row(n); rec.State != ledger.StateAmbiguous || rec.AttemptCount < 2 {
			t.Fatalf("%s after %d attempts, %v after it became ambiguous", rec.State, rec.AttemptCount, time.Since(unknown))
		}
		r.advance(100 * time.Millisecond)
		r.expect(n, ledger.StateFailed, ledger.ReasonAbandoned)
	})
}
