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

// An event's id that a provider uses for two messages tells neither: no report becomes another's, and none is lost.
func TestReceipts_OneEventIDForTwoMessages(t *testing.T) {
	for _, matched := range []bool{false, true} {
		s := opened(t, created(t))
		first, second := ambiguousRow(t, s, 1), ambiguousRow(t, s, 2)
		report := func(n ledger.Notification, id string) ledger.Receipt {
			return with(about(n, 1, ledger.Delivered), func(r *ledger.Receipt) { r.EventKey, r.FactKey, r.MessageID = "event", "fact of "+id, id })
		}
		stray := report(first, "SM1")
		if !matched {
			stray.ID, stray.Number = ledger.Receipt{}.ID, 0
		}
		var told ledger.ProofFacts
		for range 2 {
			if _, found, err := prove(s, stray, proves(&told)); err != nil || found != matched {
				t.Fatalf("found %v, %v", found, err)
			}
			if _, found, err := prove(s, report(second, "SM2"), proves(&told)); err != nil || !found {
				t.Fatalf("found %v, %v", found, err)
			}
		}
		rec, err := s.Get(t.Context(), second.ID)
		if err != nil || rec.State != ledger.StateSent || len(rec.Receipts) != 1 || rec.Receipts[0].MessageID != "SM2" {
			t.Errorf("%v %s %+v", err, rec.State, rec.Receipts)
		}
		st, err := s.Stats(t.Context())
		if err != nil || st.Receipts != 2 || st.Unmatched != map[bool]int64{false: 1}[matched] {
			t.Errorf("%v %+v", err, st)
		}
	}
}
