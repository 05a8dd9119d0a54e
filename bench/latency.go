//go:build linux

package main

import (
	"slices"
	"time"
)

// latencies are durations of requests in microseconds: 4 bytes each, since a run keeps every one of them.
type latencies []uint32

func (l *latencies) add(d time.Duration) { *l = append(*l, uint32(min(d.Microseconds(), 1<<32-1))) }

// sorted joins the parts that the connections kept for themselves, so that no lock stands in the measured path.
func sorted(parts []latencies) latencies {
	all := slices.Concat(parts...)
	slices.Sort(all)
	return all
}

// percentile returns the smallest value that at least the share p (0 to 1) of the sorted values does not exceed
// (nearest rank), in milliseconds; 0 when there are none.
func (l latencies) percentile(p float64) float64 {
	if len(l) == 0 {
		return 0
	}
	rank := int(p * float64(len(l)))
	if float64(rank) < p*float64(len(l)) {
		rank++
	}
	return float64(l[max(rank, 1)-1]) / 1000
}

// median returns the middle of the values, for an even number the mean of the two in the middle; 0 when there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
