package ledger

import (
	"sync"
	"time"
)

const (
	clockJump   = 10 * time.Second // a wall clock that moved by more than this against the monotonic one jumped
	clockRest   = time.Minute      // how long expiry stands still after a jump
	clockBehind = 2 * time.Second  // tolerated lag of the wall clock behind the ledger
	clockMelt   = 10               // while it lags more, the ledger's time runs this much slower: by one part in ten
)

// clock gives the ledger's time: it follows the wall clock forward, never goes back, and keeps running by the
// monotonic clock while the wall clock is behind. So a wait lasts about as long as it should, stored times never run
// backwards, and a ledger that once believed a clock in the future comes back to the present: an hour takes ten.
type clock struct {
	wall      func() time.Time
	monotonic func() time.Duration // since any moment: it runs on whatever the wall clock is set to

	mu     sync.Mutex
	at     time.Time     // wall reading of the last look
	ran    time.Duration // monotonic reading of the last look
	time   time.Time     // the ledger's time at that look
	jumped time.Time     // the ledger's time of the last jump; zero: none
	behind bool
}

// newClock starts now. A newer time that the ledger holds is told by atLeast.
func newClock() *clock {
	start := time.Now()
	c := &clock{wall: time.Now, monotonic: func() time.Duration { return time.Since(start) }}
	c.at = start.UTC().Round(0)
	c.time = c.at
	return c
}

// atLeast tells the clock about a time that the ledger holds.
func (c *clock) atLeast(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.time) {
		c.time = t
	}
}

// now returns the ledger's time in whole milliseconds, UTC.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.time.Truncate(time.Millisecond)
}

// late reports whether the wall clock is behind the ledger, so that a caller's time cannot be compared with it.
func (c *clock) late() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.behind
}

// steady reports whether expiry, windows and policies may act: the wall clock is not behind and has not just jumped.
func (c *clock) steady() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return !c.behind && (c.jumped.IsZero() || c.time.Sub(c.jumped) >= clockRest)
}

func (c *clock) look() {
	at, ran := c.wall().UTC().Round(0), c.monotonic()
	moved, passed := at.Sub(c.at), ran-c.ran
	jump := moved - passed
	c.at, c.ran = at, ran
	if c.behind {
		passed -= passed / clockMelt
	}
	c.time = c.time.Add(passed)
	lead := at.Sub(c.time)
	if lead > 0 {
		c.time = at
	}
	c.behind = lead < -clockBehind
	if jump > clockJump || jump < -clockJump {
		c.jumped = c.time // after it, or a jump forward would be its own rest
	}
}

// milli cuts a time to what the ledger keeps: UTC with milliseconds.
func milli(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Millisecond)
}

// earlier returns the earlier of two times; a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
