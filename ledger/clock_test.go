package ledger

import (
	"testing"
	"time"
)

// handClock is a clock whose two sources the test sets.
type handClock struct {
	*clock
	wallAt time.Time
	ran    time.Duration
}

func newHandClock() *handClock {
	h := &handClock{wallAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	h.clock = &clock{
		wall: func() time.Time { return h.wallAt }, monotonic: func() time.Duration { return h.ran },
		at: h.wallAt, time: h.wallAt,
	}
	return h
}

// pass lets time go by on both; set moves the wall clock alone.
func (h *handClock) pass(d time.Duration) { h.wallAt, h.ran = h.wallAt.Add(d), h.ran+d }
func (h *handClock) set(d time.Duration)  { h.wallAt = h.wallAt.Add(d) }

func TestClock_SetBackKeepsRunningByTheMonotonicClock(t *testing.T) {
	h := newHandClock()
	before := h.now()
	h.set(-time.Hour)
	if now := h.now(); now.Before(before) {
		t.Fatalf("went back from %v to %v", before, now)
	}
	h.pass(10 * time.Minute)
	if got := h.now().Sub(before); got != 9*time.Minute {
		t.Errorf("after ten minutes it shows %v, not a tenth less", got)
	}
	if h.steady() {
		t.Error("steady while the wall clock is behind")
	}
	h.set(time.Hour)
	h.now()
	h.pass(clockRest)
	if !h.steady() {
		t.Error("not steady a minute after the wall clock was set right")
	}
}

// A machine that started with a clock in the future must not stop expiring for ever once the clock is right.
func TestClock_LeadMelts(t *testing.T) {
	h := newHandClock()
	last := h.now()
	h.set(-time.Hour)
	for i := range 600 {
		h.pass(time.Minute)
		if now := h.now(); now.Before(last) {
			t.Fatalf("minute %d: went back", i)
		} else {
			last = now
		}
		if h.steady() != (last.Sub(h.wallAt) <= clockBehind) {
			t.Fatalf("minute %d: steady %v with a lead of %v", i, h.steady(), last.Sub(h.wallAt))
		}
	}
	h.pass(time.Minute)
	if !h.steady() || h.now() != h.wallAt {
		t.Errorf("ten hours later the ledger still leads by %v", h.now().Sub(h.wallAt))
	}
}

func TestClock_JumpForwardRestsAMinute(t *testing.T) {
	h := newHandClock()
	before := h.now()
	h.set(time.Hour)
	if got := h.now().Sub(before); got != time.Hour {
		t.Errorf("follows the wall clock by %v", got)
	}
	for range 59 {
		if h.steady() {
			t.Fatal("steady right after a jump forward")
		}
		h.pass(time.Second)
	}
	h.pass(2 * time.Second)
	if !h.steady() {
		t.Error("not steady a minute after the jump")
	}
}

func TestClock_SmallCorrectionsAreNoJump(t *testing.T) {
	for _, d := range []time.Duration{-1500 * time.Millisecond, -time.Second, 0, time.Second, 9 * time.Second} {
		h := newHandClock()
		h.now()
		h.pass(time.Second)
		h.set(d)
		if !h.steady() {
			t.Errorf("a correction by %v stops it", d)
		}
	}
}

func TestClock_NewestTimeOfTheLedgerIsAhead(t *testing.T) {
	h := newHandClock()
	newest := h.wallAt.Add(30 * time.Minute)
	h.atLeast(newest)
	if now := h.now(); now.Before(newest) {
		t.Errorf("starts at %v, before the ledger's newest %v", now, newest)
	}
	if h.steady() {
		t.Error("steady while the wall clock is behind the ledger")
	}
	h.atLeast(newest.Add(-time.Hour)) // an older time says nothing
	if h.now().Before(newest) {
		t.Error("went below the newest time")
	}
}

func TestClock_ReadsWholeMillisecondsUTC(t *testing.T) {
	h := newHandClock()
	h.pass(1234567 * time.Nanosecond)
	if now := h.now(); now.Nanosecond() != 1_000_000 || now.Location() != time.UTC {
		t.Errorf("now is %v", now)
	}
}

func TestClock_RealSourcesAreSteady(t *testing.T) {
	c := newClock()
	if a, b := c.now(), c.now(); b.Before(a) || !c.steady() {
		t.Errorf("%v then %v, steady %v", a, b, c.steady())
	}
}
