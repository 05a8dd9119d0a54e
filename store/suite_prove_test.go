package store

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"sendonce/ledger"
)

// receiptOf is a report about a message id.
func receiptOf(messageID string, d ledger.Delivery) ledger.Receipt {
	key := messageID + ":" + string(d)
	return ledger.Receipt{Provider: "twilio_main", EventKey: "event-" + key, FactKey: key, MessageID: messageID, Kind: string(d), Delivery: d,
		Code: "E1", ProviderAt: at0, ArrivedAt: at0, Body: []byte(`{"status":1}`)}
}

// about is a report with our own reference.
func about(n ledger.Notification, number int, d ledger.Delivery) ledger.Receipt {
	r := receiptOf("", d)
	r.ID, r.Number = n.ID, number
	r.EventKey += fmt.Sprint(n.Seq, number)
	r.FactKey += fmt.Sprint(n.Seq, number)
	return r
}

type proof = func(ledger.Notification, ledger.ProofFacts) (ledger.Change, error)

// prove stores one receipt.
func prove(s ledger.Store, r ledger.Receipt, decide proof) (n ledger.Notification, matched bool, err error) {
	list, err := s.Prove([]ledger.Receipt{r}, func(_ ledger.Receipt, n ledger.Notification, f ledger.ProofFacts) (ledger.Change, error) {
		return decide(n, f)
	})
	if err != nil {
		return n, false, err
	}
	return list[0].Notification, list[0].Matched, list[0].Err
}

func neverAsked(t *testing.T) proof {
	return func(ledger.Notification, ledger.ProofFacts) (ledger.Change, error) {
		t.Helper()
		t.Error("decide was asked")
		return ledger.Change{}, nil
	}
}

// proves is what a proof does as a rule. It notes what it was told.
func proves(told *ledger.ProofFacts) proof {
	return func(n ledger.Notification, f ledger.ProofFacts) (ledger.Change, error) {
		*told = f
		return ledger.Change{State: ledger.StateSent, Reason: ledger.ReasonProof, ConfirmedAt: at0, At: at0, Delivery: f.Highest,
			Settlement: &ledger.Settlement{At: at0, Action: ledger.CauseProof, From: n.State, To: ledger.StateSent, Actor: "provider:twilio_main"}}, nil
	}
}

// closeWithProof is what a close does as a rule.
func closeWithProof(told *ledger.CloseFacts) func(ledger.CloseFacts) ledger.Change {
	return func(f ledger.CloseFacts) ledger.Change {
		*told = f
		if len(f.Proven) > 0 {
			return ledger.Change{State: ledger.StateSent, Reason: ledger.ReasonProof, ConfirmedAt: at0, At: at0, Delivery: f.Highest}
		}
		return toAmbiguous(f)
	}
}

// Keeps out F12: a proof that comes at an unlucky moment leaves its row unknown for ever.
func TestProve_InEveryOrder(t *testing.T) {
	type step func(t *testing.T, s ledger.Store, n ledger.Notification) ledger.Notification
	closing := func(ids ...string) step {
		return func(t *testing.T, s ledger.Store, n ledger.Notification) ledger.Notification {
			var told ledger.CloseFacts
			return closed(t, s, row(t, s, n.ID), ledger.Ambiguous, closeWithProof(&told), ids...)
		}
	}
	report := func(r func(n ledger.Notification) ledger.Receipt) step {
		return func(t *testing.T, s ledger.Store, n ledger.Notification) ledger.Notification {
			var told ledger.ProofFacts
			if _, _, err := prove(s, r(n), proves(&told)); err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	byReference := report(func(n ledger.Notification) ledger.Receipt { return about(n, 1, ledger.Undelivered) })
	byID := report(func(ledger.Notification) ledger.Receipt { return receiptOf("SM1", ledger.Undelivered) })
	for name, steps := range map[string][]step{
		"by reference, before the close": {byReference, closing()},
		"by reference, after the close":  {closing(), byReference},
		"by id, before the close":        {byID, closing("SM1")},
		"by id, after the close":         {closing("SM1"), byID},
		"by the second id of a long one": {byID, closing("SM0", "SM1")},
		"both, before the close":         {byID, byReference, closing("SM1")},
		"one before and one after":       {byReference, closing("SM1"), byID},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, open func() ledger.Store) {
				s := open()
				n := taken(t, s, claimed(t, s, claimOf(1))[0])
				for _, do := range steps {
					do(t, s, n)
				}
				got := record(t, s, n.ID)
				wantState(t, got.Notification, ledger.StateSent, ledger.ReasonProof)
				if got.MaybeSent || got.Delivery != ledger.Undelivered || len(got.Receipts) == 0 {
					t.Fatalf("%+v", got)
				}
				for _, r := range got.Receipts {
					if r.Number != 1 || r.ID != n.ID {
						t.Errorf("a receipt of attempt %d of %s", r.Number, r.ID)
					}
				}
			})
		})
	}
}

