package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

const (
	maxExports  = 2                // at a time
	exportWrite = 30 * time.Second // for one page of rows; a reader that takes longer is gone
)

// column is one field of an export, named as in the API. Its value is a string, an int64, a bool, or nil where there is nothing.
type column struct {
	name  string
	value func(n *ledger.Notification) any
}

// columns are the fields of an export, in the API's order. Nothing writes to it.
var columns = []column{
	{"id", func(n *ledger.Notification) any { return n.ID.String() }},
	{"dedupe_key", func(n *ledger.Notification) any { return n.DedupeKey }},
	{"state", func(n *ledger.Notification) any { return string(n.State) }},
	{"final", func(n *ledger.Notification) any { return n.State.Final() }},
	{"maybe_sent", func(n *ledger.Notification) any { return n.MaybeSent }},
	{"reason", func(n *ledger.Notification) any { return orNone(string(n.Reason)) }},
	{"next_action", func(n *ledger.Notification) any { return orNone(string(n.Shown())) }},
	{"delivery", func(n *ledger.Notification) any { return orNone(string(n.Delivery)) }},
	{"event_id", func(n *ledger.Notification) any { return orNone(n.EventID) }},
	{"event_type", func(n *ledger.Notification) any { return orNone(n.EventType) }},
	{"source", func(n *ledger.Notification) any { return n.Source }},
	{"user_id", func(n *ledger.Notification) any { return orNone(n.UserID) }},
	{"occurred_at", func(n *ledger.Notification) any { return timeText(n.OccurredAt) }},
	{"channel", func(n *ledger.Notification) any { return string(n.Channel) }},
	{recipientColumn, func(n *ledger.Notification) any { return orNone(n.RecipientKey) }},
	{"provider", func(n *ledger.Notification) any { return orNone(n.Provider) }},
	{"lane", func(n *ledger.Notification) any {
		if n.Erased() {
			return nil
		}
		return n.Lane.String()
	}},
	{"message_id", func(n *ledger.Notification) any { return orNone(n.MessageID) }},
	{"attempt_count", func(n *ledger.Notification) any { return int64(n.AttemptCount) }},
	{"version", func(n *ledger.Notification) any { return n.Version }},
	{"resend_of", func(n *ledger.Notification) any { return idText(n.ResendOf) }},
	{"duplicate_count", func(n *ledger.Notification) any { return n.Duplicates }},
	{"last_duplicate_at", func(n *ledger.Notification) any { return timeText(n.DuplicateAt) }},
	{"suspected_duplicate_of", func(n *ledger.Notification) any { return idText(n.SuspectedOf) }},
	{"claimed_at", func(n *ledger.Notification) any { return timeText(n.ClaimedAt) }},
	{"due_at", func(n *ledger.Notification) any { return timeText(n.DueAt) }},
	{"expires_at", func(n *ledger.Notification) any { return timeText(n.ExpiresAt) }},
	{"confirmed_at", func(n *ledger.Notification) any { return timeText(n.ConfirmedAt) }},
	{"updated_at", func(n *ledger.Notification) any { return timeText(n.UpdatedAt) }},
}

const recipientColumn = "recipient"

func orNone(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func timeText(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return machine(t)
}

func idText(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id.String()
}

// cells are a row's values; the recipient is masked for keys that may not see it.
func cells(n *ledger.Notification, plain bool) []any {
	out := make([]any, len(columns))
	for i, c := range columns {
		out[i] = c.value(n)
		if c.name == recipientColumn && !plain {
			out[i] = orNone(mask(n))
		}
	}
	return out
}

// export streams the rows of a filter, a page at a time. Whatever ends it early cuts the connection, so that nobody takes a part
// for the whole.
func (c *Console) export(v *visit) error {
	write, kind := csvRow, "text/csv; charset=utf-8; header=present"
	switch v.asked["format"] {
	case "csv":
	case "ndjson":
		write, kind = jsonRow, "application/x-ndjson"
	default:
		return ledger.Invalid("format", "must be csv or ndjson")
	}
	_, f, err := v.readFilter(v.asked)
	if err != nil {
		return err
	}
	search, f, err := v.search(v.asked, f)
	if err != nil {
		return err
	}
	if search.One != uuid.Nil {
		return ledger.Invalid("search", "is the id of one notification, which has a page of its own; an export is of a list")
	}
	select {
	case c.exports <- struct{}{}:
		defer func() { <-c.exports }()
	default:
		return errBusy
	}
	f.Limit = ledger.MaxList
	name := fmt.Sprintf("sendonce-%s.%s", time.Now().UTC().Format("20060102T150405Z"), v.asked["format"])
	v.w.Header().Set("Content-Type", kind)
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	var b bytes.Buffer
	if v.asked["format"] == "csv" {
		names := make([]any, len(columns))
		for i, col := range columns {
			names[i] = col.name
		}
		csvRow(&b, names)
	}
	rows := 0
	for more := !search.Missed; more; {
		page, err := c.ledger.List(v.r.Context(), f)
		if err != nil {
			c.log.Warn("console export cut", "key", v.who.Name, "rows", rows, "error", err)
			panic(http.ErrAbortHandler)
		}
		for i := range page.Rows {
			write(&b, cells(&page.Rows[i], v.who.Operate))
		}
		rows += len(page.Rows)
		f.Cursor, more = page.Next, page.Next != 0
		if !v.flush(&b) {
			return nil
		}
	}
	v.flush(&b)
	c.log.Info("console export", "key", v.who.Name, "format", v.asked["format"], "rows", rows, "recipients", v.who.Operate)
	return nil
}

// flush sends what is there; false: the reader is gone.
func (v *visit) flush(b *bytes.Buffer) bool {
	out := http.NewResponseController(v.w)
	_ = out.SetWriteDeadline(time.Now().Add(exportWrite))
	_, err := b.WriteTo(v.w)
	return err == nil && out.Flush() == nil
}

// csvRow writes a line of CSV. Each cell is quoted, and one that a table program would take for a formula begins with an apostrophe.
func csvRow(b *bytes.Buffer, values []any) {
	for i, value := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		text := ""
		switch value := value.(type) {
		case string:
			text = unformula(strings.ToValidUTF8(value, "\ufffd"))
		case int64:
			text = strconv.FormatInt(value, 10)
		case bool:
			text = strconv.FormatBool(value)
		}
		b.WriteByte('"')
		b.WriteString(strings.ReplaceAll(text, `"`, `""`))
		b.WriteByte('"')
	}
	b.WriteString("\r\n")
}

// unformula keeps a cell from being computed by whoever opens it.
func unformula(s string) string {
	if s == "" || !strings.ContainsAny(s[:1], "=+-@\t\r\n") && !strings.HasPrefix(s, "＝") && !strings.HasPrefix(s, "＋") && !strings.HasPrefix(s, "－") && !strings.HasPrefix(s, "＠") {
		return s
	}
	return "'" + s
}

// jsonRow writes an object on a line, its members in the order of the columns.
func jsonRow(b *bytes.Buffer, values []any) {
	for i, value := range values {
		b.WriteString([]string{`{"`, `,"`}[min(i, 1)])
		b.WriteString(columns[i].name)
		b.WriteString(`":`)
		text, err := json.Marshal(value)
		if err != nil {
			panic("console: a cell is no JSON: " + err.Error()) // text, number, flag or null
		}
		b.Write(text)
	}
	b.WriteString("}\n")
}
