package store

import (
	"fmt"
	"strings"
	"testing"

	"sendonce/ledger"
)

// Each receipt costs the same, however many the row has: one message may be opened thousands of times.
func TestReceipts_FactsDoNotGrowWithTheRow(t *testing.T) {
	s := opened(t, created(t))
	n := ambiguousRow(t, s, 1)
	n = settled(t, s, n, toClaimed(at0))
	n = closed(t, s, taken(t, s, n), ledger.Accepted, toSent, "SM2")
	fill := func(from, to int) {
		mustExec(t, visit(t, Options{Path: s.path}), fmt.Sprintf(`WITH RECURSIVE k(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM k WHERE i < %d)
 INSERT INTO receipts (provider, event_key, fact_key, notification, number, kind, arrived_at) SELECT 'twilio_main', 'o' || i, 'o' || i, %d, 2, 'opened', 1 FROM k`, from, to, n.Seq))
	}
	steps := func() (n int) {
		for _, q := range []string{provenAttempts, standing, rowsOfID, attemptProvider} {
			n += strings.Count(strings.Join(plan(t, s.reads, q), "\n"), "SCAN receipts")
		}
		return n
	}
	if steps() != 0 {
		t.Fatal("a query of each receipt reads all receipts")
	}
	fill(1, 20_000)
	var told ledger.ProofFacts
	r := with(about(n, 1, ledger.Delivered), func(r *ledger.Receipt) { r.MessageID = "SM1" })
	if _, matched, err := prove(s, r, proves(&told)); err != nil || !matched || len(told.Proven) != 1 || told.Proven[0] != 2 {
		t.Fatalf("matched %v, %v: %+v", matched, err, told)
	}
}
