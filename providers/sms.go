package providers

import (
	"fmt"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	maxSenderName   = 11  // characters of a sender's name: what the address field of an SMS has room for (3GPP TS 23.040)
	maxSenderDigits = 15  // of a sender's number (E.164)
	maxSegments     = 255 // parts that one SMS can have (3GPP TS 23.040)
)

// senderFault says what is wrong with the sender of an SMS; "": nothing that is known before the provider looks at it.
func senderFault(from string) string {
	digits := strings.TrimPrefix(from, "+")
	switch {
	case strings.ContainsFunc(from, func(r rune) bool { return r < ' ' || r > '~' }), strings.TrimSpace(from) != from, from == "":
		return "must be printable ASCII without blanks at its ends"
	case strings.Trim(digits, "0123456789") == "":
		if digits == "" || len(digits) > maxSenderDigits {
			return fmt.Sprintf("must be a number of at most %d digits, or a name", maxSenderDigits)
		}
	case len(from) > maxSenderName:
		return fmt.Sprintf("must be a name of at most %d characters, or a number", maxSenderName)
	}
	return ""
}

// segmentsFault says what is wrong with the setting max_segments.
func segmentsFault(limit int) string {
	if limit < 0 || limit > maxSegments {
		return fmt.Sprintf("must be 1 to %d, or left out: no limit but the provider's", maxSegments)
	}
	return ""
}

// smsRules are what an SMS is held against before it is claimed.
type smsRules struct {
	characters int // code points of a text
	segments   int // 0: no limit
}

// read reads a message and refuses what is known to be refused.
func (r smsRules) read(message []byte) (textMessage, error) {
	m, err := readText(message, r.characters)
	if err == nil {
		err = r.check(m)
	}
	return m, err
}

// check judges the sender and the number of parts.
func (r smsRules) check(m textMessage) error {
	if m.From != "" {
		if fault := senderFault(m.From); fault != "" {
			return ledger.Invalid("message.from", "%s", fault)
		}
	}
	if s := segments(m.Text); r.segments > 0 && s.Count > r.segments {
		return ledger.Invalid("message.text", "takes %d parts in %s, and max_segments is %d", s.Count, s.Encoding, r.segments)
	}
	return nil
}

// validity is what is left of an order's life when it is attempted, within what a provider takes; false: it has no end.
func validity(o ledger.Order, least, most time.Duration) (time.Duration, bool) {
	if o.ExpiresAt.IsZero() {
		return 0, false
	}
	return min(max(o.ExpiresAt.Sub(o.At), least), most), true
}
