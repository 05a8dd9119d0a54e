package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"sendonce/ledger"
)

// manyRows makes 24 rows: every third is failed, of the others every fifth is ambiguous and the even ones are sent.
func manyRows(t *testing.T, s ledger.Store) {
	t.Helper()
	for i := 1; i <= 24; i++ {
		c := claimOf(i)
		c.EventID = fmt.Sprintf("evt_%08d", i)
		c.ClaimedAt = after(time.Duration(i) * time.Minute)
		switch i % 4 {
		case 1:
			c.Recipient, c.RecipientKey = "Ada@Example.Test", "ada@example.test"
			c.Channel, c.Provider, c.EventType, c.UserID = ledger.Email, "mail", "", ""
		case 2:
			c.Source = ""
		}
		n := claimed(t, s, c)[0]
		switch {
		case i%3 == 0:
			settled(t, s, closed(t, s, taken(t, s, n), ledger.Ambiguous, toAmbiguous), toFailed())
		case i%5 == 0:
			closed(t, s, taken(t, s, n), ledger.Ambiguous, toAmbiguous)
		case i%2 == 0:
			closed(t, s, taken(t, s, n), ledger.Accepted, toSent, fmt.Sprintf("SM%d", i), "SM-shared")
		case i == 7:
			settled(t, s, n, toHeld(n))
		case i == 11:
			settled(t, s, n, ledger.Change{State: ledger.StateCancelled})
		case i == 13:
			settled(t, s, n, ledger.Change{State: ledger.StateExpired})
		case i == 17:
			taken(t, s, n)
		}
	}
}

func pick(keep func(i int) bool) []int {
	var out []int
	for i := 1; i <= 24; i++ {
		if keep(i) {
			out = append(out, i)
		}
	}
	return out
}

func TestList_FiltersBothWaysAndPageByPage(t *testing.T) {
	empty, shop := "", "shop"
	failed := func(i int) bool { return i%3 == 0 }
	ambiguous := func(i int) bool { return i%3 != 0 && i%5 == 0 }
	sent := func(i int) bool { return !failed(i) && !ambiguous(i) && i%2 == 0 }
	odd := func(i int) bool { return i == 7 || i == 11 || i == 13 || i == 17 }
	free := func(i int) bool { return !failed(i) && !ambiguous(i) && !sent(i) && !odd(i) }
	mail := func(i int) bool { return i%4 == 1 }
	cases := []struct {
		name   string
		filter ledger.Filter
		want   func(i int) bool
	}{
		{"all", ledger.Filter{}, func(int) bool { return true }},
		{"event", ledger.Filter{EventID: "evt_00000005"}, func(i int) bool { return i == 5 }},
		{"key", ledger.Filter{DedupeKey: claimOf(6).DedupeKey}, func(i int) bool { return i == 6 }},
		{"recipient in the form of the key", ledger.Filter{Recipient: "ada@example.test"}, mail},
		{"recipient as written", ledger.Filter{Recipient: "Ada@Example.Test"}, mail},
		{"message id", ledger.Filter{MessageID: "SM4"}, func(i int) bool { return i == 4 }},
		{"message id of many", ledger.Filter{MessageID: "SM-shared"}, sent},
		{"claimed", ledger.Filter{States: []ledger.State{ledger.StateClaimed}}, free},
		{"failed", ledger.Filter{States: []ledger.State{ledger.StateFailed}}, failed},
		{"ambiguous", ledger.Filter{States: []ledger.State{ledger.StateAmbiguous}}, ambiguous},
		{"held", ledger.Filter{States: []ledger.State{ledger.StateHeld}}, func(i int) bool { return i == 7 }},
		{"cancelled", ledger.Filter{States: []ledger.State{ledger.StateCancelled}}, func(i int) bool { return i == 11 }},
		{"expired", ledger.Filter{States: []ledger.State{ledger.StateExpired}}, func(i int) bool { return i == 13 }},
		{"sending", ledger.Filter{States: []ledger.State{ledger.StateSending}}, func(i int) bool { return i == 17 }},
		{"sent", ledger.Filter{States: []ledger.State{ledger.StateSent}}, sent},
		{"all that is not sent", ledger.Filter{States: slices.DeleteFunc(slices.Clone(ledger.States), func(s ledger.State) bool { return s == ledger.StateSent })},
			func(i int) bool { return !sent(i) }},
		{"a state twice", ledger.Filter{States: []ledger.State{ledger.StateFailed, ledger.StateFailed}}, failed},
		{"sent or failed", ledger.Filter{States: []ledger.State{ledger.StateSent, ledger.StateFailed}}, func(i int) bool { return sent(i) || failed(i) }},
		{"failed of a recipient", ledger.Filter{Recipient: "ada@example.test", States: []ledger.State{ledger.StateFailed}}, func(i int) bool { return failed(i) && mail(i) }},
		{"recipient and event", ledger.Filter{Recipient: "ada@example.test", EventID: "evt_00000006"}, func(int) bool { return false }},
		{"message id, event and key", ledger.Filter{MessageID: "SM-shared", EventID: "evt_00000004", DedupeKey: claimOf(4).DedupeKey}, func(i int) bool { return i == 4 }},
		{"channel", ledger.Filter{Channel: ledger.Email}, mail},
		{"provider", ledger.Filter{Provider: "mail"}, mail},
		{"event type", ledger.Filter{EventType: "order.shipped"}, func(i int) bool { return !mail(i) }},
		{"user", ledger.Filter{UserID: "u_17"}, func(i int) bool { return !mail(i) }},
		{"the empty source", ledger.Filter{Source: &empty}, func(i int) bool { return i%4 == 2 }},
		{"a source", ledger.Filter{Source: &shop}, func(i int) bool { return i%4 != 2 }},
		{"a state and a source", ledger.Filter{Source: &empty, States: []ledger.State{ledger.StateFailed}}, func(i int) bool { return failed(i) && i%4 == 2 }},
		{"delivery", ledger.Filter{Delivery: ledger.Delivered}, func(int) bool { return false }},
		{"claimed after and before", ledger.Filter{After: after(5 * time.Minute), Before: after(8 * time.Minute)}, func(i int) bool { return i >= 5 && i < 8 }},
	}
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		manyRows(t, s)
		for _, c := range cases {
			for _, limit := range []int{1, 2, 5, 500} {
				for _, oldest := range []bool{true, false} {
					f := c.filter
					f.Limit, f.Oldest = limit, oldest
					want := pick(c.want)
					if !oldest {
						slices.Reverse(want)
					}
					if got := events(allPages(t, s, f)); !reflect.DeepEqual(got, want) {
						t.Errorf("%s, limit %d, oldest %v: %v, want %v", c.name, limit, oldest, got, want)
					}
				}
			}
		}
	})
}

