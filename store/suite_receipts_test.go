package store

import (
	"context"
	"errors"
	"testing"

	"sendonce/ledger"
)

func statsOf(t *testing.T, s ledger.Store) ledger.Stats {
	t.Helper()
	st, err := s.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// A reference is no right: what names a row of another provider, or an attempt that was not made, settles nothing, and is kept.
func TestReceipts_AReferenceCountsOnlyForItsProvider(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := ambiguousRow(t, s, 1)
		others := with(about(n, 1, ledger.Delivered), func(r *ledger.Receipt) { r.Provider = "vonage_main" })
		later := about(n, 2, ledger.Delivered)
		for i, r := range []ledger.Receipt{others, later, with(about(n, 1, ledger.Bounced), func(r *ledger.Receipt) { r.Number = 0 })} {
			if _, matched, err := prove(s, r, neverAsked(t)); matched || err != nil {
				t.Fatalf("receipt %d: matched %v, %v", i, matched, err)
			}
		}
		wantState(t, row(t, s, n.ID), ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if st := statsOf(t, s); st.Receipts != 3 || st.Unmatched != 3 {
			t.Fatalf("%d receipts, %d unmatched", st.Receipts, st.Unmatched)
		}
		// The first one's id of the message is another row's, of that provider: it is about that one.
		m := claimOf(2)
		m.Provider = "vonage_main"
		other := closed(t, s, taken(t, s, claimed(t, s, m)[0]), ledger.Accepted, toSent, "V1")
		byID := with(about(n, 1, ledger.Bounced), func(r *ledger.Receipt) { r.Provider, r.MessageID = "vonage_main", "V1" })
		var told ledger.ProofFacts
		if got, matched, err := prove(s, byID, proves(&told)); err != nil || !matched || got.ID != other.ID || told.ByReference {
			t.Fatalf("matched %v, %v: %+v", matched, err, told)
		}
	})
}

// What waits for a message id is matched when the id turns up, by whatever way.
func TestReceipts_WaitForTheirMessageID(t *testing.T) {
	for name, turnsUp := range map[string]func(t *testing.T, s ledger.Store, n ledger.Notification){
		"with the answer": func(t *testing.T, s ledger.Store, n ledger.Notification) {
			closed(t, s, taken(t, s, n), ledger.Accepted, func(f ledger.CloseFacts) ledger.Change {
				c := toSent(f)
				c.Delivery = f.Highest
				return c
			}, "SM1")
		},
		"with a report that has our reference": func(t *testing.T, s ledger.Store, n ledger.Notification) {
			n = closed(t, s, taken(t, s, n), ledger.Ambiguous, toAmbiguous)
			var told ledger.ProofFacts
			r := with(about(n, 1, ledger.Queued), func(r *ledger.Receipt) { r.MessageID = "SM1" })
			if _, matched, err := prove(s, r, proves(&told)); err != nil || !matched {
				t.Fatal(matched, err)
			}
		},
		"with a person's word": func(t *testing.T, s ledger.Store, n ledger.Notification) {
			n = closed(t, s, taken(t, s, n), ledger.Ambiguous, toAmbiguous)
			settled(t, s, n, ledger.Change{State: ledger.StateSent, Reason: ledger.ReasonConfirmed, ConfirmedAt: at0, MessageID: "SM1"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, open func() ledger.Store) {
				s := open()
				n := claimed(t, s, claimOf(1))[0]
				for _, d := range []ledger.Delivery{ledger.Delivered, ledger.PassedOn} {
					if _, matched, err := prove(s, receiptOf("SM1", d), neverAsked(t)); matched || err != nil {
						t.Fatal(matched, err)
					}
				}
				turnsUp(t, s, n)
				got := record(t, s, n.ID)
				if got.State != ledger.StateSent || got.Delivery != ledger.Delivered || len(got.Receipts) < 2 {
					t.Fatalf("%s, delivery %q, %d receipts", got.State, got.Delivery, len(got.Receipts))
				}
				if st := statsOf(t, s); st.Unmatched != 0 || st.Receipts != int64(len(got.Receipts)) {
					t.Fatalf("%d receipts, %d unmatched", st.Receipts, st.Unmatched)
				}
			})
		})
	}
}

// A message id that two rows have tells neither. Our reference tells, and is counted as such an id.
func TestReceipts_AMessageIDOfTwoRows(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		first, second := sentRow(t, s, 1, "SM1"), ambiguousRow(t, s, 2)
		var told ledger.ProofFacts
		r := with(about(second, 1, ledger.Queued), func(r *ledger.Receipt) { r.MessageID = "SM1" })
		for range 2 {
			if got, matched, err := prove(s, r, proves(&told)); err != nil || !matched || got.ID != second.ID || !told.Shared || !told.ByReference {
				t.Fatalf("matched %v, %v: %+v", matched, err, told)
			}
		}
		if st := statsOf(t, s); st.Shared != 1 {
			t.Errorf("%d shared", st.Shared)
		}
		if _, matched, err := prove(s, receiptOf("SM1", ledger.Delivered), neverAsked(t)); matched || err != nil {
			t.Fatalf("an id of two rows was taken for one of them (%v)", err)
		}
		third := claimed(t, s, claimOf(3))[0]
		closed(t, s, taken(t, s, third), ledger.Accepted, toSent, "SM1")
		for _, n := range []ledger.Notification{first, second, third} {
			if got := row(t, s, n.ID); got.Delivery == ledger.Delivered {
				t.Errorf("row %d took what may be about another", n.Seq)
			}
		}
	})
}

// Many in one commit; what the schema refuses, or decide, spoils no other. (F30)
func TestReceipts_OneBadOneSpoilsNoOther(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := sentRow(t, s, 1, "SM1")
		refusal := errors.New("no")
		list := []ledger.Receipt{receiptOf("SM1", ledger.Queued), with(receiptOf("SM1", "no such word"), func(r *ledger.Receipt) { r.Kind = "x" }),
			{Provider: "twilio_main", ArrivedAt: at0}, receiptOf("SM1", ledger.Bounced), receiptOf("SM1", ledger.Delivered), receiptOf("SM1", ledger.Queued), receiptOf("SM9", ledger.Queued)}
		for range 2 {
			var told ledger.ProofFacts
			out, err := s.Prove(list, func(r ledger.Receipt, n ledger.Notification, f ledger.ProofFacts) (ledger.Change, error) {
				if r.Delivery == ledger.Bounced {
					return ledger.Change{}, refusal
				}
				return proves(&told)(n, f)
			})
			if err != nil || len(out) != len(list) {
				t.Fatal(len(out), err)
			}
			if out[1].Err == nil || out[2].Err == nil || out[0].Err != nil || !out[5].Known || out[6].Matched {
				t.Fatalf("%+v", out)
			}
		}
		got := record(t, s, n.ID)
		if got.Delivery != ledger.Delivered || len(got.Receipts) != 3 {
			t.Fatalf("delivery %q, %d receipts", got.Delivery, len(got.Receipts))
		}
	})
}
