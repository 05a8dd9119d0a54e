package main

import (
	"os"
	"runtime"
	"sync"
)

// spareProcessors is how many threads may run Go beyond the machine's processors. Go counts one that waits for the disk as running
// until it notices: of two, the writer's would be missing to everybody else for most of a commit.
const spareProcessors = 2

// spareThreads lets Go use them. An operator who sets GOMAXPROCS has chosen.
var spareThreads = sync.OnceFunc(func() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareProcessors)
	}
})
