package store

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// Times are stored as Unix milliseconds UTC; the zero time is NULL. These two functions are the only conversion.

func ms(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func fromMS(v int64) time.Time { return time.UnixMilli(v).UTC() }

// kept cuts a time to what a reader will see.
func kept(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return fromMS(t.UnixMilli())
}

// asKept is a row whose times are as a reader will see them.
func asKept(n ledger.Notification) ledger.Notification {
	for _, t := range []*time.Time{&n.OccurredAt, &n.DueAt, &n.SendAt, &n.ExpiresAt, &n.DuplicateAt, &n.ClaimedAt, &n.ConfirmedAt, &n.UpdatedAt} {
		*t = kept(*t)
	}
	return n
}

// text and blob write the empty value as NULL.

func text[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return string(s)
}

func blob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// jsonText writes a JSON value as TEXT, so that people can read it; nil is NULL.
func jsonText(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

func number(n int) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func idOf(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id[:]
}

// The types below read one column each. They hold one pointer, so handing them to Scan allocates nothing, and they
// spare database/sql its reflection; NULL becomes the zero value.

type toTime struct{ p *time.Time }

func (d toTime) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*d.p = time.Time{}
	case int64:
		*d.p = fromMS(v)
	default:
		return unexpected(src, "a time")
	}
	return nil
}

type toText[T ~string] struct{ p *T }

func (d toText[T]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*d.p = ""
	case string:
		*d.p = T(v)
	default:
		return unexpected(src, "text")
	}
	return nil
}

type toInt[T ~int | ~int8 | ~int64] struct{ p *T }

func (d toInt[T]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*d.p = 0
	case int64:
		*d.p = T(v)
	default:
		return unexpected(src, "an integer")
	}
	return nil
}

type toBool struct{ p *bool }

func (d toBool) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return unexpected(src, "0 or 1")
	}
	*d.p = v != 0
	return nil
}

// toBytes reads a BLOB or a TEXT; the driver's copy is kept.
type toBytes struct{ p *[]byte }

func (d toBytes) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*d.p = nil
	case []byte:
		*d.p = v
	case string:
		*d.p = []byte(v)
	default:
		return unexpected(src, "bytes")
	}
	return nil
}

type toID struct{ p *uuid.UUID }

func (d toID) Scan(src any) error { return fixed((*d.p)[:], src) }

type to16 struct{ p *[16]byte }

func (d to16) Scan(src any) error { return fixed((*d.p)[:], src) }

type to8 struct{ p *[8]byte }

func (d to8) Scan(src any) error { return fixed((*d.p)[:], src) }

func fixed(dst []byte, src any) error {
	if src == nil {
		clear(dst)
		return nil
	}
	b, ok := src.([]byte)
	if !ok || len(b) != len(dst) {
		return unexpected(src, fmt.Sprintf("%d bytes", len(dst)))
	}
	copy(dst, b)
	return nil
}

func unexpected(src any, want string) error {
	return fmt.Errorf("the ledger holds a %T where %s belongs", src, want)
}

// rowColumns are a notification's columns, in the order in which rowTargets reads them, from rowTables.
const (
	rowColumns = `n.seq, n.id, n.source, n.dedupe_key, n.recipe, n.source_in_key, n.event_id, n.event_type, n.user_id, n.channel,
 n.provider, n.pinned, n.lane, n.state, n.reason, n.maybe_sent, n.next_action, n.due_at, n.send_at, n.expires_at, n.attempt_count,
 n.deferrals, n.tried, n.message_id, n.delivery, n.resend_of, n.suspected_of, n.version, n.duplicate_count, n.last_duplicate_at,
 n.occurred_at, n.claimed_at, n.confirmed_at, n.updated_at, c.recipient, c.recipient_key, c.message, c.metadata, c.content_hash`
	rowTables = `notifications n LEFT JOIN contents c ON c.notification = n.seq`
)

func rowTargets(n *ledger.Notification) []any {
	return []any{
		toInt[int64]{&n.Seq}, toID{&n.ID}, &n.Source, toKey{&n.DedupeKey}, &n.Recipe, toBool{&n.SourceInKey}, &n.EventID,
		toText[string]{&n.EventType}, toText[string]{&n.UserID}, toText[ledger.Channel]{&n.Channel},
		&n.Provider, toBool{&n.Pinned}, toInt[ledger.Lane]{&n.Lane}, toText[ledger.State]{&n.State}, toText[ledger.Reason]{&n.Reason},
		toBool{&n.MaybeSent}, toText[ledger.NextAction]{&n.NextAction}, toTime{&n.DueAt}, toTime{&n.SendAt}, toTime{&n.ExpiresAt},
		toInt[int]{&n.AttemptCount}, toInt[int]{&n.Deferrals}, &n.Tried, toText[string]{&n.MessageID}, toText[ledger.Delivery]{&n.Delivery},
		toID{&n.ResendOf}, toID{&n.SuspectedOf}, toInt[int64]{&n.Version}, toInt[int64]{&n.Duplicates}, toTime{&n.DuplicateAt},
		toTime{&n.OccurredAt}, toTime{&n.ClaimedAt}, toTime{&n.ConfirmedAt}, toTime{&n.UpdatedAt},
		toText[string]{&n.Recipient}, toText[string]{&n.RecipientKey}, toBytes{&n.Message}, toBytes{&n.Metadata}, to16{&n.ContentHash},
	}
}

// collect reads all rows of a query and closes it. It reads rows.Err: a query that was cut short is an error, never an
// empty answer.
func collect[T any](rows rows, err error, targets func(*T) []any) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // what it could say, Err said
	var out []T
	for rows.Next() {
		var v T
		if err := rows.Scan(targets(&v)...); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return out, nil
}
