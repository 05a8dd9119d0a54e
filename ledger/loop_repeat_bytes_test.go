package ledger_test

import (
	"bytes"
	"testing"
	"time"

	"sendonce/ledger"
)

// The bytes are the first attempt's, whatever the adapter would build by now: under another body the key is another request.
func TestRepeat_NotWithAChangedBody(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		n := r.claim("e1")
		r.stop()
		a.suffix = " with another sender" // the settings were changed
		r.start()
		r.advance(10 * time.Second)
		calls := a.of(n)
		if len(calls) < 2 || calls[1].Kind != ledger.KindRepeat {
			t.Fatalf("%d calls", len(calls))
		}
		for _, c := range calls {
			if !bytes.Equal(c.body, calls[0].body) {
				t.Errorf("sent %s", c.body)
			}
		}
	})
}

// A clock that was set back makes the first attempt look young, or lie in the future: nothing is repeated on its word.
func TestRepeat_NotAfterTheClockWasSetBack(t *testing.T) {
	bubble(t, keyed, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		n := r.claim("e1")
		r.advance(45 * time.Minute)
		made := len(a.of(n))
		r.ledger.ShiftWall(-40 * time.Minute) // by the wall the window has just begun
		r.advance(3 * time.Hour)
		r.ledger.ShiftWall(0)
		r.advance(3 * time.Hour)
		if got := len(a.of(n)); got != made {
			t.Errorf("%d requests, then %d", made, got)
		}
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonRepeatAmbiguous)
	})
}
