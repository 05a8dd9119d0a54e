//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// write prints the summary for people; as it is, it is Markdown.
func (s summary) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n%d rounds of %g s a cell, medians. CPU: seconds for 1,000 notifications, of the system's processes, its database included.\n\n",
		s.Machine, s.Rounds, s.Seconds)
	rows := [][]string{{"what/connections", "who", "a second", "p50 ms", "p99 ms", "CPU s", "heap KiB", "errors",
		"our rate", "our CPU", "our p50"}}
	for _, r := range s.Results {
		rows = append(rows, s.row(r))
	}
	writeTable(w, rows)
	fmt.Fprintf(w, "\nResident memory of the service: %.1f MiB idle, at most %.1f MiB under load (%s).\n", s.Idle, s.Peak, s.PeakCell)
	writeOthers(w, s.Others)
	if s.LeftOut != "" {
		fmt.Fprintf(w, "Left out: %s\n", s.LeftOut)
	}
	for _, r := range s.Results {
		if r.Errors > 0 {
			fmt.Fprintf(w, "Errors of %s in %s, the first: %s\n", r.System, r.Cell, r.Sample)
		}
	}
	fmt.Fprintln(w)
	writeTargets(w, s.Targets)
}

// writeOthers says so when somebody else was at work.
func writeOthers(w io.Writer, share float64) {
	if share > 0.05 {
		fmt.Fprintf(w, "\nOther processes had up to %.0f %% of the machine during a measurement: repeat this when it is quiet.\n", 100*share)
	}
}

// writeTargets prints what was promised and what was seen.
func writeTargets(w io.Writer, targets []target) {
	rows := [][]string{{"target", "wanted", "seen", "", "by"}}
	for _, t := range targets {
		by := "–"
		if t.Result != notMeasured {
			by = fmt.Sprintf("%+.0f %%", 100*t.By)
		}
		rows = append(rows, []string{t.Name, t.Wanted, t.Seen, t.Result, by})
	}
	writeTable(w, rows)
}

// row is one system in one cell; beside a peer stands what the service had in the same run, as a multiple of the peer's figure.
func (s summary) row(r result) []string {
	row := []string{r.Cell, r.System, count(r.Notifications), number(r.P50, "%.2f"), number(r.P99, "%.2f"), number(r.CPU, "%.3f"),
		number(r.HeapKiB, "%.1f"), fmt.Sprint(r.Errors)}
	if r.System == sendonce {
		return append(row, "", "", "")
	}
	ours := s.get(sendonce, r.Cell)
	return append(row, number(ratio(ours.Notifications, r.Notifications), "× %.2f"), number(ratio(ours.CPU, r.CPU), "× %.3f"), number(ratio(ours.P50, r.P50), "× %.2f"))
}

// number prints what was measured; 0 is what was not.
func number(v float64, format string) string {
	if v == 0 {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

// count prints a whole number with commas.
func count(v float64) string {
	if v == 0 {
		return "–"
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// writeTable prints rows as a Markdown table that is also even on a terminal; the first row is the head. Columns
// but the first are set to the right.
func writeTable(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			width[i] = max(width[i], utf8.RuneCountInString(text))
		}
	}
	for n, row := range rows {
		for i, text := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(text))
			if i == 0 {
				text += pad
			} else {
				text = pad + text
			}
			fmt.Fprintf(w, "| %s ", text)
		}
		fmt.Fprintln(w, "|")
		if n == 0 {
			fmt.Fprintln(w, "|"+rule(width))
		}
	}
}

// rule is the line under the head.
func rule(width []int) string {
	var b strings.Builder
	for i, n := range width {
		if i == 0 {
			b.WriteString(strings.Repeat("-", n+2) + "|")
		} else {
			b.WriteString(strings.Repeat("-", n+1) + ":|")
		}
	}
	return b.String()
}
