package ledger

import (
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxProvider is the longest name of a provider, in bytes.
const MaxProvider = 64

// Times of an event lie in years that every format can hold: RFC 3339 has four digits, providers have no past
// before Unix time.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	tooLate  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Validate returns every fault of an event at once, its fields named as in the JSON, or nil. What depends on
// settings is not judged here: the recipient's form (RecipientKey), the parts of a key (Recipe.Key), whether
// the provider exists, and whether expires_at has passed.
func (e *Event) Validate() *InvalidError {
	v := eventFaults{}
	v.id("event_id", e.EventID, MaxEventID, true)
	v.id("event_type", e.EventType, MaxEventType, false)
	v.id("source", e.Source, MaxSource, false)
	v.id("user_id", e.UserID, MaxUserID, false)
	v.dedupeKey(e.DedupeKey)
	v.provider(e.Provider)
	v.recipient(e.Recipient)
	v.times(e)
	v.metadata(e.Metadata)
	if e.Lane != "" && e.Lane != Urgent.String() && e.Lane != Normal.String() {
		v.fault("lane", "must be urgent or normal")
	}

	// Without a channel nobody can tell what the message should look like.
	if _, known := messageFields[e.Channel]; !known {
		v.fault("channel", "must be sms, email, push or webhook")
	} else if _, err := ParseMessage(e.Channel, e.Message); err != nil {
		var invalid *InvalidError
		if errors.As(err, &invalid) {
			v.faults = append(v.faults, invalid.Fields...)
		}
	}
	if v.faults == nil {
		return nil
	}
	return &InvalidError{Fields: v.faults}
}

// eventFaults collects what is wrong with an event.
type eventFaults struct{ faults []FieldError }

func (v *eventFaults) fault(field, detail string) {
	v.faults = append(v.faults, FieldError{Field: field, Detail: detail})
}

// id checks a name that a caller gave to something. Such names are never trimmed or folded.
func (v *eventFaults) id(field, s string, max int, required bool) {
	switch {
	case s == "":
		if required {
			v.fault(field, "is required and must not be empty")
		}
		return
	case longer(s, max):
		v.fault(field, "must be at most "+strconv.Itoa(max)+" characters long")
	case isBlank(s):
		v.fault(field, "must not be blank")
	case plainASCII(s):
	case !utf8.ValidString(s):
		v.fault(field, "must be valid UTF-8")
	case hasControl(s):
		v.fault(field, "must not contain control characters")
	}
}

func (v *eventFaults) dedupeKey(s string) {
	if len(s) > MaxDedupeKey || !only(s, func(c byte) bool { return 0x21 <= c && c <= 0x7e }) {
		v.fault("dedupe_key", "must be 1 to 128 characters of printable ASCII without blanks")
	}
}

func (v *eventFaults) provider(s string) {
	if len(s) > MaxProvider || !only(s, func(c byte) bool { return 'a' <= c && c <= 'z' || isDigit(c) || c == '_' }) {
		v.fault("provider", "must be the name of a configured provider: at most 64 of a-z, 0-9 and _")
	}
}

func (v *eventFaults) recipient(s string) {
	switch {
	case isBlank(s):
		v.fault("recipient", "is required and must not be empty")
	case longer(s, MaxRecipient):
		v.fault("recipient", "must be at most "+strconv.Itoa(MaxRecipient)+" characters long")
	case !utf8.ValidString(s):
		v.fault("recipient", "must be valid UTF-8")
	case !plainASCII(s) && hasInvisible(s):
		v.fault("recipient", "must not contain line breaks, control characters or invisible characters")
	}
}

func (v *eventFaults) times(e *Event) {
	for _, t := range []struct {
		field string
		at    time.Time
	}{{"occurred_at", e.OccurredAt}, {"send_at", e.SendAt}, {"expires_at", e.ExpiresAt}} {
		if !t.at.IsZero() && (t.at.Before(earliest) || !t.at.Before(tooLate)) {
			v.fault(t.field, "must be a time of the years 1970 to 9999")
		}
	}
	if !e.SendAt.IsZero() && !e.ExpiresAt.IsZero() && !e.SendAt.Before(e.ExpiresAt) {
		v.fault("expires_at", "must be later than send_at")
	}
}

// metadata checks what is stored beside the message and never sent.
func (v *eventFaults) metadata(b []byte) {
	switch {
	case b == nil:
	case len(b) > MaxMetadataBytes:
		v.fault("metadata", "must be at most 4 KiB long")
	case jsontext.Value(b).Kind() != '{' || !jsontext.Value(b).IsValid():
		v.fault("metadata", "must be a JSON object without repeated names")
	case escapesNUL(b):
		v.fault("metadata", "must not contain NUL")
	}
}
