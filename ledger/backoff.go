package ledger

import "time"

const (
	jitterShare   = 0.2
	minRetryAfter = time.Second
	maxRetryAfter = time.Hour
)

// backoff returns how long a row waits before its next attempt: the ladder's step, or what the provider
// asked for within bounds, whichever is longer, moved by ±20 % with random in [0, 1). ok is false when the ladder has no such step.
func backoff(ladder []time.Duration, step int, retryAfter time.Duration, random float64) (wait time.Duration, ok bool) {
	if step < 0 || step >= len(ladder) {
		return 0, false
	}
	wait = ladder[step]
	if retryAfter > 0 {
		wait = max(wait, clampRetryAfter(retryAfter))
	}
	return jitter(wait, random), true
}

// clampRetryAfter bounds what a provider asks for.
func clampRetryAfter(d time.Duration) time.Duration {
	return min(max(d, minRetryAfter), maxRetryAfter)
}

// jitter moves a wait by up to ±20 %.
func jitter(d time.Duration, random float64) time.Duration {
	return time.Duration(float64(d) * (1 - jitterShare + 2*jitterShare*random))
}
