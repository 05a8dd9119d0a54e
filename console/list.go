package console

import (
	"math"
	"slices"
	"strconv"

	"sendonce/ledger"
)

const (
	pageRows  = 50                // of a page of a list
	goesOn    = 20                // pages without a row that are left behind by themselves
	stepParam = "step"            // counts them
	maxPlace  = math.MaxInt64 / 2 // in a list: far beyond any row, and safe to count on from
)

// listed is a page of a list and the ways to its neighbours; an empty address is none.
type listed struct {
	Rows  []ledger.Notification
	Newer string
	Older string
	Gap   bool   // rows were looked at, and none fits: there may be more further on
	On    string // the next page, where it is fetched by itself
}

// list reads the page of a filter that is asked for: older=SEQ goes on behind a row, newer=SEQ before it. The list stands newest
// first.
func (v *visit) list(a asked, f ledger.Filter) (listed, error) {
	older, err := readPlace(a, "older")
	if err != nil {
		return listed{}, err
	}
	newer, err := readPlace(a, "newer")
	if err != nil {
		return listed{}, err
	}
	step, err := readStep(a)
	if err != nil {
		return listed{}, err
	}
	back := a["newer"] != ""
	if back && a["older"] != "" {
		return listed{}, ledger.Invalid("older", "and newer exclude one another")
	}
	f.Oldest, f.Cursor = back, max(older, newer)
	page, err := v.c.ledger.List(v.r.Context(), f)
	if err != nil {
		return listed{}, err
	}
	out := listed{Rows: page.Rows, Gap: len(page.Rows) == 0 && page.Next != 0}
	if back {
		slices.Reverse(out.Rows)
		out.Newer = a.onward("newer", page.Next)
		behind := f.Cursor + 1
		if len(out.Rows) > 0 {
			behind = out.Rows[len(out.Rows)-1].Seq
		}
		out.Older = a.place("older", behind)
		return out, nil
	}
	out.Older = a.onward("older", page.Next)
	if out.Gap && step < goesOn {
		out.On = a.turned("older", page.Next).with(stepParam, strconv.Itoa(step+1)).address("/notifications")
	}
	if f.Cursor != 0 {
		before := f.Cursor - 1
		if len(out.Rows) > 0 {
			before = out.Rows[0].Seq
		}
		out.Newer = a.place("newer", before)
	}
	return out, nil
}

// readPlace reads where a page of a list begins; 0 is its start.
func readPlace(a asked, direction string) (int64, error) {
	if a[direction] == "" {
		return 0, nil
	}
	seq, err := strconv.ParseInt(a[direction], 10, 64)
	if err != nil || seq < 0 || seq > maxPlace || seq == 0 && direction == "older" {
		return 0, ledger.Invalid(direction, "is no place in this list; begin at its first page")
	}
	return seq, nil
}

// readStep reads how many pages without a row were left behind.
func readStep(a asked) (int, error) {
	if a[stepParam] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(a[stepParam])
	if err != nil || n < 0 || n > goesOn {
		return 0, ledger.Invalid(stepParam, "must be 0 to %d", goesOn)
	}
	return n, nil
}

// turned asks for the page that goes on at a place in a direction, with the same filter.
func (a asked) turned(direction string, place int64) asked {
	return a.without(places...).with(direction, strconv.FormatInt(min(place, maxPlace), 10))
}

// place is the address of that page.
func (a asked) place(direction string, place int64) string {
	return a.turned(direction, place).address("/notifications")
}

// onward is place, or "" where a list ends: next is 0 there.
func (a asked) onward(direction string, next int64) string {
	if next == 0 {
		return ""
	}
	return a.place(direction, next)
}
