//go:build linux

package main

import (
	"context"
	"errors"
	"slices"
	"time"
)

// all measures the cells of every round.
func (b *bench) all(ctx context.Context, o options, cells []cell) (summary, error) {
	s := summary{Machine: describe(b.dir), Rounds: o.runs, Seconds: o.secs}
	if err := b.withPeer(ctx, o, cells, &s); err != nil {
		return s, err
	}
	n := 0
	for _, c := range cells {
		n += len(c.systems(b.peer != nil))
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
			for _, system := range c.systems(b.peer != nil) {
				r, err := b.measure(ctx, c, system)
				if err != nil {
					return s, err
				}
				progress("%-16s %-9s %9.0f/s  p50 %7.2f ms  p99 %7.2f ms  CPU %6.3f s/1000  %d errors  others %.0f %%",
					c.name, system, r.Notifications, r.P50, r.P99, r.CPU, r.Errors, 100*r.Others)
				runs = append(runs, r)
			}
		}
	}
	return summarize(s, runs), nil
}

// withPeer starts what the worker needs when a cell asks for it, or notes why it is left out.
func (b *bench) withPeer(ctx context.Context, o options, cells []cell, s *summary) error {
	if !slices.ContainsFunc(cells, func(c cell) bool { return c.peer }) {
		return nil
	}
	if !o.peer {
		s.LeftOut = "the worker on PostgreSQL (-peer=false)"
		return nil
	}
	progress("prepare the worker on PostgreSQL")
	p, err := b.startPeer(ctx, o.install)
	if errors.Is(err, errNoPeer) && ctx.Err() == nil {
		s.LeftOut = "the worker on PostgreSQL: " + err.Error()
		progress("%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	b.peer = p
	s.Machine.versions(p.postgres.cmd.Path)
	return nil
}
