package ledger

import (
	"bytes"
	"crypto/sha256"
	"strings"
)

// ContentHash is a fingerprint of what a person is told: channel, recipient and message. Member order, white
// space and the escapes of strings do not matter; numbers count as they are written. A message that is no JSON
// is hashed as it is.
func ContentHash(ch Channel, recipientKey string, raw []byte) [16]byte {
	b := append(make([]byte, 0, len(ch)+len(recipientKey)+len(raw)+2), ch...)
	b = append(b, 0)
	b = append(b, recipientKey...)
	b = append(b, 0)
	start := len(b)
	b, ok := appendCanonical(b, raw, numberAsWritten)
	if !ok {
		b = append(b[:start], raw...)
	}
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

// SameMessage reports whether two messages are the same JSON value: member order, white space and escapes do
// not matter, and numbers are compared by their exact value, so 1.10 is 1.1 and 1e1 is 10, but
// 9007199254740993 is not 9007199254740992. What is no JSON equals only its own bytes.
func SameMessage(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	ca, ok := appendCanonical(nil, a, numberByValue)
	if !ok {
		return false
	}
	cb, ok := appendCanonical(nil, b, numberByValue)
	return ok && bytes.Equal(ca, cb)
}

// Differs names the fields in which an event is not what the row that has its key was claimed for. Times,
// metadata, lane and provider may change between repeats. An erased row has nothing left to compare.
func Differs(n *Notification, e *Event, recipientKey string) []string {
	if n.ContentGone() {
		return nil
	}
	var names []string
	differs := func(name string, is bool) {
		if is {
			names = append(names, name)
		}
	}
	differs("event_id", n.EventID != e.EventID)
	differs("event_type", n.EventType != e.EventType)
	differs("user_id", n.UserID != e.UserID)
	differs("channel", n.Channel != e.Channel)
	// A ledger that was moved in may have made its keys over the recipient as written.
	differs("recipient", n.RecipientKey != recipientKey && n.Recipient != e.Recipient && n.RecipientKey != e.Recipient)
	differs("message", !SameMessage(n.Message, e.Message))
	return names
}

// MatchEventType reports whether an event type fits a policy's pattern, in which * stands for any run of
// characters, none included. The empty pattern fits every type.
func MatchEventType(pattern, eventType string) bool {
	if pattern == "" {
		return true
	}
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == eventType
	}
	if !strings.HasPrefix(eventType, first) {
		return false
	}
	eventType = eventType[len(first):]
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(eventType, part)
		}
		i := strings.Index(eventType, part)
		if i < 0 {
			return false
		}
		eventType, rest = eventType[i+len(part):], more
	}
}
