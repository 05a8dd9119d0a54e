package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// The suite says what every ledger.Store does. A second store joins by a line in eachStore; what only SQLite does stands in
// the files without suite in their name.

// eachStore runs a case on an empty ledger of every kind of store. open opens it; called again it shuts the ledger down and
// opens it once more, as a restart does.
func eachStore(t *testing.T, run func(t *testing.T, open func() ledger.Store)) {
	t.Run("sqlite", func(t *testing.T) {
		o := created(t)
		var last *Store
		end := func() {
			if last == nil {
				return
			}
			if err := last.Shutdown(); err != nil {
				t.Errorf("shutdown: %v", err)
			}
		}
		t.Cleanup(end)
		run(t, func() ledger.Store {
			end()
			s, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			last = s
			return s
		})
	})
}

// claimed claims rows and returns them.
func claimed(t testing.TB, s ledger.Store, claims ...ledger.Claim) []ledger.Notification {
	t.Helper()
	rows, err := s.Claim(claims)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	out := make([]ledger.Notification, len(rows))
	for i, r := range rows {
		if r.Duplicate {
			t.Fatalf("claim %d found a row", i)
		}
		out[i] = r.Notification
	}
	return out
}

// taken takes a claimed row and returns it as it is then.
func taken(t testing.TB, s ledger.Store, n ledger.Notification) ledger.Notification {
	t.Helper()
	if err := s.Take(takingOf(n)); err != nil {
		t.Fatalf("take: %v", err)
	}
	return row(t, s, n.ID)
}

// closed ends the open attempt of a row that taken returned.
func closed(t testing.TB, s ledger.Store, n ledger.Notification, o ledger.Outcome, decide func(ledger.CloseFacts) ledger.Change, messageIDs ...string) ledger.Notification {
	t.Helper()
	before := n
	before.AttemptCount--
	out, err := s.Close(closingOf(before, o, messageIDs...), decide)
	if err != nil {
		t.Fatalf("close: %v", err)
	}
	return out
}

func toAmbiguous(ledger.CloseFacts) ledger.Change {
	return ledger.Change{State: ledger.StateAmbiguous, Reason: ledger.ReasonNoAnswer, MaybeSent: true, At: at0}
}

// ambiguousRow is a row whose first attempt had no answer.
func ambiguousRow(t testing.TB, s ledger.Store, i int) ledger.Notification {
	t.Helper()
	return closed(t, s, taken(t, s, claimed(t, s, claimOf(i))[0]), ledger.Ambiguous, toAmbiguous)
}

// sentRow is a row that was sent with a message id.
func sentRow(t testing.TB, s ledger.Store, i int, messageID string) ledger.Notification {
	t.Helper()
	return closed(t, s, taken(t, s, claimed(t, s, claimOf(i))[0]), ledger.Accepted, toSent, messageID)
}

// settled moves a row by a decision of a person.
func settled(t testing.TB, s ledger.Store, n ledger.Notification, c ledger.Change) ledger.Notification {
	t.Helper()
	c.At = at0
	c.Settlement = &ledger.Settlement{At: at0, Action: ledger.CauseHold, Actor: "desk", Reason: "as the test says"}
	out, err := s.Settle(n.ID, func(ledger.Notification) (ledger.Change, error) { return c, nil })
	if err != nil {
		t.Fatalf("settle: %v", err)
	}
	return out
}

// held, failed and so on are changes to a state with all that it needs.

func toHeld(n ledger.Notification) ledger.Change {
	return ledger.Change{State: ledger.StateHeld, NextAction: ledger.DoExpire, DueAt: n.ExpiresAt}
}

func toFailed() ledger.Change {
	return ledger.Change{State: ledger.StateFailed, Reason: ledger.ReasonAbandoned, MaybeSent: true}
}

func toClaimed(due time.Time) ledger.Change {
	return ledger.Change{State: ledger.StateClaimed, NextAction: ledger.DoSend, DueAt: due}
}

func row(t testing.TB, s ledger.Store, id uuid.UUID) ledger.Notification {
	t.Helper()
	return record(t, s, id).Notification
}

func record(t testing.TB, s ledger.Store, id uuid.UUID) ledger.Record {
	t.Helper()
	r, err := s.Get(context.Background(), id)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	return r
}

func wantErr(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
}

func wantState(t testing.TB, n ledger.Notification, state ledger.State, reason ledger.Reason) {
	t.Helper()
	if n.State != state || n.Reason != reason {
		t.Fatalf("got %s (%s), want %s (%s)", n.State, n.Reason, state, reason)
	}
}
