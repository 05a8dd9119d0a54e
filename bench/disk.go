//go:build linux

package main

import (
	"context"
	"os"
	"slices"
	"syscall"
	"time"
)

// pageBytes is one page of SQLite, the least that a commit writes.
const pageBytes = 4096

// disk measures the disk's own sync: one page is written over an older one, as in a log that is used again, and waited for.
func (b *bench) disk(ctx context.Context, c cell) (result, error) {
	const pages = 4096 // 16 MiB, as much as our log
	res := result{Cell: c.name, System: disk}
	f, err := os.CreateTemp(b.dir, "sync")
	if err != nil {
		return res, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, pageBytes)
	for i := range page {
		page[i] = byte(i * 31)
	}
	for range pages {
		if _, err := f.Write(page); err != nil {
			return res, err
		}
	}
	if err := f.Sync(); err != nil {
		return res, err
	}
	var all latencies
	machine := machineCPU()
	self := selfCPU()
	start := time.Now()
	for n := int64(0); time.Since(start) < b.length && ctx.Err() == nil; n++ {
		began := time.Now()
		if _, err := f.WriteAt(page, n%pages*pageBytes); err != nil {
			return res, err
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return res, err
		}
		all.add(time.Since(began))
	}
	took := time.Since(start)
	used := reading{self: selfCPU() - self, machine: machineCPU() - machine}
	n := float64(len(all))
	slices.Sort(all)
	res.Requests, res.Notifications, res.P50, res.P99 = int64(len(all)), n/took.Seconds(), all.percentile(.5), all.percentile(.99)
	res.PerSecond, res.CPU, res.Others = res.Notifications, 1000*used.self/n, used.others(took)
	return res, context.Cause(ctx)
}
