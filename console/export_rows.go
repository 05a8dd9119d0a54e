package console

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
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

func columnNames() []any {
	out := make([]any, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return out
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

// csvRow writes a line of CSV. Each cell is quoted, and nothing in it is what a table program would take for a formula. No byte order
// mark stands before the first line: those who read CSV by program take it for a part of the first name.
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

// unformula keeps a cell, and each part of it that a program could take for a cell, from being computed by whoever opens it: where
// the semicolon or the tab divides cells, as in most of Europe, quotes do not hold a line of commas together. What begins as a
// formula gets an apostrophe in front.
func unformula(s string) string {
	if !strings.ContainsAny(s, begins) {
		return s
	}
	var b strings.Builder
	start := true // of a cell, but for quotes and blanks
	for _, r := range s {
		switch {
		case start && strings.ContainsRune(begins, r):
			b.WriteByte('\'')
			start = r == '\t' || r == '\r' || r == '\n'
		case strings.ContainsRune(divides, r):
			start = true
		case r != '"' && r != ' ':
			start = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

const (
	begins  = "=+-@\t\r\n＝＋－＠" // a formula
	divides = ";\t\r\n"        // cells
)

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
