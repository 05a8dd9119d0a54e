package store

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

func TestClaim_OneRowOf64Callers(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		var mu sync.Mutex
		ids, first := map[uuid.UUID]bool{}, 0
		together(64, 64, func(int) {
			rows, err := s.Claim([]ledger.Claim{claimOf(7)}) // each caller has an id of its own
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids[rows[0].ID] = true
			if !rows[0].Duplicate {
				first++
			}
		})
		if first != 1 || len(ids) != 1 {
			t.Fatalf("%d callers made a row and %d ids were seen, want one each", first, len(ids))
		}
		st, err := s.Stats(context.Background())
		if err != nil || st.Notifications != 1 {
			t.Fatalf("%d rows (%v), want 1", st.Notifications, err)
		}
	})
}

func TestClaim_EqualKeysInABatch(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		rows, err := s.Claim([]ledger.Claim{claimOf(1), claimOf(2), claimOf(1), claimOf(3), claimOf(2)})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []struct {
			duplicate bool
			like      int
		}{{false, 0}, {false, 1}, {true, 0}, {false, 3}, {true, 1}} {
			if rows[i].Duplicate != want.duplicate || rows[i].ID != rows[want.like].ID {
				t.Errorf("claim %d: duplicate %v, row %d", i, rows[i].Duplicate, rows[i].Seq)
			}
		}
	})
}

func TestClaim_KeepsEveryField(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		plain := claimed(t, s, claimOf(1))[0]
		c := claimOf(2)
		c.Recipient, c.OccurredAt, c.SendAt = "+1 (415) 555-0142", after(-time.Hour), after(time.Minute)
		c.DueAt, c.Reason = c.SendAt, ledger.ReasonScheduled
		c.Pinned, c.Lane, c.Tried, c.SuspectedOf = true, ledger.Urgent, "a,b", plain.ID
		c.ContentHash = [16]byte{1, 15: 16}
		made := claimed(t, s, c)[0]
		want := c.Notification
		want.Seq = made.Seq
		for name, got := range map[string]ledger.Notification{"claim": made, "get": row(t, s, c.ID), "prior": priorOf(t, s, c), "after a restart": row(t, open(), c.ID)} {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
			}
		}
	})
}

func priorOf(t *testing.T, s ledger.Store, c ledger.Claim) ledger.Notification {
	t.Helper()
	n, found, err := s.Prior(context.Background(), c)
	if err != nil || !found {
		t.Fatalf("prior: found %v, %v", found, err)
	}
	return n
}

// Keeps out F17: a time that comes back other than it was written, so that a compare-and-set on it meets no row.
func TestClaim_TimesComeBackAsTheyWereReturned(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		c := claimOf(1)
		c.DueAt = time.Date(2026, 3, 1, 14, 30, 0, 123456789, time.FixedZone("IST", 19800))
		made := claimed(t, s, c)[0]
		if got := row(t, s, c.ID); got.DueAt != made.DueAt || got.DueAt.Location() != time.UTC {
			t.Fatalf("read %v, the claim returned %v", got.DueAt, made.DueAt)
		}
		if made.DueAt.Nanosecond() != 123e6 {
			t.Fatalf("%v has other than milliseconds", made.DueAt)
		}
	})
}

// Keeps out F07: one application that blocks or reads another's rows by its key.
func TestClaim_SourcesNeverBlockEachOther(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		for _, source := range []string{"shop", "billing", ""} {
			c := claimOf(1)
			c.Source = source
			claimed(t, s, c)
		}
	})
}

func TestClaim_OtherKeysCountOnlyForTheirRecipe(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		old := claimOf(1)
		old.Recipe = "type-user-event"
		brought := claimOf(2)
		brought.Recipe = ledger.RecipeGiven
		claimed(t, s, old, brought)
		for _, c := range []struct {
			name, recipe string
			key          string
			found        bool
		}{
			{"the recipe that made it", "type-user-event", old.DedupeKey, true},
			{"another recipe", "event", old.DedupeKey, false},
			{"a key that was brought", "event", brought.DedupeKey, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				claim := claimOf(100)
				claim.DedupeKey = c.name
				claim.Others = []ledger.KeyOf{{Recipe: c.recipe, Key: c.key}}
				_, found, err := s.Prior(context.Background(), claim)
				if err != nil || found != c.found {
					t.Fatalf("prior: found %v, %v", found, err)
				}
				rows, err := s.Claim([]ledger.Claim{claim})
				if err != nil || rows[0].Duplicate != c.found {
					t.Fatalf("claim: duplicate %v, %v", rows[0].Duplicate, err)
				}
			})
		}
	})
}

