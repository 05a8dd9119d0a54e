package demo

import (
	"encoding/json"
	"fmt"
	"strconv"

	"sendonce/terminal"
)

// show prints what was counted.
func (d *day) show(r *Result) error {
	if d.JSON {
		return json.NewEncoder(d.Out).Encode(r)
	}
	ours, theirs := r.Sendonce, r.Naive
	t := d.say.Table("WHAT PEOPLE GOT", "SENDONCE", "NAIVE RETRY")
	t.Painted(func(column, cell string) terminal.Colour {
		if column == "WHAT PEOPLE GOT" {
			return terminal.Plain
		}
		return terminal.Bold
	})
	row := func(name string, a, b int) { t.Row(name, strconv.Itoa(a), strconv.Itoa(b)) }
	row("messages that were to go out", r.Events, r.Events)
	row("requests to the providers", ours.Requests, theirs.Requests)
	row("messages that went out", ours.Out, theirs.Out)
	row("received once", ours.Once, theirs.Once)
	row("received twice or more", ours.Twice, theirs.Twice)
	row("refused by the provider", ours.Refused, theirs.Refused)
	row("never received: given up", ours.GaveUp+r.Lost, theirs.GaveUp)
	t.Row("waits for evidence or a person", waiting(ours), "-")
	if err := t.Flush(); err != nil {
		return err
	}
	d.tell("", "\nThe retry loop sent %d copies too many: %d after a lost answer or a time-out, %d since its queue forgot in a crash what it had done, %d since "+
		"the shop asked again. sendonce suppressed %d repeats of the shop.", r.Copies.Retry+r.Copies.Crash+r.Copies.Asked, r.Copies.Retry, r.Copies.Crash, r.Copies.Asked, r.Known)
	for _, w := range r.Worst {
		d.tell("", "  %d times, not %d: %q to %s", w.Naive, w.Sendonce, w.Text, w.Recipient)
	}
	s := r.Settled
	d.tell("", "%d answers were lost to sendonce, %d crashes among the causes: %d were settled by a receipt, %d by a repeat under the provider's own key, %d by a "+
		"look-up; the others are not guessed at.", s.Lost, r.Crashes, s.Receipt, s.Repeat, s.LookUp)
	d.tell("", "sendonce check: %d differences in %d rows.", len(r.Check.Found), r.Check.Rows)
	return nil
}

// waiting says how many rows wait, and what their providers know of them.
func waiting(s Side) string {
	if s.Waits == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%d of them went out)", s.Waits, s.WaitsOut)
}
