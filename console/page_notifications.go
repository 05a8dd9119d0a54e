package console

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

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
	As     int       // the one of Looked that is shown
	One    uuid.UUID // the row that the text means, where that is all that it means
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
	var filter ledger.Filter
	var err error
	if data.Form, filter, err = v.readFilter(v.asked); err == nil {
		data.Search, filter, err = v.search(v.asked, filter)
	}
	if err == nil && data.Search.One != uuid.Nil {
		return v.redirect("/notifications/" + data.Search.One.String())
	}
	if err == nil && !data.Search.Missed {
		data.listed, err = v.list(v.asked, filter)
	}
	if invalid := (*ledger.InvalidError)(nil); errors.As(err, &invalid) {
		r, _ := refusalOf(err)
		return v.page(r.Status, "notifications", view{Title: "Notifications", Wrong: r.Text, Data: data})
	}
	if err != nil {
		return err
	}
	rows := v.asked.without(places...)
	data.CSV, data.NDJSON = rows.with("format", "csv").address(exportPath), rows.with("format", "ndjson").address(exportPath)
	return v.render(http.StatusOK, "notifications", "Notifications", data)
}

// exportPath is where the rows of a list are exported.
const exportPath = "/notifications/export"

// search reads the search box. Of the meanings of a text those count that rows are known for; each is asked of its index. as=N is
// the meaning that is wanted, counted among all, so that it stays the same whatever becomes known meanwhile.
func (v *visit) search(a asked, f ledger.Filter) (searched, ledger.Filter, error) {
	s := searched{Text: strings.TrimSpace(a["q"])}
	switch {
	case s.Text == "" && a["q"] != "":
		return s, f, ledger.Invalid("search", "has nothing but blanks")
	case s.Text == "" && a["as"] != "":
		return s, f, ledger.Invalid("as", "belongs to a search")
	case s.Text == "":
		return s, f, nil
	}
	s.As = -1
	for i, r := range v.c.ledger.Understand(s.Text) {
		one := reading{Reading: r, Name: readingNames[r.As], Address: asked{"q": s.Text, "as": strconv.Itoa(i)}.address("/notifications")}
		if r.As == "id" {
			one.Address = Path + "/notifications/" + r.ID.String()
		}
		s.Looked = append(s.Looked, one)
		known, err := v.knows(r)
		if err != nil {
			return s, f, err
		}
		if !known {
			continue
		}
		if s.As < 0 || s.Looked[s.As].As == "id" { // a row's own page is one step away in any case
			s.As = i
		}
		s.Found = append(s.Found, one)
	}
	s.Missed = len(s.Found) == 0
	if a["as"] != "" {
		n, err := strconv.Atoi(a["as"])
		if err != nil || n < 0 || n >= len(s.Looked) {
			return s, f, ledger.Invalid("as", "is no meaning of this text")
		}
		s.As = n
	}
	if s.Missed {
		return s, f, nil
	}
	for i := range s.Found {
		s.Found[i].Current = s.Found[i].Address == s.Looked[s.As].Address
	}
	if shown := s.Looked[s.As]; shown.As == "id" {
		s.One = shown.ID
	} else {
		f.DedupeKey, f.MessageID, f.EventID, f.Recipient = shown.Filter.DedupeKey, shown.Filter.MessageID, shown.Filter.EventID, shown.Filter.Recipient
	}
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
