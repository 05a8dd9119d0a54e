package fill

import (
	"encoding/hex"
	"slices"
)

// column is one column and where its value comes from: an int64, a string (TEXT) or a []byte (BLOB).
type column struct {
	name  string
	value func(*row) any
}

// table is what one notification writes into one table.
type table struct {
	name    string
	columns []column
}

func always(v any) func(*row) any { return func(*row) any { return v } }

// event is what a row has from its claim on, whatever becomes of it.
var event = []column{
	{"seq", func(r *row) any { return r.n }},
	{"id", func(r *row) any { return r.id[:] }},
	{"source", always("")},
	{"dedupe_key", keyColumn},
	{"recipe", always("event")},
	{"source_in_key", always(int64(0))},
	{"event_id", func(r *row) any { return string(r.event) }},
	{"event_type", always("order.shipped")},
	{"channel", always("sms")},
	{"provider", always(Provider)},
	{"pinned", always(int64(0))},
	{"lane", always(int64(1))},
	{"expires_at", func(r *row) any { return r.claimed + 72*3600*1000 }},
	{"claimed_at", func(r *row) any { return r.claimed }},
}

// full is a notification that was claimed, taken with its claim and sent by its first attempt. Columns that are NULL or have
// their default there are left out. This file is the only place that knows the layout of the schema.
var full = []table{
	{"notifications", slices.Concat(event, []column{
		{"state", always("sent")},
		{"attempt_count", always(int64(1))},
		{"message_id", func(r *row) any { return string(r.messageID) }},
		{"version", always(int64(3))},
		{"confirmed_at", func(r *row) any { return r.sent }},
		{"updated_at", func(r *row) any { return r.sent }},
	})},
	{"contents", []column{
		{"notification", func(r *row) any { return r.n }},
		{"recipient", func(r *row) any { return string(r.recipient) }},
		{"recipient_key", func(r *row) any { return string(r.recipient) }},
		{"message", func(r *row) any { return string(r.message) }},
		{"content_hash", func(r *row) any { return r.hash }},
	}},
	{"attempts", []column{
		{"notification", func(r *row) any { return r.n }},
		{"number", always(int64(1))},
		{"kind", always("send")},
		{"provider", always(Provider)},
		{"account", always([]byte("account1"))},
		{"request_hash", func(r *row) any { return r.hash }},
		{"started_at", func(r *row) any { return r.claimed }},
		{"ended_at", func(r *row) any { return r.sent }},
		{"outcome", always("accepted")},
		{"phase", always("answered")},
		{"status", always(int64(200))},
		{"message_id", func(r *row) any { return string(r.messageID) }},
		{"answer", func(r *row) any { return r.answer }},
	}},
}

// claimed is a notification that waits to be sent.
var claimed = []table{
	{"notifications", slices.Concat(event, []column{
		{"state", always("claimed")},
		{"next_action", always("send")},
		{"due_at", func(r *row) any { return r.claimed + 24*3600*1000 }},
		{"updated_at", func(r *row) any { return r.claimed }},
	})},
	full[1],
}

// erased is what is left of the same notification once it was erased.
var erased = []table{
	{"erased", []column{
		{"seq", func(r *row) any { return r.n }},
		{"id", func(r *row) any { return r.id[:] }},
		{"source", always("")},
		{"dedupe_key", keyColumn},
		{"recipe", always("event")},
		{"channel", always("sms")},
		{"state", always("sent")},
		{"maybe_sent", always(int64(0))},
		{"attempt_count", always(int64(1))},
		{"version", always(int64(4))},
		{"duplicate_count", always(int64(0))},
		{"claimed_at", func(r *row) any { return r.claimed }},
		{"confirmed_at", func(r *row) any { return r.sent }},
		{"updated_at", func(r *row) any { return r.sent }},
		{"erased_at", func(r *row) any { return r.sent + 1 }},
	}},
}

// keyColumn is the dedupe key as the schema keeps it: as text, or as the bytes that its hex digits stand for.
func keyColumn(r *row) any {
	if !r.binaryKey {
		return string(r.key)
	}
	b, err := hex.DecodeString(string(r.key))
	if err != nil {
		panic("the key is hex: appendKey made it")
	}
	return b
}

// Provider is the name of the provider that every row was sent by.
const Provider = "infrai_main"

// Statements that bring the counted row in line: $1 rows, the newest time $2.
const (
	countFull   = "UPDATE counts SET sent = sent + $1, newest_at = max(newest_at, $2) WHERE one = 1"
	countErased = "UPDATE counts SET erased = erased + $1 WHERE one = 1"
)

// isBinary asks whether keys are kept as bytes: then their column has no type of its own.
const isBinary = "SELECT type <> 'TEXT' FROM pragma_table_info('notifications') WHERE name = 'dedupe_key'"
