//go:build linux

package main

import (
	"bufio"
	"io"
	"regexp"
	"strings"
	"testing"
)

// figures is a run in which every target is met.
func figures() []result {
	row := func(system, cell string, perSecond, cpu, p50 float64) result {
		return result{System: system, Cell: cell, Notifications: perSecond, CPU: cpu, measured: measured{P50: p50}, Memory: memory{Now: 60, Peak: 90}}
	}
	all := []result{
		row(sendonce, "sends/0ms/1", 1000, .5, .4), row(worker, "sends/0ms/1", 500, 1.5, 1.7),
		row(sendonce, "sends/0ms/64", 9000, .1, 7), row(worker, "sends/0ms/64", 1000, 1, 60), row(river, "sends/0ms/64", 2500, .7, 0),
		row(goService, "sends/0ms/64", 4000, .3, 16),
		row(sendonce, "repeats/64", 45000, .03, 1), row(worker, "repeats/64", 10000, .1, 6), row(echoHTTP, "repeats/64", 60000, .02, 1),
		row(sendonce, "claims/1", 3000, .1, .3), row(disk, "claims/1", 6000, .1, .16),
		row(sendonce, "sends/50ms/256", 5000, .1, 51),
		row(sendonce, "batch/4", 20000, .1, 80), row(bare, "batch/4", 25000, .03, 12),
	}
	for i := range all {
		all[i].P99 = 3 * all[i].P50
	}
	return all
}

func TestTargets_EachCanPassAndMiss(t *testing.T) {
	all := summarize(summary{Idle: 30}, figures())
	for _, target := range all.Targets {
		if target.Result != pass || target.By < 0 {
			t.Errorf("%s: %s (%s) by %v, want PASS", target.Name, target.Result, target.Seen, target.By)
		}
	}
	bad := figures()
	for i := range bad {
		if bad[i].System == sendonce {
			bad[i].Notifications /= 3
			bad[i].CPU *= 3
			bad[i].P50 *= 5
			bad[i].P99 *= 20
			bad[i].Memory.Peak *= 3
		}
	}
	for _, target := range summarize(summary{Idle: 41}, bad).Targets {
		if target.Result != miss || target.By > 0 {
			t.Errorf("%s: %s (%s) by %v, want MISS", target.Name, target.Result, target.Seen, target.By)
		}
	}
	for _, target := range summarize(summary{}, nil).Targets {
		if target.Result != notMeasured {
			t.Errorf("%s: %s, want %q: nothing was measured", target.Name, target.Result, notMeasured)
		}
	}
}

func TestTargets_NameCellsOfThePlan(t *testing.T) {
	known := map[string]bool{}
	for _, c := range plan() {
		for _, system := range c.systems(nil) {
			known[system+" "+c.name] = true
		}
	}
	for _, r := range figures() {
		if !known[r.System+" "+r.Cell] {
			t.Errorf("the plan does not measure %s of %s", r.Cell, r.System)
		}
	}
}

func TestSummary_MediansAndAllErrors(t *testing.T) {
	s := summarize(summary{}, []result{
		{System: sendonce, Cell: "x", Notifications: 10, measured: measured{Errors: 1, Sample: "first"}, Memory: memory{Peak: 5}},
		{System: sendonce, Cell: "x", Notifications: 30, measured: measured{Errors: 2, Sample: "second"}, Memory: memory{Peak: 9}},
	})
	got := s.get(sendonce, "x")
	if len(s.Results) != 1 || got.Notifications != 20 || got.Errors != 3 || got.Sample != "first" || s.Peak != 9 {
		t.Errorf("got %+v, peak %v", got, s.Peak)
	}
}

func TestTable_EveryRowHasTheColumnsOfTheHead(t *testing.T) {
	var b strings.Builder
	summarize(summary{Idle: 30, LeftOut: "nothing"}, figures()).write(&b)
	even(t, b.String())
	for _, want := range []string{"sends/0ms/64", "9,000", "× 9.00 |", "× 0.100", "+80 %", "Left out: nothing", "PASS"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// even looks for rows of a table that have another number of columns than its head.
func even(t *testing.T, text string) {
	t.Helper()
	columns := 0
	for line := range strings.Lines(text) {
		n := strings.Count(line, "|")
		switch {
		case n == 0:
			columns = 0
		case columns == 0:
			columns = n
		case n != columns:
			t.Errorf("%d bars, the head has %d: %s", n, columns, line)
		}
	}
}

func TestPick_ByExpression(t *testing.T) {
	got := pick(plan(), regexp.MustCompile(`^sends/0ms/64$|^batch`))
	if len(got) != 2 || got[0].name != "sends/0ms/64" || got[1].notifications() != batchSize {
		t.Errorf("got %+v", got)
	}
}

func TestMessage_LengthChunksAndFaults(t *testing.T) {
	read := func(s string) *message { return &message{r: bufio.NewReader(strings.NewReader(s))} }
	m := read("HTTP/1.1 202 Accepted\r\ncontent-length:  3\r\n\r\nabc" +
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: t\r\n\r\n" +
		"HTTP/1.1 204 No Content\r\nConnection: Close\r\n\r\n")
	for _, want := range []struct {
		status int
		body   string
	}{{202, "abc"}, {200, "abc0123456789abcdef"}, {204, ""}} {
		if err := m.next(); err != nil || m.status() != want.status || string(m.body) != want.body {
			t.Errorf("got %d %q, %v; want %+v", m.status(), m.body, err, want)
		}
	}
	if !m.last {
		t.Error("the wish to close was not seen")
	}
	if err := m.next(); err != io.EOF {
		t.Errorf("at the end: %v, want EOF", err)
	}
	for _, broken := range []string{
		"HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
	} {
		if err := read(broken).next(); err == nil || err == io.EOF {
			t.Errorf("%q: %v, want an error inside the message", broken, err)
		}
	}
}
