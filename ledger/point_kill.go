//go:build crashpoints

package ledger

import (
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
)

// Set once at start from the environment of the test: the process ends as by kill -9 when it reaches CRASH_AT for the
// CRASH_AFTER-th time.
var (
	crashAt       = Point(os.Getenv("CRASH_AT"))
	crashAfter, _ = strconv.ParseInt(os.Getenv("CRASH_AFTER"), 10, 64)
	reached       atomic.Int64
)

// Reach ends the process when it is told to at this point.
func Reach(p Point) {
	if p == crashAt && reached.Add(1) == max(crashAfter, 1) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
