//go:build linux

package main

import "fmt"

// target is one promise about speed and what this run says about it.
type target struct {
	Name   string  `json:"name"`
	Wanted string  `json:"wanted"`
	Seen   string  `json:"seen"`
	Value  float64 `json:"value"`
	Result string  `json:"result"` // PASS, MISS or "not measured"
	By     float64 `json:"by"`     // how far beyond the limit on the good side, as a share of it; below 0: short of it
}

const (
	pass        = "PASS"
	miss        = "MISS"
	notMeasured = "not measured"
)

// targets judges the summary of a run.
func targets(s summary) []target {
	rate := func(cell, system string) float64 {
		return ratio(s.get(sendonce, cell).Notifications, s.get(system, cell).Notifications)
	}
	ours := func(cell string) result { return s.get(sendonce, cell) }
	cpu := ratio(ours("sends/0ms/64").CPU, s.get(worker, "sends/0ms/64").CPU)
	sync := s.get(disk, "claims/1").P50
	const full = 256 / 0.050 // what 256 callers could have at most
	return []target{
		atLeast("sends recorded, 64 connections", rate("sends/0ms/64", worker), 5, "%.2f × the Node worker"),
		atLeast("sends recorded, 64 connections", rate("sends/0ms/64", worker), 8, "%.2f × the Node worker"),
		atMost("CPU of a send, 64 connections", cpu, 1.0/6, "%.3f of the Node worker's"),
		atMost("CPU of a send, 64 connections", cpu, 1.0/9, "%.3f of the Node worker's"),
		atLeast("sends recorded, 64 connections", rate("sends/0ms/64", river), 3, "%.2f × River"),
		atLeast("sends recorded, 64 connections", rate("sends/0ms/64", goService), 1.5, "%.2f × the Go service"),
		atLeast("repeats, 64 connections", rate("repeats/64", worker), 3.5, "%.2f × the Node worker"),
		atLeast("repeats, 64 connections", rate("repeats/64", worker), 4, "%.2f × the Node worker"),
		atLeast("repeats, 64 connections", rate("repeats/64", echoHTTP), 0.6, "%.2f of bare HTTP"),
		below("median of a send, 1 connection", ratio(ours("sends/0ms/1").P50, s.get(worker, "sends/0ms/1").P50), 1, "%.2f of the Node worker's"),
		atMost("median of a claim, 1 connection: one commit", ratio(ours("claims/1").P50, sync), 2.5, "%.2f × the disk's sync"),
		atMost("median of a send, 1 connection: two commits", ratio(ours("sends/0ms/1").P50, sync), 2.5, "%.2f × the disk's sync"),
		atMost("p99 of a claim, 1 connection", ours("claims/1").P99, 5, "%.2f ms"),
		atMost("p99 of a send, 1 connection", ours("sends/0ms/1").P99, 5, "%.2f ms"),
		atLeast("sends, provider 50 ms, 256 connections", ratio(ours("sends/50ms/256").Notifications, full), 0.85, "%.2f of 5,120/s"),
		atLeast("claims in batches of 500", rate("batch/4", bare), 0.5, "%.2f of bare inserts"),
		atLeast("claims in batches of 500", rate("batch/4", bare), 0.7, "%.2f of bare inserts"),
		atMost("memory, idle", s.Idle, 40, "%.1f MiB"),
		atMost("memory, peak under load", s.Peak, 150, "%.1f MiB"),
		atMost("memory, peak under load", s.Peak, 200, "%.1f MiB"),
	}
}

// ratio returns 0, which means not measured, when one of the two is missing.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func atLeast(name string, value, limit float64, format string) target {
	return judged(name, "≥ ", value, limit, format, value >= limit, value/limit-1)
}

func atMost(name string, value, limit float64, format string) target {
	return judged(name, "≤ ", value, limit, format, value <= limit, 1-value/limit)
}

func below(name string, value, limit float64, format string) target {
	return judged(name, "< ", value, limit, format, value < limit, 1-value/limit)
}

func judged(name, sign string, value, limit float64, format string, ok bool, by float64) target {
	t := target{Name: name, Wanted: sign + fmt.Sprintf(format, limit), Seen: fmt.Sprintf(format, value), Value: value, Result: miss, By: by}
	switch {
	case value == 0:
		t.Seen, t.Result = "–", notMeasured
	case ok:
		t.Result = pass
	}
	return t
}
