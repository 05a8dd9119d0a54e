package ledger

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// Keeps out a crew that starts a goroutine for each attempt, keeps one for ever, or outlives the loop.
func TestCrew_KeepsItsGoroutinesForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		c := newCrew()
		ran := make(chan struct{}, 9)
		kept := func(when string, want int) {
			t.Helper()
			synctest.Wait()
			if got := runtime.NumGoroutine() - before; got != want {
				t.Errorf("%s: %d goroutines, want %d", when, got, want)
			}
		}
		for range 3 {
			c.Go(func() { ran <- struct{}{} })
			kept("after one more attempt", 1)
		}
		release := make(chan struct{})
		for range 2 {
			c.Go(func() { <-release; ran <- struct{}{} })
		}
		kept("with two attempts at once", 2)
		close(release)
		time.Sleep(crewRest + time.Second)
		kept("after a rest", 0)
		c.Go(func() { ran <- struct{}{} })
		c.Wait()
		kept("after the end", 0)
		if len(ran) != 6 {
			t.Errorf("%d attempts ran, want 6", len(ran))
		}
	})
}
