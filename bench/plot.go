//go:build linux

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The plot's area, in pixels of the SVG.
const (
	plotLeft, plotRight = 64.0, 560.0
	plotTop, plotBottom = 48.0, 360.0
	plotTo              = 1e8 // rows up to which the fitted lines go
)

// plotStyle has colours for a light and for a dark page; a picture in a page knows only what the reader's system prefers.
const plotStyle = `<style>
text { font: 13px sans-serif; fill: #24292f }
.axis { stroke: #8c959f } .grid { stroke: #d0d7de; stroke-width: .5 }
.c0 { --c: #0969da } .c1 { --c: #bc4c00 } .c2 { --c: #1a7f37 } .c3 { --c: #8250df } .c4 { --c: #cf222e }
polyline, line.fit { stroke: var(--c); stroke-width: 2; fill: none } line.fit { stroke-dasharray: 4 5; opacity: .7 }
circle { fill: var(--c); stroke: var(--c); stroke-width: 2 } circle.erased { fill: none } text.name { fill: var(--c) }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .axis { stroke: #6e7681 } .grid { stroke: #30363d }
.c0 { --c: #58a6ff } .c1 { --c: #f0883e } .c2 { --c: #3fb950 } .c3 { --c: #bc8cff } .c4 { --c: #ff7b72 }
}
</style>
`

// plotted are the cells that the plot shows.
var plotted = []string{"sends/0ms/64", "claims/64", "repeats/64", "reads/64", "lists/16"}

// plot draws the cost of a request against the rows of the ledger, as an SVG: what was measured as dots and lines, and dashed
// the line that fits them, on to a hundred million rows.
func plot(r growthReport) string {
	var b strings.Builder
	p := newScale(r.Sizes)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 420" role="img" aria-label="Cost of a request against the rows of the ledger">`+"\n%s", plotStyle)
	fmt.Fprintf(&b, `<text x="%g" y="24">Cost of a request in µs (one over the rate) against rows in the ledger · %s</text>`+"\n", plotLeft-48, r.Machine.Date)
	p.axes(&b)
	var names []label
	for i, cell := range plotted {
		full, erased := costs(r.Sizes, cell)
		if len(full) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<g class="c%d">`, i)
		var way []string
		for _, at := range full {
			way = append(way, fmt.Sprintf("%.1f,%.1f", p.x(at.rows), p.y(at.cost)))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5"/>`, p.x(at.rows), p.y(at.cost))
		}
		fmt.Fprintf(&b, `<polyline points="%s"/>`, strings.Join(way, " "))
		for _, at := range erased {
			fmt.Fprintf(&b, `<circle class="erased" cx="%.1f" cy="%.1f" r="4"/>`, p.x(at.rows), p.y(at.cost))
		}
		end := full[len(full)-1].cost
		if l, ok := fit(full); ok {
			last := full[len(full)-1].rows
			end = l.at(plotTo)
			fmt.Fprintf(&b, `<line class="fit" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, p.x(last), p.y(l.at(last)), p.x(plotTo), p.y(end))
		}
		b.WriteString("</g>\n")
		names = append(names, label{i, cell, p.y(end) + 4})
	}
	for _, n := range apart(names) {
		fmt.Fprintf(&b, `<text class="name c%d" x="%g" y="%.1f">%s</text>`+"\n", n.colour, plotRight+8, n.y, n.text)
	}
	fmt.Fprintf(&b, `<text x="%g" y="408">● full rows, ○ erased rows, - - fitted (base + slope × log rows), not measured</text>`+"\n</svg>\n", plotLeft-48)
	return b.String()
}

// scale turns rows and costs into places.
type scale struct{ least, most float64 } // rows at the left edge, cost at the top

func newScale(sizes []grown) scale {
	s := scale{least: plotTo, most: 1}
	for _, cell := range plotted {
		full, erased := costs(sizes, cell)
		for _, p := range append(full, erased...) {
			s.least, s.most = min(s.least, p.rows), max(s.most, p.cost)
		}
		if l, ok := fit(full); ok {
			s.most = max(s.most, l.at(plotTo))
		}
	}
	step := math.Pow(10, math.Floor(math.Log10(s.most)))
	s.most = step * math.Ceil(s.most/step)
	return s
}

func (s scale) x(rows float64) float64 {
	return plotLeft + (plotRight-plotLeft)*math.Log10(rows/s.least)/math.Log10(plotTo/s.least)
}

func (s scale) y(cost float64) float64 {
	return plotBottom - (plotBottom-plotTop)*max(0, cost)/s.most
}

// axes draws the frame with a mark for each power of ten and five steps of cost.
func (s scale) axes(b *strings.Builder) {
	for i := range 6 {
		cost := s.most * float64(i) / 5
		fmt.Fprintf(b, `<line class="grid" x1="%g" y1="%.1f" x2="%g" y2="%.1f"/><text x="%g" y="%.1f" text-anchor="end">%.0f</text>`+"\n",
			plotLeft, s.y(cost), plotRight, s.y(cost), plotLeft-8, s.y(cost)+4, cost)
	}
	for rows := s.least; rows <= plotTo*1.01; rows *= 10 {
		fmt.Fprintf(b, `<line class="axis" x1="%.1f" y1="%g" x2="%.1f" y2="%g"/><text x="%.1f" y="%g" text-anchor="middle">%s</text>`+"\n",
			s.x(rows), plotBottom, s.x(rows), plotBottom+5, s.x(rows), plotBottom+20, size{rows: int64(rows)})
	}
	fmt.Fprintf(b, `<line class="axis" x1="%g" y1="%g" x2="%g" y2="%g"/>`+"\n", plotLeft, plotBottom, plotRight, plotBottom)
}

// label is a name at the end of a line.
type label struct {
	colour int
	text   string
	y      float64
}

// apart moves labels down until none stands on another.
func apart(all []label) []label {
	slices.SortFunc(all, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	for i := 1; i < len(all); i++ {
		all[i].y = max(all[i].y, all[i-1].y+15)
	}
	return all
}
