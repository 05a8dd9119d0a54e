package ledger_test

import (
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// What the schema refuses cannot be written however often it is tried, and meanwhile nobody is sent anything.
func TestLoop_ResultThatNoRowCanHoldStopsNobody(t *testing.T) {
	for name, odd := range map[string]ledger.Result{
		"reason":                  {Outcome: ledger.Ambiguous, Phase: ledger.Answered, Reason: "on_holiday"},
		"reason of another state": {Outcome: ledger.Ambiguous, Phase: ledger.Answered, Reason: ledger.ReasonRejected},
		"phase":                   {Outcome: ledger.Accepted, Phase: "half"},
		"outcome":                 {Outcome: 9, Phase: ledger.Answered},
		"partial and deferred":    {Outcome: ledger.Deferred, Phase: ledger.Answered, Reason: ledger.ReasonPartial, MessageIDs: []string{"m1"}},
		"empty first id":          {Outcome: ledger.Accepted, Phase: ledger.Answered, MessageIDs: []string{"", "m2"}},
		"long answer":             {Outcome: ledger.Accepted, Phase: ledger.Answered, Answer: []byte(strings.Repeat("x", 1<<20))},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.scripts["a"].then(odd)
				first := r.claim("e1")
				r.scripts["a"].then(accepted(""))
				second := r.claim("e2")
				r.advance(time.Minute)
				r.expect(second, ledger.StateSent, "")
				if rec := r.row(first); rec.State == ledger.StateSending {
					t.Errorf("%s is %s", rec.EventID, rec.State)
				}
			})
		})
	}
}
