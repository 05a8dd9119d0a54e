package store

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// Keeps out F16: a transaction that reads, then writes, fails with "database is locked", and the change is lost.
func TestSettle_20AtOnceEachSeesTheOneBefore(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		together(20, 20, func(int) {
			_, err := s.Settle(n.ID, func(n ledger.Notification) (ledger.Change, error) {
				c := toClaimed(at0)
				c.Deferrals = n.Deferrals + 1
				c.Settlement = &ledger.Settlement{At: at0, Action: ledger.CauseHold, Actor: "desk", Reason: fmt.Sprint(n.Version)}
				return c, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		got := record(t, s, n.ID)
		if got.Deferrals != 20 || got.Version != 21 || len(got.Settlements) != 20 {
			t.Fatalf("%d steps, version %d, %d settlements", got.Deferrals, got.Version, len(got.Settlements))
		}
		for i, st := range got.Settlements {
			if st.Reason != fmt.Sprint(i+1) {
				t.Errorf("settlement %d saw version %s", i, st.Reason)
			}
		}
	})
}

func TestSettle_ADecisionThatRefusesChangesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		before := record(t, s, n.ID)
		no := errors.New("no")
		got, err := s.Settle(n.ID, func(ledger.Notification) (ledger.Change, error) { return toHeld(n), no })
		if err != no {
			t.Fatalf("got %v, want the decision's own error", err)
		}
		if !reflect.DeepEqual(got, before.Notification) {
			t.Fatalf("the row came back as %+v", got)
		}
		if _, err := s.Settle(n.ID, func(ledger.Notification) (ledger.Change, error) { return ledger.Change{}, nil }); err != nil {
			t.Fatal(err)
		}
		if after := record(t, s, n.ID); !reflect.DeepEqual(after, before) {
			t.Fatalf("\n got %+v\nwant %+v", after, before)
		}
		_, err = s.Settle(uuid.New(), func(ledger.Notification) (ledger.Change, error) {
			t.Error("asked about no row")
			return ledger.Change{}, nil
		})
		if err != ledger.ErrNotFound {
			t.Fatalf("no such row: %v", err)
		}
	})
}

func TestSettle_VersionMovesWithStatesAndSettlementsOnly(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		change := func(c ledger.Change) ledger.Notification {
			c.At = at0
			got, err := s.Settle(n.ID, func(ledger.Notification) (ledger.Change, error) { return c, nil })
			if err != nil {
				t.Fatal(err)
			}
			if stored := row(t, s, n.ID); !reflect.DeepEqual(stored, got) {
				t.Fatalf("\nreturned %+v\n  stored %+v", got, stored)
			}
			return got
		}
		if got := change(toClaimed(after(time.Minute))); got.Version != 1 || got.DueAt != after(time.Minute) {
			t.Fatalf("another due time: version %d", got.Version)
		}
		if got := change(toHeld(n)); got.Version != 2 {
			t.Fatalf("another state: version %d", got.Version)
		}
		c := toHeld(n)
		c.Settlement = &ledger.Settlement{At: at0, Action: ledger.CauseHold, Actor: "desk"}
		if got := change(c); got.Version != 3 {
			t.Fatalf("a settlement: version %d", got.Version)
		}
	})
}

func TestSettle_KeepsWhatAChangeLeavesOut(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := sentRow(t, s, 1, "SM1")
		n = settled(t, s, n, ledger.Change{State: n.State, ConfirmedAt: at0, MessageID: "SM9", Delivery: ledger.Delivered, Provider: "vonage_main", ExpiresAt: after(time.Hour)})
		n = settled(t, s, n, ledger.Change{State: n.State, ConfirmedAt: at0})
		if n.MessageID != "SM9" || n.Delivery != ledger.Delivered || n.Provider != "vonage_main" || n.ExpiresAt != after(time.Hour) {
			t.Fatalf("%+v", n)
		}
	})
}

