//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// growthReport is what the growth section says.
type growthReport struct {
	Machine machine  `json:"machine"`
	Rounds  int      `json:"rounds"`
	Seconds float64  `json:"seconds"`
	Sizes   []grown  `json:"sizes"` // medians; the empty one first
	Targets []target `json:"targets"`
}

// growth measures the service on an empty ledger and on those of the wanted sizes, in turn and round by round.
func (b *bench) growth(ctx context.Context, o options, w io.Writer) error {
	r := growthReport{Machine: describe(b.dir), Rounds: o.runs, Seconds: o.secs}
	var ledgers []made
	for _, s := range append([]size{{rows: emptySize}}, o.growth...) {
		m, err := b.ledgerOf(ctx, s)
		if err != nil {
			return err
		}
		ledgers = append(ledgers, m)
	}
	rounds := make([][]grown, len(ledgers))
	for range o.runs {
		for i, m := range ledgers {
			g, err := b.grow(ctx, m)
			if err != nil {
				return err
			}
			rounds[i] = append(rounds[i], g)
		}
	}
	for _, round := range rounds {
		r.Sizes = append(r.Sizes, middle(round))
	}
	r.Targets = growthTargets(r.Sizes)
	if o.plot != "" {
		if err := os.WriteFile(o.plot, []byte(plot(r)), 0o644); err != nil {
			return err
		}
	}
	if o.json {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	r.write(w)
	return nil
}

// middle joins the rounds of one size; memory is the most of all, for a limit holds in each.
func middle(rounds []grown) grown {
	g := rounds[0]
	var runs []result
	var ready, checked []float64
	for _, round := range rounds {
		runs = append(runs, round.Results...)
		ready, checked = append(ready, round.Ready), append(checked, round.Checked)
		g.Idle, g.Peak = max(g.Idle, round.Idle), max(g.Peak, round.Peak)
	}
	g.Ready, g.Checked, g.Results, g.Pages = median(ready), median(checked), nil, middlePages(rounds)
	for _, r := range rounds[0].Results {
		g.Results = append(g.Results, medians(runs, r.System, r.Cell))
	}
	return g
}

// get returns the medians of a cell; all zero when it was not measured.
func (g grown) get(cell string) result {
	return summary{Results: g.Results}.get(sendonce, cell)
}

// write prints the report for people; as it is, it is Markdown.
func (r growthReport) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n%d rounds of %g s a cell, medians. In brackets: share of the rate on the empty ledger.\n\n", r.Machine, r.Rounds, r.Seconds)
	head := []string{"rows"}
	for _, c := range growthCells() {
		head = append(head, c.name+" a second", "p99 ms")
	}
	rows := [][]string{append(head, "bytes a row", "ready ms", "then busy s", "idle MiB", "peak MiB")}
	for _, g := range r.Sizes {
		row := []string{g.Size}
		for _, c := range growthCells() {
			seen, empty := g.get(c.name), r.Sizes[0].get(c.name)
			row = append(row, count(seen.Notifications)+" ("+number(100*ratio(seen.Notifications, empty.Notifications), "%.0f %%")+")", number(seen.P99, "%.1f"))
		}
		rows = append(rows, append(row, count(g.BytesEach), count(g.Ready), number(g.Checked, "%.0f"), number(g.Idle, "%.1f"), number(g.Peak, "%.1f")))
	}
	writeTable(w, rows)
	writeNotes(w, r.Sizes)
	fmt.Fprintln(w)
	writePages(w, r.Sizes)
	fmt.Fprintln(w)
	writeTargets(w, r.Targets)
}

// writeNotes says what spoils a table: work of others, and the first error of each cell that had one.
func writeNotes(w io.Writer, sizes []grown) {
	others := 0.0
	for _, g := range sizes {
		for _, r := range g.Results {
			others = max(others, r.Others)
		}
	}
	writeOthers(w, others)
	for _, g := range sizes {
		for _, r := range g.Results {
			if r.Errors > 0 {
				fmt.Fprintf(w, "Errors in %s at %s rows, the first: %s\n", r.Cell, g.Size, r.Sample)
			}
		}
	}
}
