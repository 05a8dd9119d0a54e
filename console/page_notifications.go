package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"sendonce/ledger"
)

// notificationsData is what the list of notifications shows.
type notificationsData struct {
	Form   filterForm
	Search searched
	listed
	CSV, NDJSON string // where the same rows are exported
}

// searched is what became of the text in the search box.
type searched struct {
	Text   string
	Found  []reading // readings that rows are known for
	Looked []reading // all that were tried
	Missed bool      // there is a text, and nothing is known under it
	As     int       // the one of Found that is shown
}

// reading is one meaning of a text.
type reading struct {
	ledger.Reading
	Name    string
	Address string
	Current bool
}

// readingNames are the kinds of readings for people. Nothing writes to it.
var readingNames = map[string]string{
	"id": "id", "dedupe_key": "dedupe key", "message_id": "message id", "event_id": "event id", "recipient": "recipient",
}

// notifications shows the rows that fit the search box and the filters. A text that means one row only leads there.
func (c *Console) notifications(v *visit) error {
	var data notificationsData
	q := v.r.URL.Query()
	search, filter, err := v.search(q)
	data.Search = search
	data.Form, _, _ = v.readFilter(q)
	if err == nil && !search.Missed {
		if len(search.Found) == 1 && search.Found[0].As == "id" {
			return v.redirect("/notifications/" + search.Found[0].ID.String())
		}
		data.listed, err = v.list(filter)
	}
	if invalid := (*ledger.InvalidError)(nil); errors.As(err, &invalid) {
		r, _ := refusalOf(err)
		return v.page(r.Status, "notifications", view{Title: "Notifications", Wrong: r.Text, Data: data})
	}
	if err != nil {
		return err
	}
	q.Del("told")
	data.CSV, data.NDJSON = exportOf(q, "csv"), exportOf(q, "ndjson")
	return v.render(http.StatusOK, "notifications", "Notifications", data)
}

// exportOf is where the rows of a list are exported.
func exportOf(q url.Values, format string) string {
	out := url.Values{"format": {format}}
	for name, values := range q {
		if name != "older" && name != "newer" && name != "format" && values[0] != "" {
			out[name] = values[:1]
		}
	}
	return Path + "/notifications/export?" + out.Encode()
}

// search reads search box and filters. Of the meanings of a text those count that rows are known for; each is asked of its index.
func (v *visit) search(q url.Values) (searched, ledger.Filter, error) {
	s := searched{Text: strings.TrimSpace(q.Get("q"))}
	_, f, err := v.readFilter(q)
	if err != nil || s.Text == "" {
		return s, f, err
	}
	for _, r := range v.c.ledger.Understand(s.Text) {
		one := reading{Reading: r, Name: readingNames[r.As]}
		s.Looked = append(s.Looked, one)
		known, err := v.knows(r)
		if err != nil {
			return s, f, err
		}
		if known {
			s.Found = append(s.Found, one)
		}
	}
	if s.Missed = len(s.Found) == 0; s.Missed {
		return s, f, nil
	}
	if n, err := strconv.Atoi(q.Get("as")); err == nil && n >= 0 && n < len(s.Found) {
		s.As = n
	} else if s.Found[0].As == "id" && len(s.Found) > 1 {
		s.As = 1
	}
	for i := range s.Found {
		s.Found[i].Address = "?" + url.Values{"q": {s.Text}, "as": {strconv.Itoa(i)}}.Encode()
		s.Found[i].Current = i == s.As
		if s.Found[i].As == "id" {
			s.Found[i].Address = Path + "/notifications/" + s.Found[i].ID.String()
		}
	}
	shown := s.Found[s.As].Filter
	f.DedupeKey, f.MessageID, f.EventID, f.Recipient = shown.DedupeKey, shown.MessageID, shown.EventID, shown.Recipient
	return s, f, nil
}

// knows reports whether a row is known under a reading.
func (v *visit) knows(r ledger.Reading) (bool, error) {
	if r.As == "id" {
		_, err := v.c.ledger.Get(v.r.Context(), r.ID, v.who.Source)
		if errors.Is(err, ledger.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	f := r.Filter
	f.Source, f.Limit = v.who.Source, 1
	page, err := v.c.ledger.List(v.r.Context(), f)
	return len(page.Rows) > 0, err
}
