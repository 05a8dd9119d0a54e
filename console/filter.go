package console

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sendonce/ledger"
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

// readFilter reads the conditions of a filter. Names are taken as they stand, blanks included, since the ledger keeps them so. The
// error is an *InvalidError: a filter that lost a condition would show too much.
func (v *visit) readFilter(a asked) (filterForm, ledger.Filter, error) {
	form := filterForm{
		State: a["state"], Channel: a["channel"], Provider: a["provider"], EventType: a["event_type"], Source: a["source"],
		UserID: a["user_id"], Delivery: a["delivery"], From: a["from"], To: a["to"],
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
	for _, name := range []string{"provider", "event_type", "source", "user_id"} {
		if !utf8.ValidString(a[name]) || strings.ContainsFunc(a[name], unicode.IsControl) {
			fault(name, "must be UTF-8 without control characters")
		}
	}
	if form.State != "" {
		f.States = []ledger.State{ledger.State(form.State)}
		if !f.States[0].Valid() {
			fault("state", "must be one of "+strings.Join(form.States, ", "))
		}
	}
	if form.Channel != "" && !slices.Contains(form.Channels, form.Channel) {
		fault("channel", "must be one of "+strings.Join(form.Channels, ", "))
	}
	if form.Delivery != "" && !slices.Contains(form.Deliveries, form.Delivery) {
		fault("delivery", "must be one of "+strings.Join(form.Deliveries, ", "))
	}
	var ok bool
	if f.After, ok = readTime(form.From); !ok {
		fault("from", badTime)
	}
	if f.Before, ok = readTime(form.To); !ok {
		fault("to", badTime)
	}
	if f.Source = v.who.Source; form.Source != "" {
		if f.Source != nil && *f.Source != form.Source {
			fault("source", "must be left out: your key is bound to another")
		}
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

const badTime = "must be a time of 1970 or later such as 2026-11-30T14:00, in UTC"

// readTime reads a time as a browser's form writes it, in UTC; "" is none. No time of the ledger is before 1970, and the zero time
// would be no condition at all.
func readTime(s string) (time.Time, bool) {
	if s == "" {
		return time.Time{}, true
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, t.Unix() >= 0
		}
	}
	return time.Time{}, false
}
