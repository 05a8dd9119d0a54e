package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

func looked(n ledger.Notification) ledger.Change {
	return ledger.Change{State: n.State, Reason: n.Reason, MaybeSent: n.MaybeSent, NextAction: n.NextAction, DueAt: n.DueAt, At: at0,
		Settlement: &ledger.Settlement{At: at0, Action: ledger.CauseLookUp, From: n.State, To: n.State, Actor: "provider:twilio_main"}}
}

func noProof(ledger.Receipt, ledger.Notification, ledger.ProofFacts) (ledger.Change, error) {
	return ledger.Change{}, errors.New("nothing was found")
}

// A look that finds nothing leaves the row as it is and moves its version; one that finds proof moves the row in the same operation.
func TestLookUp_WritesTheLookAndTheProof(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := ambiguousRow(t, s, 1)
		got, proved, err := s.LookUp(ledger.LookQuery{ID: n.ID}, func(n ledger.Notification, f ledger.LookFacts) (ledger.LookDecision, error) {
			if f.Foreign || f.Others != nil {
				t.Errorf("facts %+v that nobody asked for", f)
			}
			return ledger.LookDecision{Change: looked(n)}, nil
		}, noProof)
		if err != nil || proved != nil || got.State != ledger.StateAmbiguous || got.Version != n.Version+1 {
			t.Fatalf("%s in version %d, %v, %v", got.State, got.Version, proved, err)
		}
		var told ledger.ProofFacts
		got, proved, err = s.LookUp(ledger.LookQuery{ID: n.ID}, func(n ledger.Notification, _ ledger.LookFacts) (ledger.LookDecision, error) {
			return ledger.LookDecision{Change: looked(n), Receipts: []ledger.Receipt{about(n, 1, ledger.Delivered)}}, nil
		}, func(_ ledger.Receipt, n ledger.Notification, f ledger.ProofFacts) (ledger.Change, error) {
			return proves(&told)(n, f)
		})
		if err != nil || got.State != ledger.StateSent || got.Version != n.Version+3 || len(proved) != 1 || told.Number != 1 {
			t.Fatalf("%s in version %d, %+v, %v", got.State, got.Version, proved, err)
		}
		if rec := record(t, s, n.ID); len(rec.Settlements) != 3 || len(rec.Receipts) != 1 {
			t.Errorf("%d settlements, %d receipts", len(rec.Settlements), len(rec.Receipts))
		}
	})
}

func TestLookUp_Refusals(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := ambiguousRow(t, s, 1)
		broken := errors.New("broken")
		_, _, err := s.LookUp(ledger.LookQuery{ID: n.ID}, func(n ledger.Notification, _ ledger.LookFacts) (ledger.LookDecision, error) {
			return ledger.LookDecision{Change: looked(n)}, broken
		}, noProof)
		wantErr(t, err, broken)
		_, _, err = s.LookUp(ledger.LookQuery{ID: uuid.New()}, func(ledger.Notification, ledger.LookFacts) (ledger.LookDecision, error) {
			return ledger.LookDecision{}, broken
		}, noProof)
		wantErr(t, err, ledger.ErrNotFound)
		if rec := record(t, s, n.ID); len(rec.Settlements) != 0 || rec.Version != n.Version {
			t.Errorf("%d settlements, version %d", len(rec.Settlements), rec.Version)
		}
	})
}

// What else may have made a message is read in the same operation: an attempt of another row that runs, was accepted or is unknown.
func TestLookUp_FactsAboutOtherRows(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		to := claimOf(1).RecipientKey
		alike := func(i int) ledger.Notification {
			c := claimOf(i)
			c.Recipient, c.RecipientKey = to, to
			return claimed(t, s, c)[0]
		}
		n := ambiguousRow(t, s, 1)
		flying := taken(t, s, alike(2))
		sent := closed(t, s, taken(t, s, alike(3)), ledger.Accepted, toSent, "m3")
		refused := taken(t, s, alike(4))
		closed(t, s, refused, ledger.Rejected, func(ledger.CloseFacts) ledger.Change {
			return ledger.Change{State: ledger.StateFailed, Reason: ledger.ReasonRejected, At: at0}
		})
		alike(5) // never handed over
		another := claimOf(6)
		another.Recipient, another.RecipientKey = "+15550109999", "+15550109999"
		taken(t, s, claimed(t, s, another)[0])
		facts := func(q ledger.LookQuery) (f ledger.LookFacts) {
			q.ID = n.ID
			if _, _, err := s.LookUp(q, func(_ ledger.Notification, is ledger.LookFacts) (ledger.LookDecision, error) {
				f = is
				return ledger.LookDecision{}, nil
			}, noProof); err != nil {
				t.Fatal(err)
			}
			return f
		}
		f := facts(ledger.LookQuery{MessageID: "m3", From: at0.Add(-time.Hour), Until: at0.Add(time.Hour)})
		if !f.Foreign || len(f.Others) != 2 || f.Others[0].Seq != flying.Seq || f.Others[1].Seq != sent.Seq {
			t.Errorf("foreign %t, %d other rows", f.Foreign, len(f.Others))
		}
		f = facts(ledger.LookQuery{MessageID: "m9", From: at0.Add(-2 * time.Hour), Until: at0.Add(-time.Hour)})
		if f.Foreign || len(f.Others) != 0 {
			t.Errorf("foreign %t, %d other rows at another time", f.Foreign, len(f.Others))
		}
	})
}
