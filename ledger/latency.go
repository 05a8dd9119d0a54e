package ledger

import (
	"math"
	"slices"
	"time"
)

// Bounds of the classes in which times of answers are counted: from a millisecond up, each a quarter longer than the one before. The
// last holds all that took longer, beyond ten minutes.
var latencyBounds = func() (list [latencyClasses - 1]time.Duration) {
	for i := range list {
		list[i] = time.Duration(math.Round(float64(time.Millisecond) * math.Pow(1.25, float64(i))))
	}
	return list
}()

const latencyClasses = 62

// latency counts how long answers took.
type latency [latencyClasses]uint32

func (l *latency) add(d time.Duration) {
	i, _ := slices.BinarySearch(latencyBounds[:], d)
	l[i]++
}

// Latency is how long answers of one provider took in the last hour: so many percent of them took no longer. The times are bounds
// of classes, up to a quarter above the truth.
type Latency struct {
	Answers       int64
	P50, P95, P99 time.Duration
}

// quantile is the bound below which a share of the answers lies.
func (l *latency) quantile(share float64) time.Duration {
	var count, seen int64
	for _, n := range l {
		count += int64(n)
	}
	need := int64(math.Ceil(share * float64(count)))
	for i, n := range l {
		if seen += int64(n); count > 0 && seen >= need {
			return latencyBounds[min(i, len(latencyBounds)-1)]
		}
	}
	return 0
}

// latency puts the last hour together.
func (t *tally) latency(now time.Time) Latency {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all latency
	t.minutes.each(now, func(_ int, s *slot) {
		for i, count := range s.answers {
			all[i] += count
		}
	})
	var out Latency
	for _, n := range all {
		out.Answers += int64(n)
	}
	out.P50, out.P95, out.P99 = all.quantile(0.5), all.quantile(0.95), all.quantile(0.99)
	return out
}
