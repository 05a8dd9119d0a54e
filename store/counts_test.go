package store

import (
	"fmt"
	"testing"

	"sendonce/ledger"
)

// counted runs do five times and returns the fewest statements and commits of the writer that one run took: once a second a
// group raises the generation as well, which is nobody's own.
func counted(t *testing.T, s *Store, do func(i int) error) (statements, commits int64) {
	t.Helper()
	statements, commits = 1<<30, 1<<30
	for i := range 5 {
		ran, made := s.writes.ran.Load(), s.Commits()
		if err := do(i); err != nil {
			t.Fatal(err)
		}
		statements = min(statements, s.writes.ran.Load()-ran)
		commits = min(commits, s.Commits()-made)
	}
	return statements, commits
}

// What a notification writes when it shares a commit with nobody, BEGIN, counts and COMMIT included. Whoever needs more raises
// the number here, and says why.
func TestStatements_OfEachStep(t *testing.T) {
	s := opened(t, created(t))
	waiting := claimed(t, s, claimOf(1), claimOf(2), claimOf(3), claimOf(4), claimOf(5))
	known := claimOf(1)
	for _, step := range []struct {
		name                string
		statements, commits int64
		do                  func(i int) error
	}{
		{"a claim", 5, 1, func(i int) error { _, err := s.Claim([]ledger.Claim{claimOf(10 + i)}); return err }},
		{"a claim that is taken with it", 6, 1, func(i int) error {
			c := claimOf(20 + i)
			a := attemptOf(c.Notification)
			c.Attempt = &a
			_, err := s.Claim([]ledger.Claim{c})
			return err
		}},
		{"a hundred claims", 203, 1, func(i int) error {
			var batch []ledger.Claim
			for k := range 100 {
				batch = append(batch, claimOf(1000+100*i+k))
			}
			_, err := s.Claim(batch)
			return err
		}},
		{"a take", 5, 1, func(i int) error { return s.Take(takingOf(waiting[i])) }},
		{"a close", 6, 1, func(i int) error {
			_, err := s.Close(closingOf(waiting[i], ledger.Accepted, fmt.Sprintf("SM%d", i)), toSent)
			return err
		}},
		{"a repeat", 0, 0, func(int) error {
			_, found, err := s.Prior(t.Context(), known)
			if err == nil && !found {
				t.Error("the repeat found nothing")
			}
			return err
		}},
	} {
		statements, commits := counted(t, s, step.do)
		t.Logf("%s: %d statements, %d commits", step.name, statements, commits)
		if statements > step.statements || commits > step.commits {
			t.Errorf("%s: %d statements and %d commits, at most %d and %d are wanted", step.name, statements, commits, step.statements, step.commits)
		}
	}
}

// What the store itself costs in memory; database/sql, which reads, moves by one or two. Whoever needs more raises the number here, and says why.
func TestAllocations_Store(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too; make test runs this without it")
	}
	s := opened(t, created(t))
	const runs = 500
	claims := make([]ledger.Claim, 3*runs)
	for i := range claims {
		claims[i] = claimOf(i)
	}
	next := 0
	claim := testing.AllocsPerRun(runs, func() {
		if _, err := s.Claim(claims[next : next+1]); err != nil {
			t.Fatal(err)
		}
		next++
	})
	send := testing.AllocsPerRun(runs, func() {
		rows, err := s.Claim(claims[next : next+1])
		if err != nil {
			t.Fatal(err)
		}
		n := rows[0].Notification
		if err := s.Take(takingOf(n)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Close(closingOf(n, ledger.Accepted, n.DedupeKey), toSent); err != nil {
			t.Fatal(err)
		}
		next++
	})
	repeat := testing.AllocsPerRun(runs, func() {
		if _, found, err := s.Prior(t.Context(), claims[0]); !found || err != nil {
			t.Fatal(found, err)
		}
	})
	t.Logf("allocations: claim %.0f, claim with take and close %.0f, repeat %.0f", claim, send, repeat)
	for _, c := range []struct {
		name      string
		got, most float64
	}{{"a claim", claim, 33}, {"claim, take and close", send, 87}, {"a repeat", repeat, 179}} {
		if c.got > c.most {
			t.Errorf("%s: %.0f allocations, want at most %.0f", c.name, c.got, c.most)
		}
	}
}
