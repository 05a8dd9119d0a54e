//go:build linux

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"sendonce/bench/fill"
)

func TestSize_ReadsWhatItPrints(t *testing.T) {
	for text, want := range map[string]size{"1M": {rows: 1e6}, "30M-erased": {rows: 3e7, erased: true}, "500k": {rows: 5e5}, "7": {rows: 7}} {
		got, err := parseSize(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v (%s), %v", text, got, got, err)
		}
	}
	for _, text := range []string{"", "M", "-1M", "0", "1G", "2000M", "1M-gone", "1.5M"} {
		if s, err := parseSize(text); err == nil {
			t.Errorf("%q was read as %s", text, s)
		}
	}
}

// sizesAt is a report in which each size has the given share of the empty ledger's rates.
func sizesAt(share float64, rest grown) []grown {
	var all []grown
	for i, text := range []string{"empty", "1M", "10M", "30M-erased"} {
		g := grown{Size: text, Rows: []int64{1e4, 1e6, 1e7, 3e7}[i], Erased: i == 3, Ready: rest.Ready, Idle: rest.Idle, Peak: rest.Peak, BytesEach: rest.BytesEach}
		for k, c := range growthCells() {
			rate := 1000 * float64(k+1)
			if i > 0 {
				rate *= share
			}
			g.Results = append(g.Results, result{System: sendonce, Cell: c.name, Notifications: rate})
		}
		all = append(all, g)
	}
	return all
}

func TestGrowthTargets_EachCanPassAndMiss(t *testing.T) {
	for _, c := range []struct {
		sizes []grown
		want  string
	}{
		{sizesAt(.9, grown{Ready: 900, Idle: 60, Peak: 190, BytesEach: 240}), pass},
		{sizesAt(.5, grown{Ready: 1100, Idle: 70, Peak: 210, BytesEach: 1060}), miss},
		{[]grown{{Size: "empty"}, {Size: "1M"}, {Size: "30M-erased", Erased: true}}, notMeasured},
	} {
		all := growthTargets(c.sizes)
		for _, g := range all {
			if g.Result != c.want {
				t.Errorf("%s: %s (%s), want %s", g.Name, g.Result, g.Seen, c.want)
			}
		}
		if len(all) < 2*len(c.sizes) {
			t.Errorf("only %d targets for %d sizes", len(all), len(c.sizes))
		}
	}
}

func TestMiddle_MedianOfRatesAndMostMemory(t *testing.T) {
	round := func(rate, ready, peak float64) grown {
		return grown{Size: "1M", Rows: 1e6, Ready: ready, Peak: peak, Results: []result{{System: sendonce, Cell: "reads/64", Notifications: rate}}}
	}
	g := middle([]grown{round(10, 1, 5), round(30, 3, 9)})
	if len(g.Results) != 1 || g.get("reads/64").Notifications != 20 || g.Ready != 2 || g.Peak != 9 || g.Rows != 1e6 {
		t.Errorf("got %+v", g)
	}
}

// Repeats must meet made rows, and the same number of them in every size; what is new must not.
func TestGrownEvents_RepeatsAreMadeRowsSpreadOverAll(t *testing.T) {
	for _, rows := range []int64{emptySize, 1e6, 50} {
		known := map[string]bool{}
		for n := int64(1); n <= rows; n += max(1, rows/repeatedRows) {
			known[fill.EventID(n)] = true
		}
		seen := map[string]bool{}
		e := grownEvents{made: made{size: size{rows: rows}}, mode: repeats, addr: "x"}
		for n := range int64(2 * repeatedRows) {
			id := eventIDOf(t, string(e.request(nil, n)))
			if !known[id] {
				t.Fatalf("of %d rows, request %d repeats %s, which was not made", rows, n, id)
			}
			seen[id] = true
		}
		if want := min(rows, repeatedRows); int64(len(seen)) != want {
			t.Errorf("of %d rows %d are repeated, want %d", rows, len(seen), want)
		}
	}
	e := grownEvents{made: made{size: size{rows: 10}}, mode: claims, next: 11, tail: `,"send_at":"2026-12-01T00:00:00Z"`}
	if got := string(e.request(nil, 2)); eventIDOf(t, got) != fill.EventID(13) || !strings.HasSuffix(got, `,"send_at":"2026-12-01T00:00:00Z"}`) {
		t.Errorf("a new claim: %s", got)
	}
}

func eventIDOf(t *testing.T, request string) string {
	t.Helper()
	_, after, ok := strings.Cut(request, `"event_id":"`)
	id, _, found := strings.Cut(after, `"`)
	if !ok || !found {
		t.Fatalf("no event id in %s", request)
	}
	return id
}

func TestFit_ThroughPointsOnALine(t *testing.T) {
	l, ok := fit([]point{{1e4, 50}, {1e6, 70}, {1e7, 80}})
	if !ok || math.Abs(l.at(1e8)-90) > 1e-9 {
		t.Errorf("got %+v, %v, at 100M %v", l, ok, l.at(1e8))
	}
	for _, points := range [][]point{nil, {{1e6, 5}}, {{1e6, 5}, {1e6, 7}}} {
		if l, ok := fit(points); ok {
			t.Errorf("%v: a line %+v from one size", points, l)
		}
	}
}

// The plot is well-formed, shows every cell and both kinds of rows, and nothing leaves its frame.
func TestPlot_EveryCellInsideTheFrame(t *testing.T) {
	text := plot(growthReport{Sizes: sizesAt(.5, grown{})})
	circles, erased := 0, 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "circle" {
			continue
		}
		circles++
		for _, a := range start.Attr {
			if a.Name.Local == "class" && a.Value == "erased" {
				erased++
			}
		}
	}
	if circles != 4*len(plotted) || erased != len(plotted) || !strings.Contains(text, "prefers-color-scheme: dark") {
		t.Errorf("%d circles, %d of them erased\n%s", circles, erased, text)
	}
	p := newScale(sizesAt(.5, grown{}))
	if p.x(1e4) != plotLeft || p.x(plotTo) != plotRight || p.y(0) != plotBottom || p.y(p.most) != plotTop {
		t.Errorf("the corners are %v, %v, %v, %v", p.x(1e4), p.x(plotTo), p.y(0), p.y(p.most))
	}
}

func TestGrowthReport_EveryRowHasTheColumnsOfTheHead(t *testing.T) {
	var b strings.Builder
	sizes := sizesAt(.5, grown{Ready: 5, BytesEach: 1000})
	sizes[1].Results[0].Errors, sizes[1].Results[0].Sample = 3, "503 draining"
	growthReport{Sizes: sizes, Targets: growthTargets(sizes)}.write(&b)
	even(t, b.String())
	for _, want := range []string{"30M-erased", "(50 %)", "MISS", "503 draining"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// The pages of the console are judged at a million rows, each by its median.
func TestPages_Judged(t *testing.T) {
	round := func(median, most float64) grown {
		return grown{Size: "1M", Pages: []page{{Name: "waiting", Median: median, Most: most}}}
	}
	pages := middlePages([]grown{round(10, 20), round(70, 400), round(40, 90)})
	if len(pages) != 1 || pages[0].Median != 40 || pages[0].Most != 400 {
		t.Errorf("joined: %+v", pages)
	}
	for _, c := range []struct {
		g    grown
		want string
	}{{round(40, 400), pass}, {round(51, 60), miss}, {grown{Size: "10M", Pages: pages}, ""}} {
		got := ""
		for _, one := range pageTargets(c.g) {
			got += one.Result
		}
		if got != c.want {
			t.Errorf("%+v is %q, want %q", c.g, got, c.want)
		}
	}
}
