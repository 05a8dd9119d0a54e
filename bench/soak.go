//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// soak sends over 64 connections for the given time and prints, ten times, what the service holds by then. What
// levels off is a cache; what goes on growing with the notifications is a leak.
func (b *bench) soak(ctx context.Context, length time.Duration, w io.Writer) error {
	in, err := b.startService(ctx, b.stubs[0].addr)
	if err != nil {
		return err
	}
	defer in.end()
	c := newCell(sends, 0, 64)
	l := b.load(newEvents(in.addr, c.mode), c, sendonce)
	l.warm, l.length = 0, length/10
	rows := [][]string{{"after", "notifications", "a second", "p99 ms", "errors", "resident MiB", "descriptors", "ledger MiB", "WAL MiB", "bytes each"}}
	base := float64(fileSize(in.database))
	for i := range 10 {
		m, err := l.run(ctx)
		if err != nil {
			return err
		}
		l.from = m.next
		mem, err := readMemory(in.process.pid())
		if err != nil {
			return err
		}
		size := float64(fileSize(in.database))
		rows = append(rows, []string{(time.Duration(i+1) * l.length).String(), count(float64(m.next)), count(m.PerSecond),
			fmt.Sprintf("%.1f", m.P99), fmt.Sprint(m.Errors), fmt.Sprintf("%.1f", mem.Now), descriptors(in.process.pid()),
			fmt.Sprintf("%.1f", size/(1<<20)), fmt.Sprintf("%.1f", float64(fileSize(in.database+"-wal"))/(1<<20)),
			fmt.Sprintf("%.0f", (size-base)/float64(m.next))})
		progress("soak %d of 10: %.0f/s, %.1f MiB", i+1, m.PerSecond, mem.Now)
	}
	writeTable(w, rows)
	return nil
}

// descriptors counts what a process has open.
func descriptors(pid int) string {
	names, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	if err != nil {
		return "–"
	}
	return strconv.Itoa(len(names))
}
