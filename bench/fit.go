//go:build linux

package main

import "math"

// line is cost = base + slope × log10(rows): the depth of an index grows with the logarithm of its rows.
type line struct{ base, slope float64 }

func (l line) at(rows float64) float64 { return l.base + l.slope*math.Log10(rows) }

// point is what one size cost.
type point struct{ rows, cost float64 }

// fit returns the line with the least squares through the points; false: fewer than two sizes say nothing.
func fit(points []point) (l line, ok bool) {
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		x := math.Log10(p.rows)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+p.cost, sxx+x*x, sxy+x*p.cost
	}
	d := n*sxx - sx*sx
	if n < 2 || d < 1e-9 {
		return l, false
	}
	l.slope = (n*sxy - sx*sy) / d
	l.base = (sy - l.slope*sx) / n
	return l, true
}

// costs returns what one request of a cell cost in microseconds of the whole machine, by size: of full rows, and of erased ones.
func costs(sizes []grown, cell string) (full, erased []point) {
	for _, g := range sizes {
		rate := g.get(cell).Notifications
		if rate == 0 {
			continue
		}
		p := point{float64(g.Rows), 1e6 / rate}
		if g.Erased {
			erased = append(erased, p)
		} else {
			full = append(full, p)
		}
	}
	return full, erased
}
