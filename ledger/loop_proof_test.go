package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// receipt is a verified report about an attempt, by our own reference.
func receipt(n ledger.Notification, number int, kind string, d ledger.Delivery) ledger.Receipt {
	return ledger.Receipt{
		Provider: "a", EventKey: fmt.Sprintf("%s-%d-%s", n.ID, number, kind), FactKey: fmt.Sprintf("fact-%s-%d-%s", n.ID, number, kind),
		ID: n.ID, Number: number, Kind: kind, Delivery: d, Body: []byte(kind),
	}
}

func (r *rig) prove(rc ledger.Receipt) {
	r.t.Helper()
	if _, err := r.ledger.Prove(context.Background(), rc); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

// F12: a lost answer is settled by what comes later, and no report ever causes a send.
func TestProof_SettlesALostAnswer(t *testing.T) {
	for _, d := range []ledger.Delivery{ledger.Delivered, ledger.Undelivered, ledger.Bounced, ledger.NoDelivery} {
		t.Run(string(d), func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.scripts["a"].then(lost)
				n := r.claim("e1")
				r.advance(time.Hour)
				r.prove(receipt(n, 1, "report", d))
				rec := r.expect(n, ledger.StateSent, ledger.ReasonProof)
				if rec.MaybeSent || rec.Delivery != d || rec.ConfirmedAt.IsZero() || rec.NextAction != ledger.DoNothing {
					t.Errorf("row %+v", rec.Notification)
				}
				version := rec.Version
				for range 46 { // F27
					r.prove(receipt(n, 1, "report", d))
				}
				r.advance(5 * time.Hour)
				if rec := r.expect(n, ledger.StateSent, ledger.ReasonProof); rec.Version != version || len(rec.Receipts) != 1 || len(rec.Settlements) != 1 {
					t.Errorf("version %d, %d receipts, %d settlements after the same report came again", rec.Version, len(rec.Receipts), len(rec.Settlements))
				}
				if got := len(r.scripts["a"].sent()); got != 1 {
					t.Errorf("%d requests", got)
				}
			})
		})
	}
}

func TestProof_PersonReleasesALostAnswer(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.scripts["a"].then(accepted("m2"))
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease}); !errors.Is(err, ledger.ErrIfMatch) {
			t.Fatalf("release without If-Match: %v", err)
		}
		version := r.row(n).Version
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: version}); err != nil {
			t.Fatal(err)
		}
		rec := r.expect(n, ledger.StateSent, "")
		if rec.AttemptCount != 2 || rec.MaybeSent || rec.Settlements[0].Actor != "ops" {
			t.Errorf("row %+v", rec.Notification)
		}
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: version}); err == nil {
			t.Error("the second click with the old version passed")
		}
		r.prove(receipt(n, 1, "delivered", ledger.Delivered)) // so the person was wrong: two messages went out
		r.prove(receipt(n, 1, "read", ledger.NoDelivery))
		if st, err := r.ledger.Stats(context.Background()); err != nil || st.ProvenTwice != 1 {
			t.Errorf("%d proven duplicates (%v), want 1", st.ProvenTwice, err)
		}
	})
}

// F28: a report that comes before the answer waits for it, whatever the answer then says.
func TestProof_WhileSending(t *testing.T) {
	for name, c := range map[string]struct {
		result ledger.Result
		reason ledger.Reason
	}{
		"accepted": {accepted("m1"), ""}, "rejected": {rejected, ledger.ReasonProof}, "deferred": {deferred, ledger.ReasonProof},
		"lost": {lost, ledger.ReasonProof}, "unreachable": {unreachable, ledger.ReasonProof},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.scripts["a"].thenDo(after(time.Second, c.result))
				n := r.claim("e1")
				r.prove(receipt(n, 1, "delivered", ledger.Delivered))
				r.expect(n, ledger.StateSending, "")
				r.advance(time.Hour)
				if rec := r.expect(n, ledger.StateSent, c.reason); rec.Delivery != ledger.Delivered || rec.AttemptCount != 1 {
					t.Errorf("row %+v", rec.Notification)
				}
			})
		})
	}
}

// A report about a lost first message comes while the second one, which a person released, is on its way.
func TestProof_OfTheFirstWhileTheSecondIsSent(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.scripts["a"].thenDo(after(time.Second, accepted("m2")))
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(n).Version}); err != nil {
			t.Fatal(err)
		}
		r.prove(receipt(n, 1, "delivered", ledger.Delivered))
		r.advance(2 * time.Second)
		r.expect(n, ledger.StateSent, "")
		if st, err := r.ledger.Stats(context.Background()); err != nil || st.ProvenTwice != 1 {
			t.Errorf("%d proven duplicates (%v): both messages are known to have gone out", st.ProvenTwice, err)
		}
	})
}

// The reports of a repeat come under the reference of the attempt whose bytes it sent: that is one message.
func TestProof_OfARepeatIsNoDuplicate(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.scripts["a"].then(accepted(""))
		r.advance(6 * time.Second)
		r.expect(n, ledger.StateSent, "")
		r.prove(receipt(n, 1, "delivered", ledger.Delivered))
		if st, err := r.ledger.Stats(context.Background()); err != nil || st.ProvenTwice != 0 {
			t.Errorf("%d proven duplicates (%v)", st.ProvenTwice, err)
		}
	})
}

// So do those of a retry that had to send the first attempt's bytes.
func TestProof_OfARetryWithTheSameBytesIsNoDuplicate(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		r.scripts["a"].then(throttled(time.Second))
		n := r.claim("e1")
		r.scripts["a"].then(accepted(""))
		r.advance(6 * time.Second)
		r.expect(n, ledger.StateSent, "")
		r.prove(receipt(n, 1, "delivered", ledger.Delivered))
		if st, err := r.ledger.Stats(context.Background()); err != nil || st.ProvenTwice != 0 {
			t.Errorf("%d proven duplicates (%v)", st.ProvenTwice, err)
		}
	})
}

func TestProof_BeforeItsMessageIDIsKnown(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		early := ledger.Receipt{Provider: "a", EventKey: "ev1", MessageID: "m1", Kind: "delivered", Delivery: ledger.Delivered}
		if _, err := r.ledger.Prove(context.Background(), early); !errors.Is(err, ledger.ErrNotFound) {
			t.Fatalf("a report about nothing known: %v", err)
		}
		r.scripts["a"].then(accepted("m1"))
		n := r.claim("e1")
		if rec := r.expect(n, ledger.StateSent, ""); rec.Delivery != ledger.Delivered || len(rec.Receipts) != 1 {
			t.Errorf("delivery %q, %d receipts", rec.Delivery, len(rec.Receipts))
		}
	})
}

func TestProof_HighestDeliveryWins(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(accepted("m1"))
		n := r.claim("e1")
		version := r.row(n).Version
		for i, d := range []ledger.Delivery{ledger.Delivered, ledger.Queued, ledger.Delayed, ledger.Undelivered, ledger.Complained, ledger.Bounced} {
			r.prove(receipt(n, 1, fmt.Sprint("report", i), d))
		}
		if rec := r.row(n); rec.Delivery != ledger.Complained || rec.Version != version {
			t.Errorf("delivery %s, version %d, want complained and %d", rec.Delivery, rec.Version, version)
		}
	})
}
