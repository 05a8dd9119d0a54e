package console

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"sendonce/ledger"
)

// asked is what an address or a form says: each name once. A field that is empty is not given, since a form sends all that it has.
type asked map[string]string

// The names that several routes take. Nothing writes to them.
var (
	waitingConditions = []string{"state", "channel", "provider", "event_type", "source", "from", "to"}
	listConditions    = append(slices.Clone(waitingConditions), "user_id", "delivery", "q", "as")
	places            = []string{"older", "newer", stepParam}
	decisionFields    = []string{"version", "reason", "by"}
	bulkFields        = append(slices.Clone(waitingConditions), "action", "reason", "by", "expected_count")
)

// takes joins lists of names.
func takes(lists ...[]string) []string { return slices.Concat(lists...) }

// readAsked reads names and values that are joined with &. The error is an *InvalidError: what is unknown, stands twice or can't
// be read is refused, since a condition that is left out would show, export or change more than was asked.
func readAsked(text string, taken []string) (asked, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, ledger.Invalid("the address", "or form can't be read: it must be percent-encoded name=value pairs joined with &")
	}
	var faults []ledger.FieldError
	fault := func(name, detail string) {
		faults = append(faults, ledger.FieldError{Field: clip(name, 40), Detail: detail})
	}
	out := asked{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch all := values[name]; {
		case !slices.Contains(taken, name):
			fault(name, "is nothing that this page takes; it takes "+strings.Join(taken, ", "))
		case len(all) > 1:
			fault(name, fmt.Sprintf("must stand once, and stands %d times", len(all)))
		case all[0] != "":
			out[name] = all[0]
		}
	}
	if faults != nil {
		return nil, &ledger.InvalidError{Fields: faults}
	}
	return out, nil
}

// without is the rest when names are left out.
func (a asked) without(names ...string) asked {
	out := maps.Clone(a)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// with is the same with another value of a name.
func (a asked) with(name, value string) asked {
	out := maps.Clone(a)
	if out == nil {
		out = asked{}
	}
	out[name] = value
	return out
}

// address is that of a page, below Path, for which all this is asked.
func (a asked) address(path string) string {
	if len(a) == 0 {
		return Path + path
	}
	q := url.Values{}
	for name, value := range a {
		q.Set(name, value)
	}
	return Path + path + "?" + q.Encode()
}

// clip is the begin of a text that somebody may have made long.
func clip(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
