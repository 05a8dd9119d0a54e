//go:build linux

package main

import (
	"fmt"
	"regexp"
	"time"
)

// mode is what the callers of a cell do.
type mode string

const (
	// sends waits for the outcome: an answer counts once the send is recorded.
	sends mode = "sends"
	// repeats claims events again that were sent before the clock starts.
	repeats mode = "repeats"
	// claims are for tomorrow, so that the claim alone is measured.
	claims mode = "claims"
	// behind claims without waiting, while the loop sends what was claimed.
	behind mode = "claims+sends"
	// batch claims 500 events for tomorrow in one request.
	batch mode = "batch"
)

// batchSize is the number of events in a request of mode batch.
const batchSize = 500

// The systems under test.
const (
	sendonce = "sendonce"
	worker   = "worker" // the peer: Node and PostgreSQL
	bare     = "bare"   // the ceiling: inserts and nothing else
)

// cell is one setting that is measured, of one or both systems.
type cell struct {
	name  string
	mode  mode
	delay time.Duration // of the provider
	conns int
	peer  bool // the worker is measured too
	group int  // rows in a commit; set only where the ceiling is measured
}

func newCell(m mode, delay time.Duration, conns int, peer bool) cell {
	name := fmt.Sprintf("%s/%d", m, conns)
	if m == sends {
		name = fmt.Sprintf("%s/%dms/%d", m, delay.Milliseconds(), conns)
	}
	return cell{name: name, mode: m, delay: delay, conns: conns, peer: peer}
}

func ceilingCell(group int) cell {
	return cell{name: fmt.Sprintf("bare inserts/%d", group), group: group}
}

// slow is the delay of the slower of the two providers.
const slow = 50 * time.Millisecond

// plan is one round. Every round runs all of it, and within a round a system comes right after the one that it
// is compared with, so that a machine that drifts drifts under both.
func plan() []cell {
	return []cell{
		newCell(sends, 0, 1, true),
		newCell(sends, 0, 16, false),
		newCell(sends, 0, 64, true),
		newCell(sends, 0, 256, true),
		newCell(sends, slow, 64, true),
		newCell(sends, slow, 256, true),
		newCell(repeats, 0, 1, true),
		newCell(repeats, 0, 64, true),
		newCell(repeats, 0, 256, true),
		ceilingCell(64),
		newCell(claims, 0, 1, false),
		newCell(claims, 0, 16, false),
		newCell(claims, 0, 64, false),
		newCell(claims, 0, 256, false),
		newCell(behind, 0, 64, false),
		ceilingCell(batchSize),
		newCell(batch, 0, 4, false),
	}
}

// pick returns the cells whose name matches.
func pick(cells []cell, only *regexp.Regexp) (picked []cell) {
	for _, c := range cells {
		if only.MatchString(c.name) {
			picked = append(picked, c)
		}
	}
	return picked
}

// systems are who is measured in a cell, in this order.
func (c cell) systems(withPeer bool) []string {
	switch {
	case c.group > 0:
		return []string{bare}
	case c.peer && withPeer:
		return []string{sendonce, worker}
	}
	return []string{sendonce}
}

// notifications is how many notifications one request carries.
func (c cell) notifications() int {
	if c.mode == batch {
		return batchSize
	}
	return 1
}
