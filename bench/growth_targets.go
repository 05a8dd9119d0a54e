//go:build linux

package main

import "fmt"

// growthTargets judges the sizes that were measured; the first one is the empty ledger.
func growthTargets(sizes []grown) (all []target) {
	share := map[string]float64{"1M": 0.85, "10M": 0.70, "30M-erased": 0.55}
	empty := sizes[0]
	for _, g := range sizes[1:] {
		of := func(cell string) float64 { return ratio(g.get(cell).Notifications, empty.get(cell).Notifications) }
		if limit, ok := share[g.Size]; ok {
			for _, cell := range []string{"sends/0ms/64", "claims/64"} {
				all = append(all, atLeast(fmt.Sprintf("%s at %s rows", cell, g.Size), of(cell), limit, "%.2f of the empty ledger's"))
			}
		}
		for _, cell := range []string{"repeats/64", "reads/64", "lists/16", "stats/4"} {
			all = append(all, atLeast(fmt.Sprintf("%s at %s rows", cell, g.Size), of(cell), 0.80, "%.2f of the empty ledger's"))
		}
		all = append(all, pageTargets(g)...)
		all = append(all, atMost("ready at "+g.Size+" rows", g.Ready, 1000, "%.0f ms"))
		all = append(all, atMost("memory idle at "+g.Size+" rows", g.Idle, 64, "%.1f MiB"))
		all = append(all, atMost("memory under load at "+g.Size+" rows", g.Peak, 200, "%.1f MiB"))
		if g.Erased {
			all = append(all, atMost("bytes on disk an erased row, "+g.Size, g.BytesEach, 250, "%.0f"))
		} else {
			all = append(all, atMost("bytes on disk a notification, "+g.Size+" rows", g.BytesEach, 900, "%.0f"))
		}
	}
	return all
}