func TestProve_WaitsWhileTheRowIsSending(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := taken(t, s, claimed(t, s, claimOf(1))[0])
		got, matched, err := prove(s, about(n, 1, ledger.Delivered), neverAsked(t))
		if err != nil || !matched || !reflect.DeepEqual(got, n) {
			t.Fatalf("matched %v, %v: %+v", matched, err, got)
		}
		s = open() // a restart closes the attempt, and the proof counts
		moved, err := s.Recover(at0, false, expiry)
		if err != nil || moved != 1 {
			t.Fatal(moved, err)
		}
		r := record(t, s, n.ID)
		wantState(t, r.Notification, ledger.StateSent, ledger.ReasonProof)
		if r.Delivery != ledger.Delivered || r.MaybeSent || len(r.Settlements) != 1 || r.Attempts[0].Outcome != ledger.Ambiguous {
			t.Fatalf("%+v", r)
		}
	})
}

func TestProve_StoresAReceiptOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := sentRow(t, s, 1, "SM1")
		first := receiptOf("SM1", ledger.Delivered)
		sameFact := with(first, func(r *ledger.Receipt) { r.EventKey = "posted again under another id" })
		sameEvent := with(first, func(r *ledger.Receipt) { r.FactKey = "another fact" })
		for i, r := range []ledger.Receipt{first, first, sameFact, sameEvent} {
			var told ledger.ProofFacts
			decide := proves(&told)
			if i > 0 {
				decide = neverAsked(t)
			}
			if _, matched, err := prove(s, r, decide); err != nil || !matched {
				t.Fatalf("receipt %d: matched %v, %v", i, matched, err)
			}
		}
		want := with(first, func(r *ledger.Receipt) { r.ID, r.Number = n.ID, 1 })
		if got := record(t, s, n.ID).Receipts; len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Fatalf("\n got %+v\nwant %+v", got, want)
		}
	})
}

func TestProve_AnUnmatchedReportMeetsItsRowWhenPostedAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		r := receiptOf("SM1", ledger.Delivered)
		if _, matched, err := prove(s, r, neverAsked(t)); matched || err != nil {
			t.Fatal(matched, err)
		}
		n := ambiguousRow(t, s, 1)
		r.ID, r.Number = n.ID, 1
		var told ledger.ProofFacts
		got, matched, err := prove(s, r, proves(&told))
		if err != nil || !matched {
			t.Fatalf("matched %v, %v", matched, err)
		}
		wantState(t, got, ledger.StateSent, ledger.ReasonProof)
	})
}

func TestProve_TheHighestDeliveryWins(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := sentRow(t, s, 1, "SM1")
		for _, d := range []ledger.Delivery{ledger.PassedOn, ledger.Bounced, ledger.Delivered, ledger.Queued, ledger.NoDelivery} {
			var told ledger.ProofFacts
			if _, _, err := prove(s, receiptOf("SM1", d), proves(&told)); err != nil {
				t.Fatal(err)
			}
		}
		if got := row(t, s, n.ID); got.Delivery != ledger.Bounced {
			t.Fatalf("got %s", got.Delivery)
		}
	})
}

func TestProve_CountsAProvenDuplicate(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := ambiguousRow(t, s, 1)
		n = settled(t, s, n, toClaimed(at0)) // released: so send it again
		n = closed(t, s, taken(t, s, n), ledger.Accepted, toSent, "SM2")
		var told ledger.ProofFacts
		if _, _, err := prove(s, about(n, 1, ledger.Delivered), proves(&told)); err != nil {
			t.Fatal(err)
		}
		if len(told.Proven) != 0 || told.Number != 1 || len(told.Attempts) != 2 || told.Attempts[0].Outcome != ledger.Ambiguous || told.Attempts[1].Outcome != ledger.Accepted {
			t.Fatalf("%+v", told)
		}
		if st, err := s.Stats(context.Background()); err != nil || st.ProvenTwice != 1 {
			t.Fatalf("%d proven twice (%v)", st.ProvenTwice, err)
		}
	})
}

func TestProve_AReferenceToNoAttemptIsNoProof(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := ambiguousRow(t, s, 1)
		if _, matched, err := prove(s, about(n, 2, ledger.Delivered), neverAsked(t)); matched || err != nil {
			t.Fatal(matched, err)
		}
		if _, _, err := prove(s, ledger.Receipt{Provider: "twilio_main", ArrivedAt: at0}, neverAsked(t)); err == nil {
			t.Fatal("a receipt without a key was stored")
		}
	})
}
