package ledger

import (
	"testing"
	"time"
)

func TestRing_HoldsTheLastSpansOnly(t *testing.T) {
	r := newRing(time.Minute, 3)
	at := func(minute int) time.Time { return time.UnixMilli(int64(minute) * 60_000) }
	count := func(minute int) bool {
		s := r.at(at(minute))
		if s != nil {
			s.Claims++
		}
		return s != nil
	}
	see := func(now int) (list [3]int64) {
		r.each(at(now), func(ago int, s *slot) { list[2-ago] = s.Claims })
		return list
	}
	for _, step := range []struct {
		minute int
		kept   bool
		now    int
		want   [3]int64
	}{
		{100, true, 100, [3]int64{0, 0, 1}},
		{100, true, 100, [3]int64{0, 0, 2}},
		{101, true, 101, [3]int64{0, 2, 1}},
		{100, true, 101, [3]int64{0, 3, 1}}, // late, and in time
		{98, false, 101, [3]int64{0, 3, 1}}, // too late
		{103, true, 103, [3]int64{1, 0, 1}}, // over a span in which nothing happened
		{103, true, 104, [3]int64{0, 2, 0}}, // looked at later
		{103, true, 106, [3]int64{0, 0, 0}}, // much later
		{103, true, 102, [3]int64{0, 1, 0}}, // by a clock that was set back: nothing of the future
		{200, true, 200, [3]int64{0, 0, 1}}, // behind a long silence
		{201, true, 201, [3]int64{0, 1, 1}},
	} {
		if kept := count(step.minute); kept != step.kept {
			t.Errorf("minute %d: kept %t", step.minute, kept)
		}
		if got := see(step.now); got != step.want {
			t.Errorf("minute %d, seen at %d: %v, want %v", step.minute, step.now, got, step.want)
		}
	}
}

func TestLatency_QuantilesAreBoundsFromAbove(t *testing.T) {
	ms := time.Millisecond
	for name, c := range map[string]struct {
		answers []time.Duration
		share   float64
		want    time.Duration // at most a quarter below what is said
	}{
		"one":            {[]time.Duration{80 * ms}, 0.99, 80 * ms},
		"median of five": {[]time.Duration{ms, 2 * ms, 10 * ms, 500 * ms, 9000 * ms}, 0.5, 10 * ms},
		"the last":       {[]time.Duration{ms, 2 * ms, 10 * ms, 500 * ms, 9000 * ms}, 0.99, 9000 * ms},
		"at once":        {[]time.Duration{0, 0}, 0.5, ms},
	} {
		var l latency
		for _, d := range c.answers {
			l.add(d)
		}
		if got := l.quantile(c.share); got < c.want || got > c.want*5/4+1 {
			t.Errorf("%s: %v, want %v or a quarter more", name, got, c.want)
		}
	}
	var l latency
	if got := l.quantile(0.5); got != 0 {
		t.Errorf("without an answer: %v", got)
	}
	l.add(time.Hour)
	if got := l.quantile(0.5); got < 10*time.Minute {
		t.Errorf("an hour counts as %v", got)
	}
}
