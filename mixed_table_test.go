package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// mixedLine is what the table says of one provider.
type mixedLine struct {
	requests int // that its fake read
	outcomes map[string]int
	states   map[string]int // of the rows that ended with it
	got      map[int]int    // rows by how often their message was received
	lost     int            // rows that are sent, and nobody got them
	late     int            // attempts that timed out although the fake answered
}

// mixedTable writes a line for each provider, and their sum.
func mixedTable(lines map[string]*mixedLine) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	cells := func(name string, n []int) {
		_, _ = fmt.Fprint(t, name, "\t")
		for i, count := range n {
			if i == 5 || i == 9 {
				_, _ = fmt.Fprint(t, "|\t")
			}
			_, _ = fmt.Fprint(t, count, "\t")
		}
		_, _ = fmt.Fprintln(t)
	}
	_, _ = fmt.Fprintln(t, strings.ReplaceAll("provider,requests,accepted,rejected,deferred,ambiguous,|,rows,sent,failed,ambiguous,|,"+
		"received once,twice,lost,", ",", "\t"))
	sum := make([]int, 12)
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		l := lines[name]
		rows, twice := 0, 0
		for times, n := range l.got {
			if rows += n; times > 1 {
				twice += n
			}
		}
		counts := []int{
			l.requests, l.outcomes["accepted"], l.outcomes["rejected"], l.outcomes["deferred"], l.outcomes["ambiguous"],
			rows, l.states["sent"], l.states["failed"], l.states["ambiguous"], l.got[1], twice, l.lost,
		}
		for i, n := range counts {
			sum[i] += n
		}
		cells(name, counts)
	}
	cells("all", sum)
	_ = t.Flush()
	return b.String()
}
