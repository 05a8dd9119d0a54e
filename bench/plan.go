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

// The systems that are measured, as the report calls them.
const (
	sendonce  = "sendonce"
	worker    = "Node + PostgreSQL"   // a worker as a team would write it by hand
	goService = "Go + PostgreSQL"     // a service as a good Go team would write it, with pgx
	river     = "River, PostgreSQL"   // a job queue: inserts and works, no HTTP in front
	pgbench   = "bare PostgreSQL"     // the worker's statements from pgbench: no HTTP, no provider
	redis     = "Redis SET NX"        // with an append-only file, synced each time: a key, nothing else
	bare      = "bare inserts"        // of our rows into our schema by our driver, in groups
	echoHTTP  = "bare HTTP, echo"     // a handler that answers the body, in the framework that we use
	bareHTTP  = "bare HTTP, net/http" // the same without a framework
	disk      = "sync of one page"    // write and fdatasync of 4 KiB
)

// cell is one setting that is measured, of the service and of what stands beside it there.
type cell struct {
	name   string
	mode   mode
	delay  time.Duration // of the provider
	conns  int
	beside []string
	group  int // rows in a commit of bare inserts
}

func newCell(m mode, delay time.Duration, conns int, beside ...string) cell {
	name := fmt.Sprintf("%s/%d", m, conns)
	if m == sends {
		name = fmt.Sprintf("%s/%dms/%d", m, delay.Milliseconds(), conns)
	}
	c := cell{name: name, mode: m, delay: delay, conns: conns, beside: beside, group: conns}
	if m == batch {
		c.group = batchSize
	}
	return c
}

// slow is the delay of the slower of the two providers.
const slow = 50 * time.Millisecond

// plan is one round. Every round runs all of it, and within a round a system comes right after the one that it
// is compared with, so that a machine that drifts drifts under both.
func plan() []cell {
	return []cell{
		newCell(sends, 0, 1, worker, goService),
		newCell(sends, 0, 16),
		newCell(sends, 0, 64, worker, goService, river, pgbench),
		newCell(sends, 0, 256, worker),
		newCell(sends, slow, 64, worker),
		newCell(sends, slow, 256, worker, goService),
		newCell(repeats, 0, 1, worker),
		newCell(repeats, 0, 64, worker, goService, pgbench, echoHTTP, bareHTTP),
		newCell(repeats, 0, 256, worker),
		newCell(claims, 0, 1, disk, pgbench, redis),
		newCell(claims, 0, 16),
		newCell(claims, 0, 64, bare, pgbench, redis),
		newCell(claims, 0, 256),
		newCell(behind, 0, 64),
		newCell(batch, 0, 4, bare),
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

// systems are who is measured in a cell, in this order, without those that were left out.
func (c cell) systems(left map[string]string) []string {
	all := []string{sendonce}
	for _, system := range c.beside {
		if left[system] == "" {
			all = append(all, system)
		}
	}
	return all
}

// notifications is how many notifications one request carries.
func (c cell) notifications() int {
	if c.mode == batch {
		return batchSize
	}
	return 1
}
