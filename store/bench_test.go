package store

import (
	"context"
	"fmt"
	"testing"

	"sendonce/ledger"
)

func BenchmarkClaim_1Caller(b *testing.B) {
	s := opened(b, created(b))
	for i := range b.N {
		if _, err := s.Claim([]ledger.Claim{claimOf(i)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClaim_64Callers(b *testing.B) {
	s := opened(b, created(b))
	b.ReportAllocs()
	b.ResetTimer()
	together(64, b.N, func(i int) {
		if _, err := s.Claim([]ledger.Claim{claimOf(i)}); err != nil {
			b.Error(err)
		}
	})
}

func BenchmarkClaim_Batch500(b *testing.B) {
	s := opened(b, created(b))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += ledger.MaxBatch {
		var batch []ledger.Claim
		for j := i; j < min(b.N, i+ledger.MaxBatch); j++ {
			batch = append(batch, claimOf(j))
		}
		if _, err := s.Claim(batch); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNotification claims, takes and closes: all that one sent notification writes.
func BenchmarkNotification_64Callers(b *testing.B) { notifications(b, 64) }

// BenchmarkNotification_1Caller shares no commit, so that its counts of statements and commits are the same in each run.
func BenchmarkNotification_1Caller(b *testing.B) { notifications(b, 1) }

func notifications(b *testing.B, callers int) {
	s := opened(b, created(b))
	b.ReportAllocs()
	b.ResetTimer()
	statements, commits := s.writes.ran.Load(), s.Commits()
	together(callers, b.N, func(i int) { sendOne(b, s, i) })
	b.ReportMetric(float64(s.writes.ran.Load()-statements)/float64(b.N), "statements/op")
	b.ReportMetric(float64(s.Commits()-commits)/float64(b.N), "commits/op")
}

func sendOne(b *testing.B, s *Store, i int) {
	rows, err := s.Claim([]ledger.Claim{claimOf(i)})
	if err != nil {
		b.Error(err)
		return
	}
	n := rows[0].Notification
	if err := s.Take(takingOf(n)); err != nil {
		b.Error(err)
	}
	if _, err := s.Close(closingOf(n, ledger.Accepted, fmt.Sprintf("SM%032x", i)), toSent); err != nil {
		b.Error(err)
	}
}

// BenchmarkStatements runs the statements of 64 notifications in one transaction each kind, so that the time is the
// processor's, not the disk's.
func BenchmarkStatements_Groups64(b *testing.B) {
	s := opened(b, created(b))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += 64 {
		var rows []ledger.Claimed
		groups := []func(t *tx, j int) error{
			func(t *tx, j int) error {
				c := claimOf(i + j)
				r, err := t.claim(&c, nil)
				rows = append(rows, r)
				return err
			},
			func(t *tx, j int) error {
				k := takingOf(rows[j].Notification)
				_, err := t.take(&k)
				return err
			},
			func(t *tx, j int) error {
				c := closingOf(rows[j].Notification, ledger.Accepted, fmt.Sprintf("SM%032x", i+j))
				_, _, err := t.close(&c, toSent)
				return err
			},
		}
		for _, g := range groups {
			if err := s.write(64, func(t *tx) error {
				for j := range min(64, b.N-i) {
					if err := g(t, j); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkPrior_Repeat(b *testing.B) {
	s := opened(b, created(b))
	c := claimOf(1)
	if _, err := s.Claim([]ledger.Claim{c}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, found, err := s.Prior(context.Background(), c); !found || err != nil {
			b.Fatal(found, err)
		}
	}
}
