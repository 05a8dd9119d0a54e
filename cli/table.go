package cli

import (
	"strings"

	"sendonce/terminal"
)

// table is a table of the terminal, whose first error is kept until its end.
type table struct {
	*terminal.Table
	err error
}

// table makes a table on Out.
func (a *app) table(heads ...string) *table { return newTable(a.out(), heads...) }

// newTable makes a table, with heads where it is a list.
func newTable(s *terminal.Screen, heads ...string) *table {
	t := s.Table(heads...)
	return &table{Table: t.Painted(func(row []string, column int) terminal.Colour { return colourOf(t.Name(row, column), row[column]) })}
}

// row adds one line.
func (t *table) row(cells ...string) { t.Row(cells...) }

// field writes a name and a value, and nothing where there is no value.
func (t *table) field(name, value string) {
	if value != "" {
		t.row(name, value)
	}
}

// flush writes the table and returns the first error of its lines.
func (t *table) flush() error {
	if err := t.Flush(); t.err == nil {
		t.err = err
	}
	return exitNo(t.err)
}

// flushPage writes a page of a list, below the one before unless it is the first. On a terminal that is too narrow it says once what
// is not shown.
func (a *app) flushPage(t *table, head bool) error {
	if !head {
		t.Below(a.page)
	}
	a.page = t.Table
	if err := t.flush(); err != nil {
		return err
	}
	if left := t.LeftOut(); head && len(left) > 0 {
		a.hint("No room for %s: a wider terminal, a pipe or --json shows them.", strings.Join(left, ", "))
	}
	return nil
}

// progress shows how far a long work is, where somebody looks at Err. end takes it away; it may be called twice.
func (a *app) progress(what string, bytes bool) (done Done, end func()) {
	s := a.errs()
	if !s.Live() {
		return func(int64, int64) {}, func() {}
	}
	var bar *terminal.Progress
	done = func(n, all int64) {
		if bar == nil {
			bar = s.Progress(what, all, bytes)
		}
		bar.Set(n)
	}
	return done, func() {
		if bar != nil {
			bar.End()
			bar = nil
		}
	}
}

// out is where answers go.
func (a *app) out() *terminal.Screen { return terminal.Open(a.streams.Out, a.colour, a.lookUp) }

// errs is where hints, errors and bars go.
func (a *app) errs() *terminal.Screen { return terminal.Open(a.streams.Err, a.colour, a.lookUp) }

// colours are those of the words that say how a row or a gate stands: green is well, yellow waits for somebody, red is over.
var colours = map[string]terminal.Colour{
	"sent": terminal.Green, "accepted": terminal.Green, "delivered": terminal.Green, "open": terminal.Green,
	"claimed": terminal.Cyan, "sending": terminal.Cyan, "running": terminal.Cyan,
	"ambiguous": terminal.Yellow, "held": terminal.Yellow, "deferred": terminal.Yellow, "slowed": terminal.Yellow,
	"failed": terminal.Red, "expired": terminal.Red, "rejected": terminal.Red, "paused": terminal.Red, "bounced": terminal.Red, "undelivered": terminal.Red,
	"complained": terminal.Red, "cancelled": terminal.Dim,
}

// colourOf finds the colour of a cell in its first word.
func colourOf(column, cell string) terminal.Colour {
	switch strings.ToLower(column) {
	case "": // a name
		if cell = strings.TrimSpace(cell); colours[cell] == terminal.Plain {
			return terminal.Dim
		}
		fallthrough
	case "state", "outcome", "delivery", "gate", "from", "to", "ended":
		word, _, _ := strings.Cut(cell, " ")
		return colours[word]
	}
	return terminal.Plain
}
