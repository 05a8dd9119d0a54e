package store

import (
	"testing"
	"time"

	"sendonce/ledger"
)

// What was open in the copy is never sent; what was claimed since is sent after a person accepted the copy.
func TestAcceptRestored_SendsOnlyWhatWasClaimedSince(t *testing.T) {
	for name, recovered := range map[string]bool{"after it was served": true, "at once": false} {
		t.Run(name, func(t *testing.T) {
			o, old := restoredLedger(t)
			since := claimOf(2)
			since.Reason = ledger.ReasonRestored
			if recovered {
				for i := range 2 { // served twice: what waits goes on waiting
					served(t, o, func(s *Store) {
						moved, err := s.Recover(after(time.Hour), true, expiry)
						if err != nil || moved != 1-i {
							t.Fatalf("start %d: %d rows moved, %v", i, moved, err)
						}
						if i == 0 {
							claimed(t, s, since)
						}
						if moved, err := s.Recover(after(time.Hour), true, expiry); err != nil || moved != 0 {
							t.Fatalf("once more: %d rows moved, %v", moved, err)
						}
					})
				}
			}
			if err := AcceptRestored(o); err != nil {
				t.Fatal(err)
			}
			served(t, o, func(s *Store) {
				if c := s.Condition(); c.Restored || c.Err != nil {
					t.Fatalf("%+v", c)
				}
				if moved, err := s.Recover(after(time.Hour), false, expiry); err != nil || moved != 0 {
					t.Fatal(moved, err)
				}
				wantState(t, row(t, s, old.ID), ledger.StateAmbiguous, ledger.ReasonRestored)
				wantErr(t, s.Take(takingOf(row(t, s, old.ID))), ledger.ErrMoved)
				if recovered {
					n := row(t, s, since.ID)
					wantState(t, n, ledger.StateClaimed, "")
					taken(t, s, n)
				}
			})
			if err := AcceptRestored(o); err != nil {
				t.Fatalf("a ledger in order: %v", err)
			}
		})
	}
}

// A copy of a ledger that waited to be accepted, put back after the acceptance, is a new restoring: what waited in it was sent.
func TestAcceptRestored_ACopyOfTheWaitingLedgerIsRestoredAgain(t *testing.T) {
	for name, move := range map[string]bool{"put back": false, "on another machine": true} {
		t.Run(name, func(t *testing.T) {
			o, _ := restoredLedger(t)
			since := claimOf(2)
			since.Reason = ledger.ReasonRestored
			served(t, o, func(s *Store) {
				if _, err := s.Recover(after(time.Hour), true, expiry); err != nil {
					t.Fatal(err)
				}
				claimed(t, s, since)
			})
			old := options(t)
			copyLedger(t, o, old, "")
			if err := AcceptRestored(o); err != nil {
				t.Fatal(err)
			}
			served(t, o, func(s *Store) { taken(t, s, row(t, s, since.ID)) })
			if move {
				o = old
			} else {
				copyLedger(t, old, o, "")
			}
			served(t, o, func(s *Store) {
				if !s.Condition().Restored {
					t.Fatal("the copy counts as the ledger")
				}
				if moved, err := s.Recover(after(time.Hour), true, expiry); err != nil || moved != 1 {
					t.Fatal(moved, err)
				}
				wantState(t, row(t, s, since.ID), ledger.StateAmbiguous, ledger.ReasonRestored)
			})
		})
	}
}

// An accepted copy is another ledger than every copy of what stood here before, however far that one had come.
func TestAcceptRestored_NoOtherCopyIsMistakenForIt(t *testing.T) {
	for name, lockLost := range map[string]bool{"with its lock file": false, "on another machine": true} {
		t.Run(name, func(t *testing.T) {
			o := servedTwice(t)
			old, later := options(t), options(t)
			copyLedger(t, o, old, "")
			for range 5 {
				served(t, o, func(*Store) {})
			}
			copyLedger(t, o, later, "")
			copyLedger(t, old, o, "")
			if lockLost {
				remove1(t, o.Path+".lock")
			}
			if err := AcceptRestored(o); err != nil {
				t.Fatal(err)
			}
			copyLedger(t, later, o, "")
			served(t, o, func(s *Store) {
				if !s.Condition().Restored {
					t.Fatal("a copy from before the acceptance counts as the ledger")
				}
			})
		})
	}
}
