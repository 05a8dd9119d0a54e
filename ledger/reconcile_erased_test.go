package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

// Keeps out the message of an erased row being told as nobody's: the ledger has forgotten to whom it went, not that it was sent.
func TestReconcile_MessagesOfErasedRows(t *testing.T) {
	bubble(t, forADay, func(t *testing.T, r *rig) {
		l, begun := newLister(r), time.Now()
		sent := l.sends(r, "sent", "m1", accepted("m1"))
		l.sends(r, "sent too", "m2", accepted("m2"))
		l.sends(r, "refused, or so it said", "m3", rejected)
		r.advance(time.Minute)
		l.then(rejected) // the newest row
		r.erased(sent)
		count := r.expectFound(l, begun, begun.Add(time.Hour))
		if count.Erased != 3 || count.OfErased != 3 {
			t.Errorf("%+v", count)
		}
		stranger := func(m *ledger.Listed) { m.At, m.Reference = begun, "of another program" }
		l.has("x1", stranger)
		r.expectFound(l, begun, begun.Add(time.Hour), "unknown_here none [x1]")
		l.has("x2", func(m *ledger.Listed) { m.At = begun.Add(50 * time.Minute) }) // none of them was at work then
		r.expectFound(l, begun, begun.Add(time.Hour), "unknown_here none [x1]", "unknown_here none [x2]")
		l.has("x3", func(m *ledger.Listed) { m.At = begun }) // one more than they had attempts
		if count, found, err := r.reconcile(l, begun, begun.Add(time.Hour)); err != nil || len(found) != 3 || count.OfErased != 3 {
			t.Errorf("%q, %+v, %v", found, count, err)
		}
	})
}

// An erased row's message with our reference is its own, in the list or asked for, and leaves no place for another.
func TestReconcile_AReferenceToAnErasedRow(t *testing.T) {
	bubble(t, forADay, func(t *testing.T, r *rig) {
		l, begun := newLister(r), time.Now()
		listed := l.sends(r, "listed", "", lost)
		l.has("m1", func(m *ledger.Listed) { m.Reference = fmt.Sprint(listed.ID, "-1") })
		if _, err := r.act(listed, ledger.Act{Action: ledger.CauseConfirm}); err != nil {
			t.Fatal(err)
		}
		r.advance(5 * time.Minute)
		l.then(rejected) // the newest row
		r.erased(listed)
		if count := r.expectFound(l, begun, begun.Add(time.Hour)); count.OfErased != 1 {
			t.Errorf("%+v", count)
		}
		l.has("x1", func(m *ledger.Listed) { m.At = begun })
		r.expectFound(l, begun, begun.Add(time.Hour), "unknown_here none [x1]")

		l.references = map[string]string{"x1": fmt.Sprint(listed.ID, "-1")}
		if count := r.expectFound(l, begun, begun.Add(time.Hour)); count.OfErased != 2 {
			t.Errorf("%+v", count)
		}
	})
}

// Each erased row accounts for a message of its own time where one can: those that end first take theirs first.
func TestReconcile_ErasedRowsTakeAsManyAsPossible(t *testing.T) {
	bubble(t, forADay, func(t *testing.T, r *rig) {
		l, begun := newLister(r), time.Now()
		long := l.sends(r, "claimed first, settled last", "m1", lost)
		r.advance(20 * time.Minute)
		l.sends(r, "short", "m2", accepted("m2"))
		r.advance(20 * time.Minute)
		if _, err := r.act(long, ledger.Act{Action: ledger.CauseConfirm}); err != nil {
			t.Fatal(err)
		}
		l.then(rejected) // the newest row
		r.erased(long)
		l.list[0].At, l.list[1].At = begun.Add(19*time.Minute+30*time.Second), begun.Add(35*time.Minute)
		r.expectFound(l, begun, begun.Add(time.Hour))
		l.list[0].At = begun.Add(36 * time.Minute) // both are after the short one's end
		r.expectFound(l, begun, begun.Add(time.Hour), "unknown_here none [m1]")
	})
}
