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
}

const (
	pass        = "PASS"
	miss        = "MISS"
	notMeasured = "not measured"
)

// targets judges the summary of a run.
func targets(s summary) []target {
	sends64, peer64 := s.get(sendonce, "sends/0ms/64"), s.get(worker, "sends/0ms/64")
	one, peerOne := s.get(sendonce, "sends/0ms/1"), s.get(worker, "sends/0ms/1")
	again, peerAgain := s.get(sendonce, "repeats/64"), s.get(worker, "repeats/64")
	slow256 := s.get(sendonce, "sends/50ms/256")
	batches, bulk := s.get(sendonce, "batch/4"), s.get(bare, ceilingCell(batchSize).name)
	const full = 256 / 0.050 // what 256 callers could have at most
	return []target{
		atLeast("sends recorded, 64 connections", ratio(sends64.Notifications, peer64.Notifications), 5, "%.2f × the worker"),
		atMost("CPU of a send, 64 connections", ratio(sends64.CPU, peer64.CPU), 1.0/6, "%.3f of the worker's"),
		atLeast("repeats, 64 connections", ratio(again.Notifications, peerAgain.Notifications), 3.5, "%.2f × the worker"),
		below("median of a send, 1 connection", ratio(one.P50, peerOne.P50), 1, "%.2f of the worker's"),
		atLeast("sends, provider 50 ms, 256 connections", ratio(slow256.Notifications, full), 0.85, "%.2f of 5,120/s"),
		atLeast("claims in batches of 500", ratio(batches.Notifications, bulk.Notifications), 0.5, "%.2f of bare inserts"),
		atMost("memory, idle", s.Idle, 40, "%.1f MiB"),
		atMost("memory, peak under load", s.Peak, 150, "%.1f MiB"),
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
	return judged(name, "≥ ", value, limit, format, value >= limit)
}

func atMost(name string, value, limit float64, format string) target {
	return judged(name, "≤ ", value, limit, format, value <= limit)
}

func below(name string, value, limit float64, format string) target {
	return judged(name, "< ", value, limit, format, value < limit)
}

func judged(name, sign string, value, limit float64, format string, ok bool) target {
	t := target{Name: name, Wanted: sign + fmt.Sprintf(format, limit), Seen: fmt.Sprintf(format, value), Value: value, Result: miss}
	switch {
	case value == 0:
		t.Seen, t.Result = "–", notMeasured
	case ok:
		t.Result = pass
	}
	return t
}
