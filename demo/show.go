package demo

import (
	"encoding/json"
	"strconv"
	"strings"

	"sendonce/terminal"
)

// show prints what was counted.
func (d *day) show(r *Result) error {
	if d.JSON {
		return json.NewEncoder(d.Out).Encode(r)
	}
	ours, theirs := r.Sendonce, r.Naive
	t := d.say.Table("WHAT PEOPLE GOT", "SENDONCE", "NAIVE RETRY")
	t.Painted(func(row []string, column int) terminal.Colour { // the number that the promise is about
		switch {
		case column == 0 || !strings.HasPrefix(row[0], "received twice"):
			return terminal.Plain
		case row[column] == "0":
			return terminal.Green
		}
		return terminal.Red
	})
	row := func(name string, a, b int) { t.Row(name, strconv.Itoa(a), strconv.Itoa(b)) }
	row("messages that were to go out", r.Events, r.Events)
	row("requests to the providers", ours.Requests, theirs.Requests)
	row("messages that went out", ours.Out, theirs.Out)
	row("received once", ours.Once, theirs.Once)
	row("received twice or more", ours.Twice, theirs.Twice)
	row("refused by the provider", ours.Refused, theirs.Refused)
	row("never received: given up", ours.GaveUp+r.Lost, theirs.GaveUp)
	t.Row("waits for evidence or a person", strconv.Itoa(ours.Waits), "-")
	t.Row("  of them went out", strconv.Itoa(ours.WaitsOut), "-")
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
