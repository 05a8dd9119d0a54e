//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// holding is what a running service holds.
type holding struct {
	Resident    float64 `json:"resident_mib"`
	Goroutines  float64 `json:"goroutines"`
	Descriptors float64 `json:"descriptors"`
	WAL         float64 `json:"wal_mib"`
}

// most returns the larger one of each.
func (h holding) most(o holding) holding {
	return holding{max(h.Resident, o.Resident), max(h.Goroutines, o.Goroutines), max(h.Descriptors, o.Descriptors), max(h.WAL, o.WAL)}
}

// watch looks at the service each second until ctx ends, and returns the most of what it saw.
func (in *instance) watch(ctx context.Context) (most holding) {
	for {
		most = most.most(in.holding())
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return most
		}
	}
}

// holding looks once. What cannot be read is 0.
func (in *instance) holding() (h holding) {
	if m, err := readMemory(in.process.pid()); err == nil {
		h.Resident = m.Now
	}
	if names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", in.process.pid())); err == nil {
		h.Descriptors = float64(len(names))
	}
	h.Goroutines = float64(goroutines(in.process.log))
	h.WAL = float64(fileSize(in.database+"-wal")) / (1 << 20)
	return h
}

// tailBytes is how much of a log is searched for the last trace: that of some thousand goroutines.
const tailBytes = 512 << 10

// goroutine is a line that Go's runtime prints for each goroutine under GODEBUG=schedtrace=N,scheddetail=1; those of
// status 6 have ended and are kept for reuse.
var goroutine = regexp.MustCompile(`(?m)^  G\d+: status=(\d+)`)

// goroutines counts those of the last whole trace in a log; 0: there is none. It needs nothing in the service, so the binary
// under test is the released one.
func goroutines(log string) (n int) {
	f, err := os.Open(log)
	if err != nil {
		return 0
	}
	defer f.Close()
	from := max(0, fileSize(log)-tailBytes)
	b, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return 0
	}
	return countGoroutines(b)
}

func countGoroutines(log []byte) (n int) {
	traces := bytes.Split(log, []byte("\nSCHED "))
	if len(traces) < 3 { // the first piece is what stands before a trace, the last one may not be whole
		return 0
	}
	for _, m := range goroutine.FindAllSubmatch(traces[len(traces)-2], -1) {
		if string(m[1]) != "6" {
			n++
		}
	}
	return n
}
