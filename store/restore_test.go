package store

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// served opens a ledger, lets do work with it, and shuts it down.
func served(t *testing.T, o Options, do func(s *Store)) {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	do(s)
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
}

// restoredLedger is an old copy that was put back: one row was claimed in it and sent after the copy was made.
func restoredLedger(t *testing.T) (o Options, claim ledger.Claim) {
	t.Helper()
	o, claim = created(t), claimOf(1)
	served(t, o, func(s *Store) { claimed(t, s, claim) })
	old := options(t)
	copyLedger(t, o, old, "")
	served(t, o, func(s *Store) {
		closed(t, s, taken(t, s, row(t, s, claim.ID)), ledger.Accepted, toSent, "SM1")
	})
	copyLedger(t, old, o, "")
	return o, claim
}

func TestRestored_ACopyPutBackSendsNothing(t *testing.T) {
	o, claim := restoredLedger(t)
	for range 3 { // however often it is started
		served(t, o, func(s *Store) {
			if !s.Condition().Restored {
				t.Fatal("the copy counts as the ledger")
			}
			wantErr(t, s.Take(takingOf(row(t, s, claim.ID))), ledger.ErrUnavailable)
			if _, err := s.Claim([]ledger.Claim{claimOf(2)}); err != nil {
				t.Fatalf("claims work: %v", err)
			}
		})
	}
}

func TestGeneration_RisesOnceASecondOfWriting(t *testing.T) {
	o := created(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		generation := func() int64 {
			var id identity
			if _, err := oneRow(s.reader(t.Context()), identityQuery, nil, id.targets()...); err != nil {
				t.Fatal(err)
			}
			return id.generation
		}
		for i := range 30 {
			claimed(t, s, claimOf(i))
			time.Sleep(100 * time.Millisecond)
		}
		if g := generation(); g < 3 || g > 4 {
			t.Errorf("generation %d after three seconds of writing", g)
		}
		before := generation()
		time.Sleep(time.Hour)
		if g := generation(); g != before {
			t.Errorf("generation %d after an hour without a write, was %d", g, before)
		}
		if err := s.Shutdown(); err != nil {
			t.Fatal(err)
		}
		l, err := openLock(o.Path + ".lock")
		if err != nil || l.last.generation != before {
			t.Errorf("the lock file has %d, the ledger %d (%v)", l.last.generation, before, err)
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRestored_IsToldByTheLockFile(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(t *testing.T, o Options)
		restored bool
	}{
		"as it was":              {func(*testing.T, Options) {}, false},
		"without its lock file":  {func(t *testing.T, o Options) { remove1(t, o.Path+".lock") }, true},
		"an empty lock file":     {func(t *testing.T, o Options) { write(t, o.Path+".lock", nil) }, true},
		"a torn lock file":       {func(t *testing.T, o Options) { write(t, o.Path+".lock", []byte("torn")) }, true},
		"another ledger's":       {func(t *testing.T, o Options) { copyLedger(t, servedTwice(t), o, ".lock") }, true},
		"a lock file that lags":  {lag, false},
		"a copy with its own":    {func(t *testing.T, o Options) { copyLedger(t, servedTwice(t), o, "", ".lock") }, false},
		"a copy without its own": {func(t *testing.T, o Options) { copyLedger(t, servedTwice(t), o, "") }, true},
		"a backup":               {backedUp, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := servedTwice(t)
			c.change(t, o)
			served(t, o, func(s *Store) {
				if got := s.Condition().Restored; got != c.restored {
					t.Fatalf("restored %v, want %v", got, c.restored)
				}
			})
		})
	}
}

func servedTwice(t *testing.T) Options {
	t.Helper()
	o := created(t)
	served(t, o, func(*Store) {})
	served(t, o, func(*Store) {})
	return o
}

func remove1(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func lag(t *testing.T, o Options) {
	before, err := os.ReadFile(o.Path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	served(t, o, func(*Store) {})
	write(t, o.Path+".lock", before)
}

func backedUp(t *testing.T, o Options) {
	if err := Backup(context.Background(), o, o.Path+".bak"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, Backup(context.Background(), o, o.Path+".bak"), ErrExists)
	if err := os.Rename(o.Path+".bak", o.Path); err != nil {
		t.Fatal(err)
	}
}

// While a ledger waits to be accepted nothing overwrites what the lock file knows: the right one can still be put back.
func TestRestored_TheRightLedgerPutBackIsInOrder(t *testing.T) {
	o := servedTwice(t)
	claim := claimOf(1)
	served(t, o, func(s *Store) { claimed(t, s, claim) })
	right, other := options(t), servedTwice(t)
	copyLedger(t, o, right, "")
	copyLedger(t, other, o, "")
	served(t, o, func(s *Store) {
		if _, err := s.Recover(at0, true, expiry); err != nil || !s.Condition().Restored {
			t.Fatal(err)
		}
	})
	copyLedger(t, right, o, "")
	served(t, o, func(s *Store) {
		if s.Condition().Restored {
			t.Fatal("the right ledger counts as restored")
		}
		taken(t, s, row(t, s, claim.ID))
	})
}

// A barrier in a ledger that waits to be accepted leaves the lock file alone.
func TestRestored_ABarrierTellsTheLockFileNothing(t *testing.T) {
	o, _ := restoredLedger(t)
	var f failing
	o.hooks.commit = f.commit
	before := sums(t, o)[".lock"]
	served(t, o, func(s *Store) {
		f.next(1)
		_, err := s.Claim([]ledger.Claim{claimOf(2)})
		wantErr(t, err, ledger.ErrUnavailable)
	})
	if sums(t, o)[".lock"] != before {
		t.Fatal("the lock file was changed")
	}
}

// Times never run backwards: this machine's clock may be behind the one that the ledger was written with.
func TestAcceptRestored_WithAClockThatIsBehind(t *testing.T) {
	o, claim := created(t), claimOf(1)
	future := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Millisecond)
	claim.ClaimedAt, claim.UpdatedAt, claim.DueAt, claim.ExpiresAt = future, future, future, future.Add(time.Hour)
	served(t, o, func(s *Store) { claimed(t, s, claim) })
	if err := os.Remove(o.Path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := AcceptRestored(o); err != nil {
		t.Fatal(err)
	}
	served(t, o, func(s *Store) {
		rec, err := s.Get(context.Background(), claim.ID)
		if err != nil || len(rec.Settlements) != 1 || rec.Settlements[0].At.Before(claim.ClaimedAt) || rec.UpdatedAt.Before(claim.ClaimedAt) {
			t.Errorf("claimed at %v, updated at %v, settlements %+v (%v)", rec.ClaimedAt, rec.UpdatedAt, rec.Settlements, err)
		}
	})
}
