package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// ballastBytes are never touched, so they take no memory; but Go counts them as living, and collects when the heap is twice what
// lives. What really lives is small, some 10 to 20 MB, and would be collected dozens of times a second under load. A large heap is
// collected as ever.
const ballastBytes = 16 << 20

// A service is quiet that allocated less than quietBytes since it was looked at quietTime ago: it answered a few probes at most.
const (
	quietTime  = 10 * time.Second
	quietBytes = 1 << 20
)

// giveBack returns to the machine what a load has left on the heap, once the service is quiet again: under a goal that the
// ballast has raised, Go would keep it. It ends with ctx.
func giveBack(ctx context.Context) {
	look := time.NewTicker(quietTime)
	defer look.Stop()
	for last, busy := allocated(), false; ; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now := allocated()
		switch quiet := now-last < quietBytes; {
		case !quiet:
			busy = true
		case busy:
			debug.FreeOSMemory()
			busy = false
		}
		last = now
	}
}

// allocated is how many bytes the process ever put on its heap.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
