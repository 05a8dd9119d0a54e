package store

import (
	"testing"
	"time"

	"sendonce/ledger"
)

// Whoever has the answer to a write sees that the count of commits has moved: who counted before he read knows that he has to read
// again. What only reads moves nothing.
func TestCommits_MoveBeforeTheAnswer(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		unknown, parent := ambiguousRow(t, s, 2), sentRow(t, s, 3, "SM3")
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"claim", func() error { _, err := s.Claim([]ledger.Claim{claimOf(4)}); return err }},
			{"take", func() error { return s.Take(takingOf(n)) }},
			{"close", func() error { _, err := s.Close(closingOf(n, ledger.Ambiguous), toAmbiguous); return err }},
			{"settle", func() error {
				_, err := s.Settle(n.ID, func(n ledger.Notification) (ledger.Change, error) { return looked(n), nil })
				return err
			}},
			{"resend", func() error { _, err := resend(s, parent.ID); return err }},
			{"prove", func() error {
				_, err := s.Prove([]ledger.Receipt{receiptOf("of nobody", ledger.Delivered)}, noProof)
				return err
			}},
			{"look up", func() error {
				_, _, err := s.LookUp(ledger.LookQuery{ID: unknown.ID}, func(n ledger.Notification, _ ledger.LookFacts) (ledger.LookDecision, error) {
					return ledger.LookDecision{Change: looked(n)}, nil
				}, noProof)
				return err
			}},
			{"suppress", func() error {
				_, err := s.Suppress([]ledger.Suppressed{{Seq: n.Seq, At: at0, Caller: "shop"}})
				return err
			}},
			{"mark missing", func() error { return s.MarkMissing(at0, []string{"twilio_main"}) }},
			{"pause", func() error { return s.SetPause(ledger.Pause{Provider: "twilio_main", Since: at0, Actor: "desk"}) }},
			{"resume", func() error { return s.ClearPause("twilio_main") }},
		} {
			before := s.Commits()
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			if s.Commits() == before {
				t.Errorf("%s moved nothing", step.name)
			}
		}
		before := s.Commits()
		row(t, s, n.ID)
		if _, err := s.Waiting(t.Context(), after(time.Hour), 10); err != nil {
			t.Fatal(err)
		}
		if got := s.Commits(); got != before {
			t.Errorf("readings moved it from %d to %d", before, got)
		}
	})
}
