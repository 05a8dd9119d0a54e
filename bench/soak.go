//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// tenth is what a soak saw in a tenth of its time: rates and times of the load, and the most that the service held.
type tenth struct {
	After   string  `json:"after"`
	Sent    int64   `json:"sent"` // so far
	Ledger  float64 `json:"ledger_mib"`
	Holding holding `json:"most"`
	measured
}

// soakReport is what a soak says.
type soakReport struct {
	Machine machine  `json:"machine"`
	Top     float64  `json:"top_per_s"`
	Rate    float64  `json:"rate_per_s"` // half of it
	Tenths  []tenth  `json:"tenths"`
	Each    float64  `json:"bytes_each"` // by which the ledger grew for a notification
	Targets []target `json:"targets"`
}

// soak finds the top rate of sends on 64 connections, then sends at half of it for the given time.
func (b *bench) soak(ctx context.Context, o options, w io.Writer) error {
	r := soakReport{Machine: describe(b.dir)}
	b.debug = ",schedtrace=5000,scheddetail=1" // see goroutines
	in, err := b.startService(ctx, b.stubs[0].addr)
	if err != nil {
		return err
	}
	defer in.end()
	c := newCell(sends, 0, 64)
	l := b.load(newEvents(in.addr, c.mode), c, sendonce)
	l.length = max(b.length, 10*time.Second)
	top, err := l.run(ctx)
	if err != nil {
		return err
	}
	r.Top, r.Rate = top.PerSecond, top.PerSecond/2
	progress("at most %.0f/s; now %s at half of it", r.Top, o.soak)
	l.from, l.warm, l.length, l.rate = top.next, 0, o.soak/10, r.Rate
	base, first := float64(fileSize(in.database)), l.from
	for i := range 10 {
		t, err := b.tenth(ctx, in, &l)
		if err != nil {
			return err
		}
		t.After, t.Sent = (time.Duration(i+1) * l.length).String(), l.from-first
		r.Tenths = append(r.Tenths, t)
		progress("soak %d of 10: %.0f/s, p99 %.1f ms, %.1f MiB", i+1, t.PerSecond, t.P99, t.Holding.Resident)
	}
	r.Each = (float64(fileSize(in.database)) - base) / float64(l.from-first)
	r.Targets = soakTargets(r.Tenths)
	if o.json {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	r.write(w)
	return nil
}

// tenth runs the load once and looks at the service meanwhile.
func (b *bench) tenth(ctx context.Context, in *instance, l *load) (t tenth, err error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan holding, 1)
	go func() { seen <- in.watch(watching) }()
	if t.measured, err = l.run(ctx); err != nil {
		return t, err
	}
	l.from = t.next
	stop()
	t.Holding, t.Ledger = <-seen, float64(fileSize(in.database))/(1<<20)
	return t, nil
}

// soakTargets compares the last three tenths with the second to the fourth: in the first one caches fill.
func soakTargets(all []tenth) []target {
	if len(all) < 10 {
		return nil
	}
	var early, late holding
	for i, t := range all {
		switch {
		case i >= 1 && i <= 3:
			early = early.most(t.Holding)
		case i >= 7:
			late = late.most(t.Holding)
		}
	}
	const format = "%.2f × the early most"
	return []target{
		atMost("resident memory, late", ratio(late.Resident, early.Resident), 1.05, format),
		atMost("goroutines, late", ratio(late.Goroutines, early.Goroutines), 1.05, format),
		atMost("descriptors, late", ratio(late.Descriptors, early.Descriptors), 1.05, format),
		atMost("log file, late", ratio(late.WAL, early.WAL), 1.05, format),
		atMost("p99 of the last tenth", ratio(all[9].P99, all[0].P99), 1.2, "%.2f × that of the first"),
	}
}

// write prints the report for people; as it is, it is Markdown.
func (r soakReport) write(w io.Writer) {
	fmt.Fprintf(w, "%s\nSends on 64 connections, provider answering at once: at most %s/s; then at half of that, %s/s.\n\n", r.Machine, count(r.Top), count(r.Rate))
	rows := [][]string{{"after", "sent", "a second", "p50 ms", "p99 ms", "errors", "resident MiB", "goroutines", "descriptors", "log MiB", "ledger MiB"}}
	for _, t := range r.Tenths {
		h := t.Holding
		rows = append(rows, []string{t.After, count(float64(t.Sent)), count(t.PerSecond), number(t.P50, "%.2f"), number(t.P99, "%.2f"), fmt.Sprint(t.Errors),
			number(h.Resident, "%.1f"), count(h.Goroutines), count(h.Descriptors), number(h.WAL, "%.1f"), number(t.Ledger, "%.0f")})
	}
	writeTable(w, rows)
	fmt.Fprintf(w, "\nThe ledger grew by %.0f bytes a notification.\n", r.Each)
	for _, t := range r.Tenths {
		if t.Errors > 0 {
			fmt.Fprintf(w, "Errors until %s, the first: %s\n", t.After, t.Sample)
		}
	}
	fmt.Fprintln(w)
	writeTargets(w, r.Targets)
}
