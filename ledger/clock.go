package ledger

import (
	"sync"
	"time"
)

const (
	clockJump   = 10 * time.Second // a wall clock that moved by more than this against the monotonic one jumped
	clockRest   = time.Minute      // how long expiry stands still after a jump
	clockBehind = 2 * time.Second  // tolerated lag of the wall clock behind the ledger
)

// clock gives the ledger's time: it follows the wall clock forward, never goes back, and keeps running by the
// monotonic clock while the wall clock is behind. So a wait lasts as long as it should, and stored times
// never run backwards.
type clock struct {
	wall func() time.Time

	mu     sync.Mutex
	at     time.Time // wall reading of the last look; carries the monotonic reading
	time   time.Time // the ledger's time at that look
	jumped time.Time // the ledger's time of the last jump; zero: none
	behind bool
}

// newClock starts at the newest time that the ledger holds, or now when that is later.
func newClock(wall func() time.Time) *clock {
	at := wall()
	return &clock{wall: wall, at: at, time: at.UTC().Round(0)}
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

// steady reports whether expiry, windows and policies may act: the wall clock is not behind and has not just jumped.
func (c *clock) steady() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return !c.behind && (c.jumped.IsZero() || c.time.Sub(c.jumped) >= clockRest)
}

func (c *clock) look() {
	at := c.wall()
	passed := at.Sub(c.at) // monotonic
	moved := at.Round(0).Sub(c.at.Round(0))
	c.at = at
	c.time = c.time.Add(passed)
	if d := moved - passed; d > clockJump || d < -clockJump {
		c.jumped = c.time
	}
	lead := at.UTC().Round(0).Sub(c.time)
	if lead > 0 {
		c.time = c.time.Add(lead)
	}
	c.behind = lead < -clockBehind
}
