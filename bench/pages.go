//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"sendonce/bench/fill"
)

const (
	pageVisits = 60               // of each page, one after the other
	pageLimit  = 50.0             // ms, the median of a page of the console
	pageSize   = "1M"             // the size for which that is promised
	pageWait   = 30 * time.Second // for one page
)

// page is one page of the console as it was measured: by one visitor, whole, over loopback.
type page struct {
	Name   string  `json:"name"`
	Median float64 `json:"median_ms"`
	Most   float64 `json:"most_ms"`
	Bytes  int     `json:"bytes"`
}

// consolePages are the addresses of the pages, with what stands in them for visit n.
func consolePages(m made) []struct {
	name string
	path func(n int64) string
} {
	type named = struct {
		name string
		path func(n int64) string
	}
	fixed := func(name, path string) named { return named{name, func(int64) string { return path }} }
	row := func(n int64) int64 { return 1 + n*(m.rows/pageVisits) }
	search := func(text string) string { return "/notifications?q=" + url.QueryEscape(text) }
	phone := func(n int64) string {
		digits := fill.Recipient(row(n))
		return fmt.Sprintf("%s (%s) %s-%s", digits[:2], digits[2:5], digits[5:8], digits[8:])
	}
	return []named{
		fixed("overview", "/"),
		fixed("notifications", "/notifications"),
		fixed("notifications of a state", "/notifications?state=failed"),
		fixed("notifications of a type that none has", "/notifications?event_type=none"),
		{"notifications, far down", func(n int64) string { return fmt.Sprintf("/notifications?older=%d", row(n)) }},
		{"search by phone number", func(n int64) string { return search(phone(n)) }},
		{"search by event", func(n int64) string { return search(fill.EventID(row(n))) }},
		fixed("search without result", search("nobody@example.test")),
		{"one notification", func(n int64) string {
			id := fill.ID(row(n), m.from)
			return fmt.Sprintf("/notifications/%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		}},
		fixed("waiting", "/waiting"),
		fixed("providers", "/providers"),
		fixed("plots", "/history"),
		fixed("mailbox", "/mailbox"),
	}
}

// visit measures the pages of a running service.
func (b *bench) visit(ctx context.Context, in *instance, m made) (pages []page, err error) {
	for _, p := range consolePages(m) {
		seen := page{Name: p.name}
		var times []float64
		for n := range int64(pageVisits) {
			start := time.Now()
			if seen.Bytes, err = fetch(ctx, "http://"+in.addr+"/console"+p.path(n)); err != nil {
				return nil, fmt.Errorf("console, %s: %w", p.name, err)
			}
			times = append(times, float64(time.Since(start).Microseconds())/1000)
		}
		seen.Median = median(times)
		for _, t := range times {
			seen.Most = max(seen.Most, t)
		}
		progress("%-12s console, %-40s p50 %7.2f ms  most %7.2f ms  %6d bytes", m.size, p.name, seen.Median, seen.Most, seen.Bytes)
		pages = append(pages, seen)
	}
	return pages, nil
}

// fetch reads a page to its end.
func fetch(ctx context.Context, address string) (bytes int, err error) {
	ctx, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return int(n), err
}

// middlePages are the medians of each page over the rounds.
func middlePages(rounds []grown) (pages []page) {
	for i, p := range rounds[0].Pages {
		var times []float64
		for _, r := range rounds {
			times = append(times, r.Pages[i].Median)
			p.Most = max(p.Most, r.Pages[i].Most)
		}
		p.Median = median(times)
		pages = append(pages, p)
	}
	return pages
}

// pageTargets judges the pages of a size.
func pageTargets(g grown) (all []target) {
	if g.Size != pageSize {
		return nil
	}
	for _, p := range g.Pages {
		all = append(all, atMost("console at "+g.Size+" rows: "+p.Name, p.Median, pageLimit, "%.1f ms"))
	}
	return all
}

// writePages prints the pages of each size beside one another.
func writePages(w io.Writer, sizes []grown) {
	rows := [][]string{{"page of the console, ms"}}
	for _, g := range sizes {
		rows[0] = append(rows[0], g.Size, "most")
	}
	for i, p := range sizes[0].Pages {
		row := []string{p.Name}
		for _, g := range sizes {
			row = append(row, number(g.Pages[i].Median, "%.1f"), number(g.Pages[i].Most, "%.1f"))
		}
		rows = append(rows, row)
	}
	writeTable(w, rows)
}
