package api

import (
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"sendonce/ledger"
)

// A row has two writers: its type, in lists and records, and appendRow. They agree byte for byte, whatever the row holds: text that
// is no UTF-8, quotes, control characters, any time, the zero id.
func TestRow_IsWhatItsTypeEncodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, claim := anyRow(t), ledger.ClaimResult{Duplicate: rapid.Bool().Draw(t, "duplicate")}
		claim.Differs = rapid.SliceOfN(anyText(), 0, 3).Draw(t, "differs")
		claim.Segments = ledger.Segments{Encoding: anyText().Draw(t, "encoding"), Count: rapid.IntRange(0, 3).Draw(t, "count")}
		want, err := jsonv2.Marshal(claimed(&n, &claim), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Fatal(err)
		}
		if got := appendRow(nil, &n, &claim); string(got) != string(want) {
			t.Fatalf("appended:\n%s\nencoded:\n%s", got, want)
		}
	})
}

// A time of an answer is RFC 3339 in UTC with three digits behind the point, never fewer.
func TestRow_Times(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := anyTime().Draw(t, "at").In(time.FixedZone("", 3600))
		if got, want := timeText(at), at.UTC().Format("2006-01-02T15:04:05.000Z07:00"); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }))
}

func anyTime() *rapid.Generator[time.Time] {
	latest := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
	return rapid.OneOf(rapid.Just(time.Time{}), rapid.Map(rapid.Int64Range(0, latest), time.UnixMicro))
}

func anyRow(t *rapid.T) ledger.Notification {
	text := func(name string) string { return anyText().Draw(t, name) }
	at := func(name string) time.Time { return anyTime().Draw(t, name) }
	id := func(name string) uuid.UUID {
		return rapid.OneOf(rapid.Just(uuid.Nil), rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) uuid.UUID { return uuid.UUID(b) })).Draw(t, name)
	}
	return ledger.Notification{
		ID: id("id"), DedupeKey: text("dedupe_key"), Source: text("source"), EventID: text("event_id"), EventType: text("event_type"),
		UserID: text("user_id"), Channel: ledger.Channel(text("channel")), RecipientKey: text("recipient"), Provider: text("provider"),
		MessageID: text("message_id"), Reason: ledger.Reason(text("reason")), NextAction: ledger.NextAction(text("next_action")),
		Delivery: ledger.Delivery(text("delivery")), State: rapid.SampledFrom(ledger.States).Draw(t, "state"),
		Lane: rapid.SampledFrom([]ledger.Lane{ledger.Urgent, ledger.Normal}).Draw(t, "lane"), MaybeSent: rapid.Bool().Draw(t, "maybe_sent"),
		AttemptCount: rapid.IntRange(0, 99).Draw(t, "attempt_count"), Version: rapid.Int64().Draw(t, "version"),
		Duplicates: rapid.Int64().Draw(t, "duplicates"), ResendOf: id("resend_of"), SuspectedOf: id("suspected"),
		OccurredAt: at("occurred_at"), DuplicateAt: at("duplicate_at"), ClaimedAt: at("claimed_at"), DueAt: at("due_at"),
		ExpiresAt: at("expires_at"), ConfirmedAt: at("confirmed_at"), UpdatedAt: at("updated_at"), ErasedAt: at("erased_at"),
	}
}
