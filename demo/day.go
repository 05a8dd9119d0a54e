package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"sendonce/terminal"
)

// day is one run of the demo.
type day struct {
	Options
	script  []*notification
	length  time.Duration
	service *service
	shop    *shop
	naive   *naive
	ours    map[string]*provider // by name
	theirs  map[string]*provider

	say     *terminal.Screen
	bar     *terminal.Progress
	mu      sync.Mutex // of say and bar
	crashes chan string
	died    int
	began   time.Time
}

// step is something that happens at a time of the day.
type step struct {
	at time.Duration
	do func(ctx context.Context)
}

// open makes the ledger and starts the service.
func (d *day) open(ctx context.Context) error {
	if err := d.writeConfig(true); err != nil {
		return err
	}
	if _, err := d.service.run("init"); err != nil {
		return err
	}
	if err := d.service.start(ctx); err != nil {
		return err
	}
	asked := 0
	for _, n := range d.script {
		asked += 1 + len(n.again)
	}
	d.tell("", "A day at a shop, 08:00 to 20:00 in about %s: %d notifications, asked for %d times, over %d providers that misbehave. Once through sendonce, "+
		"once through a retry loop without a ledger, against the same faults. Nothing leaves this machine.", d.length.Round(time.Second), len(d.script), asked, len(kinds))
	d.tell("", "The console: %s/console (by day with the key %s)\n", d.service.url, d.service.key)
	return nil
}

// tell writes a paragraph, above the bar if there is one.
func (d *day) tell(when, format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := d.say.Wrap(fmt.Sprintf(format, args...), len(when)+min(len(when), 2))
	if when != "" {
		text = d.say.Paint(terminal.Dim, when) + "  " + text
	}
	if d.bar != nil {
		d.bar.Above(text)
		return
	}
	_, _ = fmt.Fprintln(d.say, text) // what can't be shown is no reason to stop
}

// play plays the script, and returns when all that was asked for is claimed.
func (d *day) play(ctx context.Context) error {
	d.mu.Lock()
	d.bar = d.say.Progress(clock(0), int64(len(d.script)), false)
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.bar.End()
		d.bar = nil
		d.mu.Unlock()
	}()
	steps := d.steps()
	d.began = time.Now()
	long := fmt.Errorf("the day did not end within %s", d.length+dayTime)
	ctx, cancel := context.WithTimeoutCause(ctx, d.length+dayTime, long)
	defer cancel()
	defer context.AfterFunc(ctx, d.naive.halt)()
	mended := make(chan error, 1)
	go func() { mended <- d.crashOften(ctx) }()
	for i := 0; i < len(steps) && ctx.Err() == nil; i++ {
		pause(ctx, d.scaled(steps[i].at)-time.Since(d.began))
		d.bar.Say(clock(steps[i].at))
		steps[i].do(ctx)
	}
	err := d.shop.wait()
	if err != nil {
		cancel()
	}
	d.naive.wait()
	crashed := <-mended // nothing may start the service behind its end
	return cmp.Or(err, context.Cause(ctx), crashed)
}

// steps are what happens, in the order of the day.
func (d *day) steps() []step {
	var steps []step
	ask := func(at time.Duration, n *notification, first bool) {
		steps = append(steps, step{at, func(ctx context.Context) {
			d.shop.ask(ctx, n)
			d.naive.ask(ctx, n)
			if first {
				d.bar.Add(1)
			}
		}})
	}
	for _, n := range d.script {
		ask(n.at, n, true)
		for _, at := range n.again {
			ask(at, n, false)
		}
	}
	const noon, better, evening = 4 * time.Hour, 4*time.Hour + 40*time.Minute, 10 * time.Hour
	steps = append(steps, step{noon, func(context.Context) {
		d.tell(clock(noon), "The mail provider takes nothing for a while (429).")
		d.outage("resend", true)
	}}, step{better, func(context.Context) {
		d.tell(clock(better), "The mail provider works again.")
		d.outage("resend", false)
	}})
	var late []*notification
	for _, n := range d.script {
		if n.at < evening {
			late = append(late, n)
		}
	}
	late = late[len(late)-min(len(late), len(d.script)/10+1):]
	steps = append(steps, step{evening, func(ctx context.Context) {
		d.tell(clock(evening), "The shop's queue delivers its last %d jobs again.", len(late))
		for _, n := range late {
			d.shop.ask(ctx, n)
			d.naive.ask(ctx, n)
		}
	}})
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	return steps
}

// clockNow is the shop's time.
func (d *day) clockNow() string {
	at := time.Duration(float64(time.Since(d.began)) / float64(d.length) * float64(openFor))
	return clock(min(at, openFor))
}

// crashOften kills the service whenever a request is under way that the script wants it to die over, and starts it again.
func (d *day) crashOften(ctx context.Context) error {
	for _, n := range d.script {
		if !n.crash {
			continue
		}
		select {
		case <-d.crashes:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := d.service.kill(); err != nil {
			return err
		}
		d.died++
		d.tell(d.clockNow(), "kill -9: the service dies while a message is on its way to %s; the retry loop dies at the same place.", n.kind.provider)
		pause(ctx, downtime)
		if err := d.service.start(ctx); err != nil {
			return err
		}
		d.tell(d.clockNow(), "It is back. What was on its way is ambiguous now, and not sent again blindly.")
	}
	return nil
}
