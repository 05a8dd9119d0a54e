package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// settleTable writes a line for each provider, and their sum.
func settleTable(lines map[string]*settleLine) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, strings.ReplaceAll("provider,rows,lost answers,never taken,|,by receipt,repeat,look-up,policy,person,alone,asked for,|,"+
		"duplicates with a cause,blind,lost,settled wrongly,", ",", "\t"))
	sum := settleLine{by: map[string]int{}}
	write := func(name, want string, l *settleLine) {
		_, _ = fmt.Fprintf(t, "%s\t%d\t%d\t%d\t|\t%d\t%d\t%d\t%d\t%d\t%.1f %%\t%s\t|\t%d\t%d\t%d\t%d\t\n", name, l.rows, l.lost, l.never,
			l.by["receipt"], l.by["repeat"], l.by["look-up"], l.by["policy"], l.by["person"],
			100*float64(l.lost-l.by["person"])/float64(max(l.lost, 1)), want, l.caused, l.blind, l.missing, l.wrong)
	}
	for _, kind := range bubbleKinds {
		l := lines[kind.name]
		want := fmt.Sprintf("%d %%", kind.share)
		if kind.share == 0 {
			want = "none: it tells nothing"
		}
		write(kind.name, want, l)
		sum.rows, sum.lost, sum.never = sum.rows+l.rows, sum.lost+l.lost, sum.never+l.never
		sum.caused, sum.blind, sum.missing, sum.wrong = sum.caused+l.caused, sum.blind+l.blind, sum.missing+l.missing, sum.wrong+l.wrong
		for by, n := range l.by {
			sum.by[by] += n
		}
	}
	write("all", "", &sum)
	_ = t.Flush()
	return b.String()
}
