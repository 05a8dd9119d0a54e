package api

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sendonce/ledger"
)

// faults collects what is wrong with a request, so that one answer names it all.
type faults []ledger.FieldError

// add notes a fault.
func (f *faults) add(field, format string, args ...any) {
	*f = append(*f, ledger.FieldError{Field: field, Detail: fmt.Sprintf(format, args...)})
}

// err is the refusal of all faults, or nil.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &ledger.InvalidError{Fields: f}
}

// text checks a person's words: at most max code points, no control characters, and something where needed.
func (f *faults) text(field, value string, max int, needed bool) {
	switch {
	case needed && strings.TrimSpace(value) == "":
		f.add(field, "must be given and not blank")
	case utf8.RuneCountInString(value) > max:
		f.add(field, "must have at most %d characters", max)
	case strings.ContainsFunc(value, unicode.IsControl):
		f.add(field, "must not contain control characters")
	}
}

// time reads RFC 3339 with any zone; empty is the zero time. Years before 1970 are refused: no event of a
// ledger is that old, and the zero time must stay free.
func (f *faults) time(field, value string) time.Time {
	if value == "" {
		return time.Time{}
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(value)); err != nil || t.Year() < 1970 || strings.Contains(value, ",") {
		f.add(field, "must be a time such as 2026-11-30T09:30:00Z, from 1970 on")
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// appendTime appends a time of an answer: RFC 3339 with milliseconds, in UTC. Package time has a fast way for the form without them.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	b = t.AppendFormat(b, time.RFC3339)
	milli := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-len("Z")], '.', digit(milli/100), digit(milli/10), digit(milli), 'Z')
}

// digit is the last decimal digit of n.
func digit(n int) byte { return byte('0' + n%10) }

// timeText writes a time of an answer.
func timeText(t time.Time) string {
	var space [32]byte
	return string(appendTime(space[:0], t))
}

// timeOrNull writes a time that may be missing.
func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := timeText(t)
	return &s
}
