package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	pageRows  = 50     // of a page of a list
	goesOn    = 20     // pages without a row that are left behind by themselves
	stepParam = "step" // counts them
)

// filterForm is a filter as a form has it: what was typed stays typed, right or wrong.
type filterForm struct {
	State, Channel, Provider, EventType, Source, UserID, Delivery, From, To string

	States, Channels, Deliveries, Providers []string // what there is to choose from
}

// Active reports whether a field is filled in: such a form is never folded away.
func (f filterForm) Active() bool {
	return f.State+f.Channel+f.Provider+f.EventType+f.Source+f.UserID+f.Delivery+f.From+f.To != ""
}

// readFilter reads the fields of a filter form. The error is an *InvalidError: a filter that lost a condition would show too much.
func (v *visit) readFilter(q url.Values) (filterForm, ledger.Filter, error) {
	one := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	form := filterForm{
		State: one("state"), Channel: one("channel"), Provider: one("provider"), EventType: one("event_type"), Source: one("source"),
		UserID: one("user_id"), Delivery: one("delivery"), From: one("from"), To: one("to"),
		States: words(ledger.States), Channels: words(ledger.Channels), Deliveries: words(ledger.Deliveries),
	}
	for _, p := range v.c.ledger.Providers() {
		form.Providers = append(form.Providers, p.Name)
	}
	f := ledger.Filter{
		Channel: ledger.Channel(form.Channel), Provider: form.Provider, EventType: form.EventType, UserID: form.UserID,
		Delivery: ledger.Delivery(form.Delivery), Limit: pageRows,
	}
	var faults []ledger.FieldError
	fault := func(field, detail string) { faults = append(faults, ledger.FieldError{Field: field, Detail: detail}) }
	if form.State != "" {
		f.States = []ledger.State{ledger.State(form.State)}
		if !f.States[0].Valid() {
			fault("state", "is none of the states")
		}
	}
	if form.Channel != "" && !slices.Contains(form.Channels, form.Channel) {
		fault("channel", "is none of the channels")
	}
	if form.Delivery != "" && !slices.Contains(form.Deliveries, form.Delivery) {
		fault("delivery", "is none of the deliveries")
	}
	var ok bool
	if f.After, ok = readTime(form.From); !ok {
		fault("from", "must be a time such as 2026-11-30T14:00, in UTC")
	}
	if f.Before, ok = readTime(form.To); !ok {
		fault("to", "must be a time such as 2026-11-30T14:00, in UTC")
	}
	if f.Source = v.who.Source; f.Source == nil && form.Source != "" {
		f.Source = &form.Source
	}
	if faults != nil {
		return form, f, &ledger.InvalidError{Fields: faults}
	}
	return form, f, nil
}

// words are words of a closed list as a form has them.
func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// readTime reads a time as a browser's form writes it, in UTC; "" is none.
func readTime(s string) (time.Time, bool) {
	if s == "" {
		return time.Time{}, true
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// listed is a page of a list and the ways to its neighbours; an empty address is none.
type listed struct {
	Rows  []ledger.Notification
	Newer string
	Older string
	Gap   bool   // rows were looked at, and none fits: there may be more further on
	On    string // the next page, where it is fetched by itself
}

// list reads the page of a filter that the address asks for: older=SEQ goes on behind a row, newer=SEQ before it. The list stands
// newest first.
func (v *visit) list(f ledger.Filter) (listed, error) {
	q := v.r.URL.Query()
	at, back := q.Get("older"), q.Get("newer") != ""
	if back {
		at, f.Oldest = q.Get("newer"), true
	}
	var err error
	if f.Cursor, err = readPlace(at); err != nil {
		return listed{}, err
	}
	page, err := v.c.ledger.List(v.r.Context(), f)
	if err != nil {
		return listed{}, err
	}
	out := listed{Rows: page.Rows, Gap: len(page.Rows) == 0 && page.Next != 0}
	if back {
		slices.Reverse(out.Rows)
		out.Newer = v.address(page.Next, "newer")
		if len(out.Rows) > 0 {
			out.Older = v.address(out.Rows[len(out.Rows)-1].Seq, "older")
		} else {
			out.Older = v.address(f.Cursor+1, "older")
		}
		return out, nil
	}
	out.Older = v.address(page.Next, "older")
	if step, err := strconv.Atoi(q.Get(stepParam)); out.Gap && step < goesOn && (err == nil && step >= 0 || q.Get(stepParam) == "") {
		out.On = out.Older + "&" + stepParam + "=" + strconv.Itoa(step+1)
	}
	if f.Cursor != 0 {
		first := f.Cursor - 1
		if len(out.Rows) > 0 {
			first = out.Rows[0].Seq
		}
		out.Newer = v.address(max(first, 1), "newer")
	}
	return out, nil
}

// readPlace reads where a page of a list begins; "" is at its start.
func readPlace(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 1 {
		return 0, ledger.Invalid("page", "is no place in this list")
	}
	return seq, nil
}

// address is that of the page which goes on at a place in a direction, with the same filter; "" where the list ends.
func (v *visit) address(place int64, direction string) string {
	q := v.r.URL.Query()
	for _, name := range []string{"older", "newer", "told", stepParam} {
		q.Del(name)
	}
	if place == 0 {
		return ""
	}
	q.Set(direction, strconv.FormatInt(place, 10))
	return "?" + q.Encode()
}
