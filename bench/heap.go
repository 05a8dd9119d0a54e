//go:build linux

package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strconv"
)

// gcLine is a line that Go's runtime prints for each collection under GODEBUG=gctrace=1 (package runtime,
// "Environment Variables"): heap size at the start, at the end, and what is live after it.
var gcLine = regexp.MustCompile(`(?m)^gc \d+ @.* (\d+)->\d+->(\d+) MB, `)

// heapAllocated returns the MiB that a Go process allocated on its heap between two offsets of its log: what was
// added from one collection to the start of the next. The lines give whole MiB; over the dozens of collections of
// a loaded service the rounding evens out. It needs nothing in the service, so the binary under test is the released one.
func heapAllocated(log string, from, to int64) float64 {
	f, err := os.Open(log)
	if err != nil {
		return 0
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, from, to-from))
	if err != nil {
		return 0
	}
	return sumCollections(b)
}

func sumCollections(b []byte) (mib float64) {
	live := -1
	for _, m := range gcLine.FindAllSubmatch(bytes.TrimSpace(b), -1) {
		start, _ := strconv.Atoi(string(m[1]))
		if live >= 0 {
			mib += float64(start - live)
		}
		live, _ = strconv.Atoi(string(m[2]))
	}
	return mib
}

// fileSize returns 0 for a file that is not there.
func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
