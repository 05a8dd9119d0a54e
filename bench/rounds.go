//go:build linux

package main

import (
	"context"
	"time"
)

// all measures the cells of every round.
func (b *bench) all(ctx context.Context, o options, cells []cell) (summary, error) {
	s := summary{Machine: describe(b.dir), Rounds: o.runs, Seconds: o.secs}
	if err := b.preparePeers(ctx, o, cells); err != nil {
		return s, err
	}
	s.LeftOut = b.peers.leftOut()
	if b.peers.postgres != nil {
		s.Machine.versions(b.peers.postgres.process.cmd.Path, b.peers.redis)
	}
	n := 0
	for _, c := range cells {
		n += len(c.systems(b.peers.left))
	}
	each := b.warm + b.length + 700*time.Millisecond // to start and to end a system
	progress("%d measurements, about %s", n*o.runs, (time.Duration(n*o.runs) * each).Round(time.Second))
	var err error
	if s.Idle, err = b.idle(ctx); err != nil {
		return s, err
	}
	var runs []result
	for range o.runs {
		for _, c := range cells {
			for _, system := range c.systems(b.peers.left) {
				r, err := b.measure(ctx, c, system)
				if err != nil {
					return s, err
				}
				progress("%-16s %-20s %9.0f/s  p50 %7.2f ms  p99 %7.2f ms  CPU %6.3f s/1000  %d errors  others %.0f %%",
					c.name, system, r.Notifications, r.P50, r.P99, r.CPU, r.Errors, 100*r.Others)
				runs = append(runs, r)
			}
		}
	}
	return summarize(s, runs), nil
}
