package ledger_test

import (
	"testing"

	"sendonce/ledger"
)

// What the ledger itself costs in memory for a repeat: one that is read and compared, and one that comes in known words. Whoever
// needs more raises the number here, and says why.
func TestAllocations_Repeat(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too; make test runs this without it")
	}
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.claim("e1")
		e := event("e1")
		e.Hash = ledger.EventHash{1}
		read := testing.AllocsPerRun(500, func() {
			if res, err := r.ledger.Claim(t.Context(), e); err != nil || !res.Duplicate {
				t.Fatal(res, err)
			}
		})
		known := testing.AllocsPerRun(500, func() {
			if _, ok := r.ledger.Known(e.Hash, "shop"); !ok {
				t.Fatal("not known")
			}
		})
		if read > 3 || known > 0 {
			t.Errorf("%.0f allocations for a repeat that is read, want at most 3; %.0f for one in known words, want none", read, known)
		}
	})
}
