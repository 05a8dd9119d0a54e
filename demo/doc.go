// Package demo plays a day at a shop against providers that misbehave, once through the real service and once through a retry loop
// as one writes it without a ledger, and counts what people would have received of each.
//
// The service is the program's own binary as a process of its own, killed and started again; the providers are those of package fake,
// one for each side with the same faults. Nothing leaves the machine. Every number that is shown was counted in that run.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sendonce/terminal"
)

// Options say what is played, and who looks.
type Options struct {
	Events int     // notifications of the day
	Speed  float64 // 1: the day takes dayLength
	Seed   uint64  // the same one plays the same day
	Listen string  // of the service, host:port; port 0: any free one
	Once   bool    // end with the day, in place of leaving the service open
	JSON   bool    // the result as JSON on Out, all else on Err

	Binary string // the program; "": this one
	Out    *terminal.Screen
	Err    *terminal.Screen
}

// The limits of Options.
const (
	MaxEvents = 5000
	MinEvents = 20
	MaxSpeed  = 20
)

// dayLength is how long the shop's twelve hours take at speed 1.
const dayLength = 36 * time.Second

// dayTime is what a day may take beyond its length.
const dayTime = 90 * time.Second

// ErrBroken: the promise was not kept. The result that came before it says how.
var ErrBroken = errors.New("the promise was broken: somebody received a message twice, or one is lost, or the ledger does not fit its history")

// Run plays the day. It returns when the day is over and, without Once, when ctx is done. Errors: ErrBroken, and what kept the
// service from running.
func Run(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "sendonce-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d, err := newDay(o, dir)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.open(ctx); err != nil {
		return err
	}
	if err := d.play(ctx); err != nil {
		return stopped(ctx, err)
	}
	r, err := d.evening(ctx)
	if err != nil {
		return stopped(ctx, err)
	}
	if err := d.show(r); err != nil {
		return err
	}
	switch {
	case !r.Kept:
		return ErrBroken
	case o.Once:
		return nil
	}
	return d.leaveOpen(ctx, r)
}

// stopped is nil when somebody ended the demo before its end.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// newDay prepares the providers and the files.
func newDay(o Options, dir string) (*day, error) {
	if o.Binary == "" {
		var err error
		if o.Binary, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	address, err := freeAddress(o.Listen)
	if err != nil {
		return nil, err
	}
	d := &day{
		Options: o, script: write(o.Seed, o.Events), length: time.Duration(float64(dayLength) / o.Speed),
		crashes: make(chan string, 8), service: &service{binary: o.Binary, dir: dir, config: filepath.Join(dir, "sendonce.yaml"), url: "http://" + address, key: newKey()},
	}
	d.say = o.Out
	if o.JSON {
		d.say = o.Err
	}
	if d.ours, err = d.providers(true); err == nil {
		d.theirs, err = d.providers(false)
	}
	if err != nil {
		d.close()
		return nil, fmt.Errorf("starting the providers: %w", err)
	}
	d.naive = newNaive(d.theirs)
	d.shop = newShop(d.service)
	return d, nil
}
