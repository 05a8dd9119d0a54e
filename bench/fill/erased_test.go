package fill

import (
	"testing"

	"sendonce/ledger"
)

func TestLedger_TheProductFindsNothingWrongWithErasedRows(t *testing.T) {
	const n = 3000
	path, _ := made(t, n, true)
	s := opened(t, path)
	wholeAndCounted(t, s, n)
	if stats, err := s.Stats(t.Context()); err != nil || stats.Erased != n-1 {
		t.Fatalf("the counts say %d erased rows, %v", stats.Erased, err)
	}
}

// An erased row is found by its id and by its key, and says no more than its outcome.
func TestLedger_ErasedRowsAreFound(t *testing.T) {
	path, from := made(t, 50, true)
	s := opened(t, path)
	for _, n := range []int64{1, 36, 37, 49} {
		got, err := s.Get(t.Context(), ID(n, from))
		if err != nil || got.Seq != n || got.State != ledger.StateSent || got.EventID != "" || got.Message != nil {
			t.Errorf("row %d: %+v, %v", n, got, err)
		}
		c := ledger.Claim{Notification: ledger.Notification{DedupeKey: string(appendKey(nil, []byte(EventID(n)), appendRecipient(nil, n))), Recipe: "event"}}
		if got, found, err := s.Prior(t.Context(), c); !found || err != nil || got.Seq != n {
			t.Errorf("row %d by its key: %+v, %v, %v", n, got, found, err)
		}
	}
}
