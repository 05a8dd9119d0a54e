package console

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"sendonce/ledger"
)

// raced is a ledger whose rows somebody else decides about between the count and the decision.
type raced struct {
	*ledger.Ledger
	changed int64 // that were left
}

func (l raced) SettleMany(context.Context, ledger.Bulk) (ledger.BulkResult, error) {
	return ledger.BulkResult{Matched: 3, Changed: l.changed, Skipped: 3 - l.changed}, nil
}

// Of two who decide about the same rows at once, the one who changed none is not told that he decided.
func TestBulk_SomebodyWasFaster(t *testing.T) {
	r := newRig(t)
	form := url.Values{"state": {"ambiguous"}, "action": {"abandon"}, "reason": {"too late"}, "expected_count": {"3"}}
	for changed, want := range map[int64]string{0: "<h1>Somebody was faster</h1>", 1: "<h1>Decided</h1>"} {
		r.console.ledger = raced{r.ledger, changed}
		w := r.as("operator").post("/waiting/settle", form)
		if w.Code != http.StatusOK {
			t.Errorf("%d", w.Code)
		}
		has(t, w, want, "of 3 rows changed", "had moved meanwhile")
		if changed == 0 {
			hasNot(t, w, "flash good")
		}
	}
}
