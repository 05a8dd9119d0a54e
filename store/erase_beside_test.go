package store

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"sendonce/ledger"
)

func BenchmarkClaim_BesideErasing(b *testing.B) {
	for _, callers := range []int{1, 64} {
		for _, step := range []int{0, 8, 16, 32, 64} {
			b.Run(fmt.Sprintf("%d_callers_%d_rows_a_step", callers, step), func(b *testing.B) {
				o := created(b)
				s := opened(b, o)
				n, _ := strconv.Atoi(os.Getenv("ERASE_ROWS"))
				sentRows(b, o, max(n, 100))
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan int)
				go func() { done <- eraseBeside(ctx, s, step) }()
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
				cancel()
				erased := <-done
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
				b.ReportMetric(float64(took[len(took)*999/1000].Microseconds()), "p999-us")
				b.ReportMetric(float64(erased)/time.Since(began).Seconds(), "erased/s")
			})
		}
	}
}

func eraseBeside(ctx context.Context, s *Store, step int) (rows int) {
	q := ledger.OldQuery{Before: longAgo, Limit: step}
	for ctx.Err() == nil && step > 0 {
		at := time.Now()
		old, err := s.Old(context.Background(), q)
		if err != nil {
			panic(err)
		}
		list, err := s.Erase(old.Families, longAgo, longAgo)
		if err != nil {
			panic(err)
		}
		rows += len(list)
		q.After = old.Last
		time.Sleep(3 * time.Since(at))
	}
	return rows
}
