package store

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// longAgo is a time after everything that the rows of a test did.
var longAgo = after(time.Hour)

// erase erases whatever may be and returns how many rows that were.
func erase(t testing.TB, s ledger.Store) (n int) {
	t.Helper()
	q := ledger.OldQuery{Before: longAgo, Limit: 3}
	for {
		old, err := s.Old(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Erase(old.Families, longAgo, after(24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		n += len(rows)
		if q.After = old.Last; old.End || !old.Next.IsZero() {
			return n
		}
	}
}

// fullRow is a sent row with all that a row can have.
func fullRow(t testing.TB, s ledger.Store, i int) ledger.Notification {
	t.Helper()
	n := taken(t, s, claimed(t, s, claimOf(i))[0])
	n = closed(t, s, n, ledger.Accepted, toSent, "SM1", "SM2")
	n = settled(t, s, n, ledger.Change{State: n.State, ConfirmedAt: at0})
	var told ledger.ProofFacts
	if _, matched, err := prove(s, receiptOf("SM1", ledger.Delivered), proves(&told)); err != nil || !matched {
		t.Fatal(matched, err)
	}
	if _, err := s.Suppress([]ledger.Suppressed{{Seq: n.Seq, At: at0, Caller: "shop"}}); err != nil {
		t.Fatal(err)
	}
	return row(t, s, n.ID)
}

func TestErase_LeavesKeyOutcomeAndTimes(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := fullRow(t, s, 1)
		claimed(t, s, claimOf(2))
		if got := erase(t, s); got != 1 {
			t.Fatalf("%d rows were erased", got)
		}
		want := ledger.Record{Notification: ledger.Notification{
			Seq: n.Seq, ID: n.ID, Source: n.Source, DedupeKey: n.DedupeKey, Recipe: n.Recipe, Channel: n.Channel, State: ledger.StateSent, Reason: n.Reason,
			Delivery: ledger.Delivered, AttemptCount: 1, Version: n.Version + 1, Duplicates: 1, DuplicateAt: at0, ClaimedAt: at0, ConfirmedAt: at0,
			UpdatedAt: n.UpdatedAt, ErasedAt: after(24 * time.Hour),
		}}
		for range 2 { // the second time after a restart
			if got := record(t, s, n.ID); !reflect.DeepEqual(got, want) {
				t.Fatalf("\n got %+v\nwant %+v", got, want)
			}
			again, err := s.Claim([]ledger.Claim{claimOf(1), claimOf(2)})
			if err != nil || !again[0].Duplicate || !reflect.DeepEqual(again[0].Notification, want.Notification) || again[1].ErasedAt != (time.Time{}) {
				t.Fatalf("claimed again: %+v, %v", again, err)
			}
			if got, found, err := s.Prior(t.Context(), claimOf(1)); err != nil || !found || !reflect.DeepEqual(got, want.Notification) {
				t.Fatalf("found %v, %v: %+v", found, err, got)
			}
			st := statsOf(t, s)
			if st.Notifications != 2 || st.Erased != 1 || st.States[ledger.StateSent] != 0 || st.Receipts != 0 || st.Duplicates != 1 {
				t.Fatalf("%+v", st)
			}
			s = open()
		}
	})
}

// A row that was erased is found by its key alone: nobody can say any more whose it was.
func TestErase_ListsShowItByItsKeyOnly(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := fullRow(t, s, 1)
		other := claimOf(2)
		other.DedupeKey, other.Source = n.DedupeKey, "crm" // the same key in another source is another row
		whole := claimed(t, s, other)[0]
		if erase(t, s) != 1 {
			t.Fatal("nothing was erased")
		}
		shop := "shop"
		key := ledger.Filter{DedupeKey: n.DedupeKey}
		for name, c := range map[string]struct {
			filter func(*ledger.Filter)
			want   []int64
		}{
			"key":                     {func(f *ledger.Filter) {}, []int64{whole.Seq, n.Seq}},
			"key, oldest first":       {func(f *ledger.Filter) { f.Oldest = true }, []int64{n.Seq, whole.Seq}},
			"key, second page":        {func(f *ledger.Filter) { f.Cursor = whole.Seq }, []int64{n.Seq}},
			"key and source":          {func(f *ledger.Filter) { f.Source = &shop }, []int64{n.Seq}},
			"key and state":           {func(f *ledger.Filter) { f.States = []ledger.State{ledger.StateSent} }, []int64{n.Seq}},
			"key and another state":   {func(f *ledger.Filter) { f.States = []ledger.State{ledger.StateFailed} }, nil},
			"key and claimed after":   {func(f *ledger.Filter) { f.After = after(time.Minute) }, nil},
			"key and event":           {func(f *ledger.Filter) { f.EventID = n.EventID }, nil},
			"event":                   {func(f *ledger.Filter) { *f = ledger.Filter{EventID: n.EventID} }, nil},
			"recipient":               {func(f *ledger.Filter) { *f = ledger.Filter{Recipient: n.Recipient} }, []int64{whole.Seq}},
			"message id":              {func(f *ledger.Filter) { *f = ledger.Filter{MessageID: "SM1"} }, nil},
			"message id of a part":    {func(f *ledger.Filter) { *f = ledger.Filter{MessageID: "SM2"} }, nil},
			"everything":              {func(f *ledger.Filter) { *f = ledger.Filter{} }, []int64{whole.Seq}},
			"everything that is sent": {func(f *ledger.Filter) { *f = ledger.Filter{States: []ledger.State{ledger.StateSent}} }, nil},
		} {
			f := key
			c.filter(&f)
			for _, f.Limit = range []int{1, 10} {
				var got []int64
				for _, n := range allPages(t, s, f) {
					got = append(got, n.Seq)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s, %d a page: rows %v, want %v", name, f.Limit, got, c.want)
				}
			}
		}
	})
}

