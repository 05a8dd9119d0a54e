package api

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"sendonce/ledger"
)

// appendRow appends a row as JSON: byte for byte what encoding a Notification gives, without making one. Nearly every answer is
// a row, and reflection over its thirty fields took longer than all else that is done for a repeat.
func appendRow(b []byte, n *ledger.Notification, claim *ledger.ClaimResult) []byte {
	o := object{append(b, '{')}
	o.id("id", n.ID)
	o.text("dedupe_key", n.DedupeKey)
	o.flag("duplicate", claim.Duplicate)
	o.text("state", string(n.State))
	o.flag("final", n.State.Final())
	o.flag("maybe_sent", n.MaybeSent)
	o.textOrNull("reason", string(n.Reason))
	o.textOrNull("next_action", string(n.Shown()))
	o.textOrNull("delivery", string(n.Delivery))
	o.textOrNull("event_id", n.EventID)
	o.textOrNull("event_type", n.EventType)
	o.text("source", n.Source)
	o.textOrNull("user_id", n.UserID)
	o.timeOrNull("occurred_at", n.OccurredAt)
	o.text("channel", string(n.Channel))
	o.textOrNull("recipient", n.RecipientKey)
	o.textOrNull("provider", n.Provider)
	o.textOrNull("lane", laneOf(n))
	o.textOrNull("message_id", n.MessageID)
	o.number("attempt_count", int64(n.AttemptCount))
	o.number("version", n.Version)
	o.idOrNull("resend_of", n.ResendOf)
	o.number("duplicate_count", n.Duplicates)
	o.timeOrNull("last_duplicate_at", n.DuplicateAt)
	o.idOrNull("suspected_duplicate_of", n.SuspectedOf)
	o.time("claimed_at", n.ClaimedAt)
	o.timeOrNull("due_at", n.DueAt)
	o.timeOrNull("expires_at", n.ExpiresAt)
	o.timeOrNull("confirmed_at", n.ConfirmedAt)
	o.time("updated_at", n.UpdatedAt)
	if len(claim.Differs) > 0 {
		o.texts("differs", claim.Differs)
	}
	if s := claim.Segments; s.Count > 0 {
		o.name("segments")
		parts := object{append(o.b, '{')}
		parts.text("encoding", s.Encoding)
		parts.number("count", int64(s.Count))
		o.b = append(parts.b, '}')
	}
	return append(o.b, '}')
}

// object is a JSON object that is being written. Names are our own and need no escapes.
type object struct{ b []byte }

func (o *object) name(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), `":`...)
}

func (o *object) text(name, value string) {
	o.name(name)
	o.b = appendText(o.b, value)
}

func (o *object) texts(name string, values []string) {
	o.name(name)
	o.b = append(o.b, '[')
	for i, value := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendText(o.b, value)
	}
	o.b = append(o.b, ']')
}

func (o *object) null(name string) {
	o.name(name)
	o.b = append(o.b, "null"...)
}

func (o *object) textOrNull(name, value string) {
	if value == "" {
		o.null(name)
		return
	}
	o.text(name, value)
}

func (o *object) flag(name string, value bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, value)
}

func (o *object) number(name string, value int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, value, 10)
}

func (o *object) time(name string, value time.Time) {
	o.name(name)
	o.b = append(appendTime(append(o.b, '"'), value), '"')
}

func (o *object) timeOrNull(name string, value time.Time) {
	if value.IsZero() {
		o.null(name)
		return
	}
	o.time(name, value)
}

func (o *object) id(name string, value uuid.UUID) {
	o.name(name)
	o.b = append(appendID(append(o.b, '"'), value), '"')
}

func (o *object) idOrNull(name string, value uuid.UUID) {
	if value == uuid.Nil {
		o.null(name)
		return
	}
	o.id(name, value)
}

// appendID appends an id in its usual form, without the string that uuid.UUID would make of it.
func appendID(b []byte, id uuid.UUID) []byte {
	b = append(hex.AppendEncode(b, id[:4]), '-')
	b = append(hex.AppendEncode(b, id[4:6]), '-')
	b = append(hex.AppendEncode(b, id[6:8]), '-')
	b = append(hex.AppendEncode(b, id[8:10]), '-')
	return hex.AppendEncode(b, id[10:])
}

// appendText appends a JSON string. What is no UTF-8 is shown with U+FFFD in its place, which the error would tell.
func appendText(b []byte, value string) []byte {
	b, _ = jsontext.AppendQuote(b, value)
	return b
}
