package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"sendonce/ledger"
)

// The steps and the pace of ledger.keepRetention.
const (
	eraseStep  = 16
	erasePause = 5 * time.Millisecond
	eraseRest  = 7 // times as long as the step took
	beside     = 30_000
)

// BenchmarkClaim_BesideErasing shows what callers feel of the retention: the same claims without and with it, on a ledger with rows
// to erase.
func BenchmarkClaim_BesideErasing(b *testing.B) {
	for _, callers := range []int{1, 64} {
		for _, erasing := range []bool{false, true} {
			b.Run(fmt.Sprintf("callers=%d/erasing=%v", callers, erasing), func(b *testing.B) {
				o := created(b)
				s := opened(b, o)
				sentRows(b, o, beside)
				mustExec(b, visit(b, o), "PRAGMA wal_checkpoint(TRUNCATE)") // what that left in the log is not to be folded meanwhile
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan int, 1)
				if erasing {
					go func() { done <- eraseBeside(ctx, b, s) }()
				} else {
					done <- 0
				}
				took := make([]time.Duration, b.N)
				b.ResetTimer()
				began := time.Now()
				together(callers, b.N, func(i int) {
					at := time.Now()
					if _, err := s.Claim([]ledger.Claim{claimOf(i)}); err != nil {
						b.Error(err)
					}
					took[i] = time.Since(at)
				})
				b.StopTimer()
				all := time.Since(began)
				cancel()
				erased := <-done
				if erased > beside-2*eraseStep {
					b.Fatalf("after %d rows nothing was left to erase: fewer claims", erased)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
				b.ReportMetric(float64(took[len(took)*999/1000].Microseconds()), "p999-us")
				b.ReportMetric(float64(erased)/all.Seconds(), "erased/s")
			})
		}
	}
}

// eraseBeside erases as the ledger's loop does.
func eraseBeside(ctx context.Context, t testing.TB, s *Store) (rows int) {
	q := ledger.OldQuery{Before: longAgo, Limit: eraseStep}
	for ctx.Err() == nil {
		at := time.Now()
		old, err := s.Old(context.Background(), q)
		if err != nil {
			t.Error(err)
			return rows
		}
		list, err := s.Erase(old.Families, longAgo, longAgo)
		if err != nil {
			t.Error(err)
			return rows
		}
		rows += len(list)
		q.After = old.Last
		select {
		case <-ctx.Done():
		case <-time.After(max(erasePause, eraseRest*time.Since(at))):
		}
	}
	return rows
}
