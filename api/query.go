package api

import (
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sendonce/ledger"
)

// defaultLimit is how many rows a page has when the caller names no limit.
const defaultLimit = 100

// list answers with a page of rows.
func (a *API) list(rq *request) error {
	var f faults
	values := f.query(rq.Request().URL.RawQuery)
	filter := f.page(values)
	for _, name := range []string{"sort", "limit", "cursor"} {
		delete(values, name)
	}
	c := f.conditions("", values)
	c.Oldest, c.Limit, c.Cursor = filter.Oldest, filter.Limit, filter.Cursor
	if err := f.err(); err != nil {
		return err
	}
	var err error
	if c.Source, err = rq.key.sourceFor(c.Source); err != nil {
		return err
	}
	page, err := a.ledger.List(rq.Request().Context(), c)
	if err != nil {
		return err
	}
	answer := &List{Notifications: notifications(page.Rows)}
	if page.Next != 0 {
		cursor := cursorText(page.Next, c.Oldest)
		answer.NextCursor = &cursor
	}
	return a.writeJSON(rq, http.StatusOK, answer)
}

// query reads the parameters of a URL. Each stands once; what can't be read is a fault, never left out: a
// filter that lost a condition would show, or settle, too much.
func (f *faults) query(raw string) map[string]string {
	parsed, err := url.ParseQuery(raw)
	if err != nil {
		f.add("query", "must be percent-encoded name=value pairs joined with &")
	}
	values := make(map[string]string, len(parsed))
	for name, all := range parsed {
		if len(all) > 1 {
			f.add(nameText(name), "must stand once")
		}
		values[name] = all[0]
	}
	return values
}

// page reads what a list takes beside its conditions.
func (f *faults) page(values map[string]string) ledger.Filter {
	out := ledger.Filter{Limit: defaultLimit}
	switch sort, given := values["sort"]; {
	case sort == "oldest":
		out.Oldest = true
	case given && sort != "newest":
		f.add("sort", "must be newest or oldest")
	}
	if text, given := values["limit"]; given {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > ledger.MaxList {
			f.add("limit", "must be 1 to %d", ledger.MaxList)
		}
		out.Limit = n
	}
	if text, given := values["cursor"]; given {
		seq, ok := parseCursor(text, out.Oldest)
		if !ok {
			f.add("cursor", "must be a next_cursor of a list with the same sort")
		}
		out.Cursor = seq
	}
	return out
}

// conditions reads the conditions that a list and a bulk settlement share; prefix names where they stand.
func (f *faults) conditions(prefix string, values map[string]string) ledger.Filter {
	var out ledger.Filter
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, field := values[name], prefix+nameText(name)
		if value == "" && name != "source" {
			f.add(field, "must not be empty; leave it out")
			continue
		}
		if !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
			f.add(field, "must be UTF-8 without control characters")
			continue
		}
		f.condition(&out, name, field, value)
	}
	return out
}

// condition sets one field of a filter.
func (f *faults) condition(out *ledger.Filter, name, field, value string) {
	switch name {
	case "event_id":
		out.EventID = value
	case "recipient":
		if prefixed := strings.HasPrefix(value, " "); prefixed {
			f.add(field, "must not begin with a blank; in a URL a plus sign is written %%2B")
		}
		out.Recipient = value
	case "message_id":
		out.MessageID = value
	case "dedupe_key":
		out.DedupeKey = value
	case "state":
		for word := range strings.SplitSeq(value, ",") {
			if !ledger.State(word).Valid() {
				f.add(field, "must be states separated by commas, of %s", names(ledger.States))
				break
			}
			out.States = append(out.States, ledger.State(word))
		}
	case "channel":
		out.Channel = ledger.Channel(value)
		if !slices.Contains(ledger.Channels, out.Channel) {
			f.add(field, "must be one of %s", names(ledger.Channels))
		}
	case "provider":
		out.Provider = value
	case "event_type":
		out.EventType = value
	case "source":
		out.Source = &value
	case "user_id":
		out.UserID = value
	case "delivery":
		out.Delivery = ledger.Delivery(value)
		if !slices.Contains(ledger.Deliveries, out.Delivery) {
			f.add(field, "must be one of %s", names(ledger.Deliveries))
		}
	case "claimed_after":
		out.After = f.time(field, value)
	case "claimed_before":
		out.Before = f.time(field, value)
	default:
		f.add(field, "is no filter; the filters are %s", strings.Join(filterNames, ", "))
	}
}

// filterNames are the conditions in the order of docs/api.md. Nothing writes to it.
var filterNames = []string{"event_id", "recipient", "message_id", "dedupe_key", "state", "channel", "provider", "event_type",
	"source", "user_id", "delivery", "claimed_after", "claimed_before"}

// names joins words for a person.
func names[T ~string](words []T) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}

// cursorText hides a place in the order of claiming. The sort is part of it, since a place means nothing in
// the other direction.
func cursorText(seq int64, oldest bool) string {
	var b [9]byte
	binary.BigEndian.PutUint64(b[1:], uint64(seq))
	if oldest {
		b[0] = 1
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// parseCursor reads a cursor of the given sort.
func parseCursor(text string, oldest bool) (int64, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 9 || b[0] > 1 || (b[0] == 1) != oldest {
		return 0, false
	}
	seq := int64(binary.BigEndian.Uint64(b[1:]))
	return seq, seq > 0
}