func allPages(t *testing.T, s ledger.Store, f ledger.Filter) []ledger.Notification {
	t.Helper()
	var all []ledger.Notification
	for range 100 {
		p, err := s.List(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Rows) > f.Limit {
			t.Fatalf("%d rows where %d is the limit", len(p.Rows), f.Limit)
		}
		all = append(all, p.Rows...)
		if p.Next == 0 {
			return all
		}
		f.Cursor = p.Next
	}
	t.Fatal("pages without end")
	return nil
}

func TestList_RefusesAnotherLimit(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		for _, limit := range []int{-1, 0, ledger.MaxList + 1} {
			if _, err := s.List(context.Background(), ledger.Filter{Limit: limit}); err == nil {
				t.Errorf("limit %d was taken", limit)
			}
		}
	})
}

func TestAudit_VisitsEveryRowWithItsHistory(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		manyRows(t, s)
		more := make([]ledger.Claim, 2*auditRows)
		for i := range more {
			more[i] = claimOf(1000 + i)
		}
		claimed(t, s, more...)
		parent := sentRow(t, s, 100, "SM100")
		if _, err := resend(s, parent.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Suppress([]ledger.Suppressed{{Seq: parent.Seq, At: at0, Caller: "shop"}}); err != nil {
			t.Fatal(err)
		}
		var told ledger.ProofFacts
		if _, _, err := prove(s, receiptOf("SM100", ledger.Delivered), proves(&told)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := prove(s, receiptOf("of nobody", ledger.Delivered), neverAsked(t)); err != nil {
			t.Fatal(err)
		}
		last, count := int64(0), 0
		if err := s.Audit(context.Background(), func(r ledger.Record) error {
			if r.Seq <= last {
				t.Errorf("row %d after row %d", r.Seq, last)
			}
			last = r.Seq
			count++
			if want := record(t, s, r.ID); !reflect.DeepEqual(r, want) { // reads while it visits: it holds no transaction
				t.Errorf("\n got %+v\nwant %+v", r, want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if want := 24 + 2*auditRows + 2; count != want {
			t.Fatalf("%d rows were visited, want %d", count, want)
		}
		stop := fmt.Errorf("enough")
		if err := s.Audit(context.Background(), func(ledger.Record) error { return stop }); err != stop {
			t.Fatalf("got %v, want the visitor's error", err)
		}
	})
}

// A row whose message id stands at its attempt and came with a receipt too is one row of a list.
func TestList_ByMessageIDShowsARowOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := taken(t, s, claimed(t, s, claimOf(1))[0])
		closed(t, s, n, ledger.Accepted, toSent, "SM1")
		var told ledger.ProofFacts
		if _, _, err := prove(s, receiptOf("SM1", ledger.Delivered), proves(&told)); err != nil {
			t.Fatal(err)
		}
		if ids := record(t, s, n.ID).MessageIDs; len(ids) != 1 {
			t.Errorf("message ids %v, want one", ids)
		}
		page, err := s.List(context.Background(), ledger.Filter{MessageID: "SM1", Limit: 10})
		if err != nil || len(page.Rows) != 1 {
			t.Errorf("%d rows, want 1 (%v)", len(page.Rows), err)
		}
	})
}
