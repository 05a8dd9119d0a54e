package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

// Receipts of two messages come while the second is on its way: however that ends, the ledger counts both, once, in any order, and
// notes them in the row's history. A later report of either says nothing new.
func TestReceive_OfBothWhileTheSecondIsSent(t *testing.T) {
	for name, result := range map[string]ledger.Result{"accepted": accepted("m2"), "lost": lost, "rejected": rejected, "deferred": deferred} {
		for _, order := range [][]int{{1, 2}, {2, 1}} {
			t.Run(fmt.Sprint(name, " ", order), func(t *testing.T) {
				bubble(t, reports, func(t *testing.T, r *rig) {
					n := r.sendingAgain(result)
					for _, number := range order {
						r.receive(receipt(n, number, "delivered", ledger.Delivered))
					}
					r.advance(5 * time.Hour)
					r.provenTwice(n)
				})
			})
		}
	}
}

// The same, and the process ends during the second attempt.
func TestReceive_OfBothBeforeTheProcessEnded(t *testing.T) {
	bubble(t, reports, func(t *testing.T, r *rig) {
		n := r.sendingAgain(lost)
		r.receive(receipt(n, 1, "delivered", ledger.Delivered), receipt(n, 2, "delivered", ledger.Delivered))
		crashed := r.path + ".crashed"
		copyLedger(t, r.path, crashed)
		r.stop()
		r.path = crashed
		r.start()
		r.provenTwice(n)
	})
}

// Receipts of one message under two of its numbers are of one message.
func TestReceive_OfARepeatWhileItIsSent(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.scripts["a"].thenDo(after(10*time.Second, lost))
		r.advance(6 * time.Second)
		r.expect(n, ledger.StateSending, "")
		r.prove(receipt(n, 1, "delivered", ledger.Delivered))
		r.prove(receipt(n, 2, "delivered", ledger.Delivered))
		r.advance(5 * time.Hour)
		if rec := r.expect(n, ledger.StateSent, ledger.ReasonProof); len(rec.Settlements) != 0 || r.stats().ProvenTwice != 0 {
			t.Errorf("%d proven duplicates, settlements %+v", r.stats().ProvenTwice, rec.Settlements)
		}
	})
}

// sendingAgain is a row whose first answer is lost, and whose second attempt, which a person released, ends so in a second.
func (r *rig) sendingAgain(result ledger.Result) ledger.Notification {
	r.t.Helper()
	r.scripts["a"].then(lost)
	n := r.claim("e1")
	r.scripts["a"].thenDo(after(time.Second, result))
	r.release(n)
	r.expect(n, ledger.StateSending, "")
	return n
}

func (r *rig) provenTwice(n ledger.Notification) {
	r.t.Helper()
	for range 2 {
		rec, noted := r.row(n), 0
		for _, s := range rec.Settlements {
			if s.Action == ledger.CauseProof && s.From == ledger.StateSent {
				noted++
			}
		}
		if rec.State != ledger.StateSent || noted != 1 || r.stats().ProvenTwice != 1 {
			r.t.Fatalf("%s (%s), %d noted and %d counted", rec.State, rec.Reason, noted, r.stats().ProvenTwice)
		}
		r.receive(receipt(n, 1, "read", ledger.NoDelivery), receipt(n, 2, "read", ledger.NoDelivery))
	}
}
