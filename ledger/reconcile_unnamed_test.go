package ledger_test

import (
	"testing"
	"time"
)

// Keeps out a message said to be nobody's, or perhaps another row's, whose own row is sent: it was accepted, and its id was lost with
// the rest of the answer.
func TestReconcile_AcceptedWithoutAnID(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		l := newLister(r)
		r.advance(time.Hour)
		l.sends(r, "before", "m0", accepted(""))
		r.advance(time.Second)
		l.list[0].At, l.list[0].Status = time.Now(), "its clock is ahead"
		begun := time.Now()
		l.sends(r, "sent", "m1", accepted(""))
		l.sends(r, "lost, and never there", "", lost)
		r.advance(time.Hour)
		r.expectFound(l, begun, time.Now())
		r.advance(time.Hour)
		begun = time.Now()
		l.sends(r, "lost, and there", "m2", lost)
		r.advance(10 * time.Second)
		l.sends(r, "sent too", "m3", accepted(""))
		l.has("m4")
		r.advance(time.Hour)
		r.expectFound(l, begun, time.Now(), "unknown_here lost, and there [m2]", "unknown_here none [m4]")
	})
}
