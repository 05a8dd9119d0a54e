package store

import (
	"reflect"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestErase_WhatComesLater(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := settled(t, s, ambiguousRow(t, s, 1), toFailed())
		claimed(t, s, claimOf(2))
		if before := statsOf(t, s); before.MaybeSent != 1 || erase(t, s) != 1 {
			t.Fatalf("%+v", before)
		}
		got := row(t, s, n.ID)
		if !got.MaybeSent || got.Reason != ledger.ReasonAbandoned || statsOf(t, s).MaybeSent != 0 {
			t.Fatalf("%+v", got)
		}
		// Repeats are counted, not listed.
		counted, err := s.Suppress([]ledger.Suppressed{{Seq: n.Seq, At: longAgo, Caller: "shop", Count: 3}})
		if err != nil || !reflect.DeepEqual(counted, []ledger.Counted{{Seq: n.Seq, Count: 3, At: longAgo}}) {
			t.Fatalf("%+v, %v", counted, err)
		}
		if r := record(t, s, n.ID); r.Duplicates != 3 || !r.DuplicateAt.Equal(longAgo) || r.Suppressed != nil || statsOf(t, s).Duplicates != 3 {
			t.Fatalf("%+v", r)
		}
		// A report finds nothing that it could be about, whatever it names, and ages out.
		r := with(about(n, 1, ledger.Delivered), func(r *ledger.Receipt) { r.ArrivedAt = longAgo })
		if _, matched, err := prove(s, r, neverAsked(t)); matched || err != nil {
			t.Fatal(matched, err)
		}
		// Who decides about it sees that it is erased; what he decides is not done.
		if _, err := s.Settle(n.ID, func(n ledger.Notification) (ledger.Change, error) {
			if !n.Erased() || !n.ContentGone() {
				t.Errorf("decided about %+v", n)
			}
			return toClaimed(at0), nil
		}); err == nil {
			t.Error("an erased row was settled")
		}
		if _, err := resend(s, n.ID); err == nil {
			t.Error("an erased row was resent")
		}
		if after := row(t, s, n.ID); after.State != ledger.StateFailed || after.Version != got.Version {
			t.Fatalf("%+v", after)
		}
	})
}

func TestAgeOut_DeletesWhatFoundNoRow(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		fullRow(t, s, 1)
		for i, id := range []string{"SM7", "SM8", "SM9"} {
			r := with(receiptOf(id, ledger.Delivered), func(r *ledger.Receipt) { r.ArrivedAt = after(time.Duration(i) * time.Hour) })
			if _, matched, err := prove(s, r, neverAsked(t)); matched || err != nil {
				t.Fatal(matched, err)
			}
		}
		for _, step := range []struct{ limit, want, left int }{{1, 1, 2}, {10, 1, 1}, {10, 0, 1}} {
			n, err := s.AgeOut(after(90*time.Minute), step.limit)
			if st := statsOf(t, s); err != nil || n != step.want || st.Unmatched != int64(step.left) || st.Receipts != int64(step.left+1) {
				t.Fatalf("%d of %d (%v), %+v", n, step.want, err, st)
			}
		}
	})
}