// Keeps out F20: a duplicate whose answer carries another table's row id, or that deletes the attempts of the first row.
func TestClaim_DuplicateShowsTheFirstRowWithItsAttempts(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		first := sentRow(t, s, 1, "SM1")
		for i := range 5 { // ids of other tables move on
			other := sentRow(t, s, 100+i, "SM2")
			settled(t, s, other, ledger.Change{State: other.State, ConfirmedAt: at0})
		}
		rows, err := s.Claim([]ledger.Claim{claimOf(1)})
		if err != nil || !rows[0].Duplicate || rows[0].ID != first.ID || rows[0].Seq != first.Seq {
			t.Fatalf("got row %d %s duplicate %v (%v), want row %d", rows[0].Seq, rows[0].ID, rows[0].Duplicate, err, first.Seq)
		}
		if got := record(t, s, first.ID); len(got.Attempts) != 1 || got.State != ledger.StateSent {
			t.Fatalf("the first row has %d attempts and is %s", len(got.Attempts), got.State)
		}
	})
}

// withHead is a claim that brings its first attempt.
func withHead(i int) ledger.Claim {
	c := claimOf(i)
	a := attemptOf(c.Notification)
	a.StartedAt, a.RequestHash, a.Request = after(time.Second), [16]byte{1}, []byte("body")
	c.Attempt = &a
	return c
}

func TestClaim_IsTakenInTheSameCommit(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		c := withHead(1)
		n := claimed(t, s, c)[0]
		rec := record(t, s, n.ID)
		if !reflect.DeepEqual(rec.Notification, n) {
			t.Errorf("claimed\n%+v, read\n%+v", n, rec.Notification)
		}
		if n.State != ledger.StateSending || n.AttemptCount != 1 || n.Version != 2 || n.NextAction != ledger.DoNothing || !n.UpdatedAt.Equal(after(time.Second)) {
			t.Errorf("taken as %+v", n)
		}
		want := *c.Attempt
		want.Seq = n.Seq
		if len(rec.Attempts) != 1 || !rec.Attempts[0].Open() || !reflect.DeepEqual(rec.Attempts[0], want) {
			t.Errorf("attempts %+v, want %+v", rec.Attempts, want)
		}
		if err := s.Take(takingOf(n)); err != ledger.ErrMoved {
			t.Errorf("it is taken twice: %v", err)
		}
		again := withHead(1)
		rows, err := s.Claim([]ledger.Claim{again, withHead(2)})
		if err != nil || !rows[0].Duplicate || rows[0].ID != n.ID || rows[1].State != ledger.StateSending {
			t.Fatalf("the event again: %+v (%v)", rows, err)
		}
		if rec := record(t, s, n.ID); len(rec.Attempts) != 1 || rec.Version != 2 {
			t.Errorf("a repeat opened an attempt: %+v", rec.Attempts)
		}
		closed(t, s, n, ledger.Accepted, toSent, "m1")
		st, err := s.Stats(context.Background())
		if err != nil || st.States[ledger.StateSent] != 1 || st.States[ledger.StateSending] != 1 || st.States[ledger.StateClaimed] != 0 || st.Notifications != 2 {
			t.Errorf("counted %v (%v)", st.States, err)
		}
	})
}

// A crash right behind the commit leaves an attempt of which nobody knows whether it left.
func TestClaim_TakenAtOnceIsRecoveredAsUnknown(t *testing.T) {
	o := created(t)
	var n ledger.Notification
	killed := options(t)
	served(t, o, func(s *Store) {
		n = claimed(t, s, withHead(1))[0]
		copyLedger(t, o, killed, "", "-wal", ".lock")
	})
	served(t, killed, func(s *Store) {
		moved, err := s.Recover(after(time.Minute), false, func(ledger.Notification) (ledger.NextAction, time.Time) { return ledger.DoNothing, time.Time{} })
		if rec := record(t, s, n.ID); err != nil || moved != 1 || rec.State != ledger.StateAmbiguous || rec.Reason != ledger.ReasonProcessEnded {
			t.Errorf("%d moved, it is %s %s (%v)", moved, rec.State, rec.Reason, err)
		}
	})
}
