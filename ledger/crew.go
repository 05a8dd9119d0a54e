package ledger

import (
	"sync"
	"time"
)

const crewRest = 10 * time.Second // that a goroutine waits for its next attempt

// crew runs attempts. Its goroutines are kept for further ones: an attempt goes deep into HTTP and JSON, and a new goroutine would
// grow its stack for it each time.
type crew struct {
	running sync.WaitGroup
	next    chan func() // without a buffer: who waits takes it
	over    chan struct{}
}

func newCrew() crew { return crew{next: make(chan func()), over: make(chan struct{})} }

// Go runs f on a goroutine that waits, else on a new one.
func (c *crew) Go(f func()) {
	c.Expect()
	c.Do(f)
}

// Expect counts an attempt that may begin. Do or Cancel must follow.
func (c *crew) Expect() { c.running.Add(1) }

// Cancel takes back what was expected.
func (c *crew) Cancel() { c.running.Done() }

// Do runs what was expected.
func (c *crew) Do(f func()) {
	select {
	case c.next <- f:
	default:
		go c.work(f)
	}
}

func (c *crew) work(f func()) {
	rest := time.NewTimer(crewRest)
	defer rest.Stop()
	for {
		f()
		c.running.Done()
		rest.Reset(crewRest)
		select {
		case f = <-c.next:
		case <-rest.C:
			return
		case <-c.over:
			return
		}
	}
}

// Wait returns when all that runs has ended. Nothing may be handed over after that.
func (c *crew) Wait() {
	c.running.Wait()
	close(c.over)
}