func TestSettle_StoresTheSettlementWhole(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		want := ledger.Settlement{At: after(time.Second), Action: ledger.CauseCancel, From: ledger.StateClaimed, To: ledger.StateCancelled,
			Actor: "shop", Person: "ada@example.test", Reason: "order withdrawn", Evidence: []byte(`{"attempts":0}`)}
		if _, err := s.Settle(n.ID, func(ledger.Notification) (ledger.Change, error) {
			return ledger.Change{State: ledger.StateCancelled, At: at0, Settlement: &want}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := record(t, s, n.ID).Settlements; len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Fatalf("got %+v", got)
		}
	})
}

// Keeps out F12: a person brings the message id of a row whose report came first, and the report stays lost.
func TestSettle_AMessageIDMeetsTheReportThatWaitedForIt(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := ambiguousRow(t, s, 1)
		if _, matched, err := prove(s, receiptOf("SM1", ledger.Delivered), neverAsked(t)); matched || err != nil {
			t.Fatal(matched, err)
		}
		n = settled(t, s, n, ledger.Change{State: ledger.StateSent, Reason: ledger.ReasonConfirmed, ConfirmedAt: at0, MessageID: "SM1"})
		if got := record(t, s, n.ID); got.Delivery != ledger.Delivered || len(got.Receipts) != 1 || got.Receipts[0].Number != 1 || len(got.MessageIDs) != 1 {
			t.Fatalf("%+v", got)
		}
	})
}

func childOf(parent ledger.Notification, n int) ledger.Claim {
	c := claimOf(1000 + n)
	c.DedupeKey, c.ResendOf = fmt.Sprintf("resend-%s-%d", parent.DedupeKey[:8], n), parent.ID
	return c
}

func resend(s ledger.Store, parent uuid.UUID) (ledger.Claimed, error) {
	return s.Resend(parent, func(p ledger.Notification, n int) (ledger.Change, ledger.Claim, error) {
		c := ledger.Change{State: p.State, Reason: p.Reason, MaybeSent: p.MaybeSent, ConfirmedAt: p.ConfirmedAt, At: at0}
		c.Settlement = &ledger.Settlement{At: at0, Action: ledger.CauseResend, From: p.State, To: p.State, Actor: "desk", Reason: fmt.Sprint(n)}
		return c, childOf(p, n), nil
	})
}

// Keeps out F10: two operators press at once and get the same child, or two children under one key.
func TestResend_OrdinalsOf20AtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		parent := sentRow(t, s, 1, "SM1")
		var mu sync.Mutex
		ids := map[uuid.UUID]bool{}
		together(20, 20, func(int) {
			c, err := resend(s, parent.ID)
			if err != nil || c.Duplicate || c.ResendOf != parent.ID {
				t.Errorf("%+v, %v", c, err)
			}
			mu.Lock()
			ids[c.ID] = true
			mu.Unlock()
		})
		got := record(t, s, parent.ID)
		if len(ids) != 20 || len(got.Resends) != 20 || got.Version != parent.Version+20 || got.State != ledger.StateSent {
			t.Fatalf("%d children, %d listed, version %d", len(ids), len(got.Resends), got.Version)
		}
		for i, id := range got.Resends {
			if want := childOf(parent, i+1).DedupeKey; row(t, s, id).DedupeKey != want || got.Settlements[i].Reason != fmt.Sprint(i+1) {
				t.Errorf("resend %d has key %s", i+1, row(t, s, id).DedupeKey)
			}
		}
	})
}

func TestResend_Refusals(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		parent := sentRow(t, s, 1, "SM1")
		if _, err := resend(s, uuid.New()); err != ledger.ErrNotFound {
			t.Fatalf("no parent: %v", err)
		}
		no := &ledger.VersionError{}
		if _, err := s.Resend(parent.ID, func(ledger.Notification, int) (ledger.Change, ledger.Claim, error) {
			return ledger.Change{}, ledger.Claim{}, no
		}); err != no {
			t.Fatalf("got %v, want the decision's own error", err)
		}
		brought := childOf(parent, 1)
		brought.ResendOf = uuid.Nil
		claimed(t, s, brought)
		c, err := resend(s, parent.ID)
		if err != nil || !c.Duplicate || c.ID != brought.ID {
			t.Fatalf("a key that somebody brought before: %+v, %v", c, err)
		}
		if got := row(t, s, parent.ID); got.Version != parent.Version {
			t.Fatalf("the parent moved to version %d", got.Version)
		}
	})
}