// What may still be sent, asked about or proven stays whole, and so does what changed lately.
func TestErase_LeavesWhatDidNotEndLongAgo(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		claimed(t, s, claimOf(1))
		settled(t, s, claimed(t, s, claimOf(2))[0], toHeld(claimOf(2).Notification))
		ambiguousRow(t, s, 3)
		taken(t, s, claimed(t, s, claimOf(4))[0])
		lately := ambiguousRow(t, s, 5)
		if _, err := s.Settle(lately.ID, func(ledger.Notification) (ledger.Change, error) {
			c := toFailed()
			c.At = longAgo.Add(time.Millisecond)
			return c, nil
		}); err != nil {
			t.Fatal(err)
		}
		reported := sentRow(t, s, 6, "SM1")
		r := with(receiptOf("SM1", ledger.NoDelivery), func(r *ledger.Receipt) { r.ArrivedAt = longAgo.Add(time.Millisecond) })
		if got, matched, err := prove(s, r, func(ledger.Notification, ledger.ProofFacts) (ledger.Change, error) {
			return ledger.Change{}, nil
		}); err != nil || !matched || got.UpdatedAt.After(at0) {
			t.Fatal(matched, err)
		}
		sentRow(t, s, 7, "SM2") // the newest of all
		if n := erase(t, s); n != 0 {
			t.Fatalf("%d rows were erased", n)
		}
		young := claimOf(8)
		young.ClaimedAt, young.UpdatedAt = after(2*time.Hour), after(2*time.Hour)
		claimed(t, s, young)
		if n := erase(t, s); n != 1 || !row(t, s, reported.ID).ErasedAt.IsZero() {
			t.Fatalf("%d rows were erased, or the one that was reported on", n)
		}
		old, err := s.Old(t.Context(), ledger.OldQuery{Before: longAgo, Limit: 10})
		if err != nil || !old.Next.Equal(young.ClaimedAt) || old.End {
			t.Fatalf("%+v, %v", old, err)
		}
	})
}

// Rows and their resends tell of each other, so they go together.
func TestErase_AFamilyGoesAsOne(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		parent := sentRow(t, s, 1, "SM1")
		child, err := resend(s, parent.ID)
		if err != nil {
			t.Fatal(err)
		}
		closed(t, s, taken(t, s, child.Notification), ledger.Accepted, toSent, "SM2")
		c := childOf(parent, 99)
		grandchild, err := s.Resend(child.ID, func(p ledger.Notification, n int) (ledger.Change, ledger.Claim, error) {
			return ledger.Change{State: p.State, ConfirmedAt: p.ConfirmedAt, At: at0}, c, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sentRow(t, s, 3, "SM3")
		claimed(t, s, claimOf(4))
		if n := erase(t, s); n != 1 {
			t.Fatalf("%d rows were erased while a resend is on its way", n)
		}
		family := ledger.Family{parent.Seq, child.Seq, grandchild.Seq}
		if rows, err := s.Erase([]ledger.Family{family}, longAgo, longAgo); err != nil || len(rows) != 0 {
			t.Fatalf("%v, %v: the last of them has not ended", rows, err)
		}
		closed(t, s, taken(t, s, grandchild.Notification), ledger.Accepted, toSent, "SM4")
		if n := erase(t, s); n != 3 {
			t.Fatalf("%d rows were erased", n)
		}
		for _, id := range []uuid.UUID{parent.ID, child.ID, grandchild.ID} {
			if got := record(t, s, id); !got.Erased() || got.Resends != nil || got.ResendOf != uuid.Nil {
				t.Errorf("%+v", got)
			}
		}
	})
}
