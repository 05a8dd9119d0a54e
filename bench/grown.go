//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"sendonce/bench/fill"
)

// The modes of the growth section beside claims, sends and repeats.
const (
	// reads asks for one row by its id.
	reads mode = "reads"
	// lists asks for pages of fifty: the newest, the oldest, and the one of an event.
	lists mode = "lists"
	// stats asks for the counts.
	stats mode = "stats"
)

// growthCells are measured one after the other on the same running service: what changes no row comes first.
func growthCells() []cell {
	return []cell{
		newCell(reads, 0, 64),
		newCell(lists, 0, 16),
		newCell(stats, 0, 4),
		newCell(repeats, 0, 64),
		newCell(claims, 0, 64),
		newCell(sends, 0, 64),
	}
}

// repeatedRows is how many rows are repeated again and again, whatever the size of the ledger: each repeated row is
// written once a second, and the same number of them makes sizes comparable.
const repeatedRows = 10_000

// grownEvents words the requests of the growth section: about rows that were made, or new ones after them.
type grownEvents struct {
	made made
	addr string
	mode mode
	next int64  // number of the first new event
	tail string // what a claim has beside the made event's fields
}

// request appends request number n.
func (e grownEvents) request(b []byte, n int64) []byte {
	var buf [512]byte
	switch e.mode {
	case reads:
		id := fill.ID(e.any(), e.made.from)
		return e.get(b, fmt.Sprintf("/v1/notifications/%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]))
	case lists:
		pages := [...]string{"", "&sort=oldest", "&event_id=" + fill.EventID(e.any())}
		return e.get(b, "/v1/notifications?limit=50"+pages[n%int64(len(pages))])
	case stats:
		return e.get(b, "/v1/stats")
	case repeats:
		k := n % min(repeatedRows, e.made.rows)
		return e.post(b, "", fill.AppendClaim(buf[:0], 1+k*(e.made.rows/min(repeatedRows, e.made.rows))))
	case sends:
		return e.post(b, "Prefer: wait=30\r\n", fill.AppendClaim(buf[:0], e.next+n))
	}
	body := fill.AppendClaim(buf[:0], e.next+n)
	return e.post(b, "", append(append(body[:len(body)-1], e.tail...), '}'))
}

// any is the number of some made row.
func (e grownEvents) any() int64 { return 1 + rand.Int64N(e.made.rows) }

func (e grownEvents) get(b []byte, path string) []byte {
	return append(append(append(append(append(b, "GET "...), path...), " HTTP/1.1\r\nHost: "...), e.addr...), "\r\n\r\n"...)
}

func (e grownEvents) post(b []byte, header string, body []byte) []byte {
	return events{addr: e.addr}.post(b, "/v1/notifications", header, body)
}

// good says whether an answer is the wanted one.
func (e grownEvents) good(status int, body []byte) bool {
	switch e.mode {
	case reads:
		return status == 200 && bytes.Contains(body, []byte(`"state":"sent"`))
	case lists:
		return status == 200 && bytes.Contains(body, []byte(`"notifications":[`))
	case stats:
		return status == 200
	}
	return good(sendonce, e.mode, status, body)
}

// grown is what was seen of a ledger of one size.
type grown struct {
	Size      string   `json:"size"`
	Rows      int64    `json:"rows"`
	Erased    bool     `json:"erased"`
	Ready     float64  `json:"ready_ms"`  // from the start of the process, with nothing of the file in memory
	Checked   float64  `json:"checked_s"` // until it had no more to do
	Idle      float64  `json:"idle_mib"`
	Peak      float64  `json:"peak_mib"`
	BytesEach float64  `json:"bytes_each"`
	Results   []result `json:"results"`
	Pages     []page   `json:"pages"` // of the console
}

// grow measures one size.
func (b *bench) grow(ctx context.Context, m made) (g grown, err error) {
	g = grown{Size: m.size.String(), Rows: m.rows, Erased: m.erased}
	in, err := b.house(b.stubs[0].addr)
	if err != nil {
		return g, err
	}
	defer in.end()
	for _, suffix := range []string{"", ".lock"} {
		if err := copyFile(in.database+suffix, m.path+suffix); err != nil {
			return g, err
		}
	}
	g.BytesEach = float64(fileSize(in.database)) / float64(m.rows)
	if err := forget(in.database); err != nil {
		return g, err
	}
	start := time.Now()
	if err := b.serve(ctx, in); err != nil {
		return g, err
	}
	g.Ready = float64(time.Since(start).Microseconds()) / 1000
	if g.Checked, err = in.calm(ctx); err != nil {
		return g, err
	}
	memory, err := readMemory(in.process.pid())
	if err != nil {
		return g, err
	}
	g.Idle = memory.Now
	if err := warm(in.database); err != nil {
		return g, err
	}
	if g.Pages, err = b.visit(ctx, in, m); err != nil {
		return g, err
	}
	next := m.rows + 1
	for _, c := range growthCells() {
		e := grownEvents{made: m, addr: in.addr, mode: c.mode, next: next,
			tail: `,"send_at":"` + time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339) + `"`}
		r, err := b.observe(ctx, in, load{addr: in.addr, conns: c.conns, warm: b.warm, length: b.length, request: e.request, good: e.good}, c)
		if err != nil {
			return g, err
		}
		next += r.next
		g.Results, g.Peak = append(g.Results, r), max(g.Peak, r.Memory.Peak)
		progress("%-12s %-10s %9.0f/s  p50 %7.2f ms  p99 %7.2f ms  CPU %6.3f s/1000  %d errors  others %.0f %%",
			g.Size, c.name, r.Notifications, r.P50, r.P99, r.CPU, r.Errors, 100*r.Others)
	}
	return g, nil
}

// calmWait bounds the wait for a service that works by itself after its start.
const calmWait = 5 * time.Minute

// calm waits until the service uses less than a twentieth of one core for a second, and returns how many seconds that took:
// a large ledger is checked beside the service, which would be measured with it.
func (in *instance) calm(ctx context.Context) (seconds float64, err error) {
	start := time.Now()
	for before := treeCPU(in.pids...); time.Since(start) < calmWait; {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-in.process.done:
			return 0, fmt.Errorf("%w: %s", errEnded, in.process.tail())
		case <-time.After(time.Second):
		}
		now := treeCPU(in.pids...)
		if now-before < 0.05 {
			return max(0, time.Since(start).Seconds()-1), nil
		}
		before = now
	}
	progress("the service was still at work after %s; it is measured so", calmWait)
	return calmWait.Seconds(), nil
}
