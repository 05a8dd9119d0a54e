package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

// Keeps out a message said to be nobody's while the attempt that sent it is open: it runs, or its process was killed and no other
// has started yet.
func TestReconcile_AnOpenAttempt(t *testing.T) {
	for name, reference := range map[string]bool{"by its reference": true, "by recipient and time": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(r *rig) { r.scripts["a"].timeout = 3 * time.Hour }, func(t *testing.T, r *rig) {
				l, begun := newLister(r), time.Now()
				l.thenDo(hang)
				n := r.claim("e1")
				l.has("m1", func(m *ledger.Listed) {
					if reference {
						m.Reference = fmt.Sprint(n.ID, "-1")
					}
				})
				r.advance(10 * time.Minute)
				r.expect(n, ledger.StateSending, "")
				if count := r.expectFound(l, begun, time.Now()); count.NotYet != 1 {
					t.Errorf("%+v: it runs yet", count)
				}
				r.advance(time.Hour)
				if reference {
					r.expectFound(l, begun, time.Now(), "unsettled_here e1 [m1]")
				} else {
					r.expectFound(l, begun, time.Now(), "unknown_here e1 [m1]")
				}
			})
		})
	}
}
