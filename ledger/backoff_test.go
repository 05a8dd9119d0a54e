package ledger

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	ladder := []time.Duration{30 * time.Second, 2 * time.Minute, 2 * time.Hour}
	for _, c := range []struct {
		name       string
		step       int
		retryAfter time.Duration
		random     float64
		want       time.Duration
		ok         bool
	}{
		{"lower bound", 0, 0, 0, 24 * time.Second, true},
		{"middle", 0, 0, 0.5, 30 * time.Second, true},
		{"upper bound", 0, 0, 1, 36 * time.Second, true},
		{"second step", 1, 0, 0.5, 2 * time.Minute, true},
		{"last step", 2, 0, 0.5, 2 * time.Hour, true},
		{"no step left", 3, 0, 0.5, 0, false},
		{"before the first", -1, 0, 0.5, 0, false},
		{"asked for less", 1, time.Second, 0.5, 2 * time.Minute, true},
		{"asked for more", 0, 10 * time.Minute, 0.5, 10 * time.Minute, true},
		{"asked for too much", 0, 1000 * time.Hour, 0.5, time.Hour, true},
		{"asked for too much, jitter after the bound", 0, 1000 * time.Hour, 1, 72 * time.Minute, true},
		{"asked for the past", 0, -time.Hour, 0.5, 30 * time.Second, true},
		{"asked for all of time", 0, 1<<63 - 1, 1, 72 * time.Minute, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := backoff(ladder, c.step, c.retryAfter, c.random)
			if ok != c.ok || (got-c.want).Abs() > time.Microsecond {
				t.Errorf("backoff = %v %v, want %v %v", got, ok, c.want, c.ok)
			}
		})
	}
	if _, ok := backoff(nil, 0, time.Minute, 0.5); ok {
		t.Error("an empty ladder has a step")
	}
}

func TestClampRetryAfter(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{
		-time.Hour: time.Second, 0: time.Second, time.Millisecond: time.Second, time.Minute: time.Minute,
		time.Hour: time.Hour, time.Hour + 1: time.Hour, 1<<63 - 1: time.Hour,
	} {
		if got := clampRetryAfter(in); got != want {
			t.Errorf("clampRetryAfter(%v) = %v, want %v", in, got, want)
		}
	}
}
