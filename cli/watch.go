package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sendonce/terminal"
)

const (
	watchEvery = 2 * time.Second
	watchLeast = time.Second
)

// watched lets a command that looks look again and again. It ends with ExitDone when the person ends it.
func (a *app) watched(cmd *cobra.Command) *cobra.Command {
	var every time.Duration
	f := cmd.Flags()
	f.DurationVar(&every, "watch", 0, "look again each so often (alone: every "+watchEvery.String()+") until Ctrl-C; marks what changed")
	f.Lookup("watch").NoOptDefVal = watchEvery.String()
	once := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !f.Changed("watch"):
			return once(cmd, args)
		case every < watchLeast:
			return usage("--watch must be at least %s", watchLeast)
		case f.Changed("all"), f.Changed("codes"):
			return usage("--watch looks at one page again and again: leave out --all and --codes")
		}
		return a.watch(cmd.Context(), every, func() error { return once(cmd, args) })
	}
	return cmd
}

// watch looks until ctx is done. On a terminal each look takes the place of the one before; elsewhere only lines that are new are
// written, each with its time. A service that does not answer is told, and asked again.
func (a *app) watch(ctx context.Context, every time.Duration, look func() error) error {
	real, screen := a.streams, a.out()
	defer func() { a.streams, a.watching = real, false }()
	a.watching = true
	var last string           // the page of the last look that had an answer
	var known map[string]bool // its lines; nil: there was no look yet
	for trouble := ""; ; {
		page, hints := screen.Frame(), &bytes.Buffer{}
		a.streams = Streams{In: real.In, Out: page, Err: hints}
		err := look()
		a.streams = real
		said := ""
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (known == nil || !passing(err)):
			_, _ = real.Err.Write(hints.Bytes()) // nothing more can be said
			return err
		case err != nil:
			said = terminal.Clean(err.Error())
		}
		text := page.Text()
		if said != "" {
			text = last
		}
		if screen.Live() && !a.json {
			err = a.redraw(screen, text, known, said, every)
		} else {
			err = a.news(text, known, said, trouble)
		}
		if err != nil {
			return exitNo(err)
		}
		last, known, trouble = text, lines(text), said
		if !waitFor(ctx, every) {
			return nil
		}
	}
}

// passing reports whether an error may be gone at the next look.
func passing(err error) bool {
	var lost *lostError
	var problem *problemError
	return errors.As(err, &lost) || errors.As(err, &problem) && problem.exit() == ExitUnreachable
}

// lines are the lines of a text, without what only aligns them.
func lines(text string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		set[plain(line)] = true
	}
	return set
}

func plain(line string) string { return strings.Join(strings.Fields(line), " ") }

// redraw shows a look on a terminal, with a mark at each line that the look before did not have.
func (a *app) redraw(screen *terminal.Screen, text string, known map[string]bool, trouble string, every time.Duration) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", screen.Paint(terminal.Dim, terminal.Cut(fmt.Sprintf("%s, every %s, Ctrl-C ends", time.Now().Format(time.TimeOnly), every), screen.Columns()-1)))
	if trouble != "" {
		b.WriteString(screen.Paint(terminal.Red, screen.Wrap(trouble, 0)) + "\n")
	}
	for line := range strings.Lines(text) {
		mark := "  "
		if known != nil && !known[plain(line)] && plain(line) != "" {
			mark = screen.Paint(terminal.Yellow, "▸ ")
		}
		b.WriteString(mark + line)
	}
	return screen.Redraw(b.Bytes())
}

// news writes the lines that were not there at the look before. JSON is written whole when anything in it is new.
func (a *app) news(text string, known map[string]bool, trouble, before string) error {
	if trouble != "" {
		if trouble != before {
			a.complain(trouble)
		}
		return nil
	}
	at := ""
	if known != nil && !a.json {
		at = moment(time.Now().UTC().Format(time.RFC3339)) + "  "
	}
	for line := range strings.Lines(text) {
		if known[plain(line)] || plain(line) == "" {
			continue
		}
		if _, err := fmt.Fprint(a.streams.Out, at+line); err != nil {
			return err
		}
	}
	return nil
}

// waitFor waits, and is false when ctx ended first.
func waitFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
