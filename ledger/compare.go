package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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

// appendCanonical appends one JSON value in a form that only its value decides: no white space, members sorted
// by name, strings with the fewest escapes, numbers as number writes them. It reports false for what is no JSON.
func appendCanonical(dst, raw []byte, number func(dst, written []byte) []byte) ([]byte, bool) {
	c := canonical{dec: readText(raw), number: number}
	defer c.dec.end()
	dst, err := c.value(dst)
	if err != nil {
		return dst, false
	}
	_, err = c.dec.ReadToken()
	return dst, errors.Is(err, io.EOF)
}

// canonical walks one JSON value, and finds repeated names itself. RFC 8785 is no help here: it rounds numbers to 64-bit floats.
type canonical struct {
	dec    *textReader
	number func(dst, written []byte) []byte
}

func (c *canonical) value(dst []byte) ([]byte, error) {
	switch c.dec.PeekKind() {
	case '{':
		return c.object(dst)
	case '[':
		return c.array(dst)
	case '0':
		v, err := c.dec.ReadValue()
		return c.number(dst, v), err
	case '"':
		v, err := c.dec.ReadValue()
		if err != nil {
			return dst, err
		}
		return appendString(dst, v)
	}
	v, err := c.dec.ReadValue()
	return append(dst, v...), err
}

func (c *canonical) array(dst []byte) ([]byte, error) {
	if _, err := c.dec.ReadToken(); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	for k := c.dec.PeekKind(); k != ']' && k != 0; k = c.dec.PeekKind() {
		var err error
		if dst, err = c.value(dst); err != nil {
			return dst, err
		}
		dst = append(dst, ',')
	}
	_, err := c.dec.ReadToken()
	return append(dst, ']'), err
}

// object appends the members in the order in which they stand, then sorts what it appended if that is needed.
func (c *canonical) object(dst []byte) ([]byte, error) {
	if _, err := c.dec.ReadToken(); err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	var space [8]member
	members := space[:0]
	for c.dec.PeekKind() == '"' {
		m := member{start: len(dst)}
		name, err := c.dec.ReadValue()
		if err != nil {
			return dst, err
		}
		if dst, err = appendString(dst, name); err != nil {
			return dst, err
		}
		m.nameEnd = len(dst)
		dst = append(dst, ':')
		if dst, err = c.value(dst); err != nil {
			return dst, err
		}
		dst = append(dst, ',')
		m.end = len(dst)
		members = append(members, m)
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return dst, err
	}
	err := sortMembers(dst, members)
	return append(dst, '}'), err
}

// member is where one member stands in the canonical text.
type member struct{ start, nameEnd, end int }

func (m member) name(b []byte) []byte { return b[m.start:m.nameEnd] }

// sortMembers puts members, which stand side by side in b, into the order of their names.
func sortMembers(b []byte, members []member) error {
	sorted := true
	for i := 1; i < len(members); i++ {
		sorted = sorted && bytes.Compare(members[i-1].name(b), members[i].name(b)) < 0
	}
	if sorted {
		return nil
	}
	start, end := members[0].start, members[len(members)-1].end
	from := bytes.Clone(b[start:end])
	slices.SortFunc(members, func(x, y member) int { return bytes.Compare(x.name(b), y.name(b)) })
	for i := 1; i < len(members); i++ {
		if bytes.Equal(members[i-1].name(b), members[i].name(b)) {
			return jsontext.ErrDuplicateName
		}
	}
	to := b[start:start]
	for _, m := range members {
		to = append(to, from[m.start-start:m.end-start]...)
	}
	return nil
}

// appendString appends a JSON string with the fewest escapes. What has none is in that form already.
func appendString(dst, quoted []byte) ([]byte, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(dst, quoted...), nil
	}
	plain, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return dst, err
	}
	return jsontext.AppendQuote(dst, plain)
}

func numberAsWritten(dst, written []byte) []byte { return append(dst, written...) }

// numberByValue appends a number as sign, digits without outer zeros, and a power of ten: 1.10 and 11e-1 are
// both 11e-1. Zero is 0, whatever its sign and exponent.
func numberByValue(dst, written []byte) []byte {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(written)), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return append(dst, '0')
	}
	power := new(big.Int)
	if exponent != "" {
		power.SetString(strings.TrimPrefix(exponent, "+"), 10)
	}
	power.Sub(power, big.NewInt(int64(len(fraction))))
	short := strings.TrimRight(digits, "0")
	power.Add(power, big.NewInt(int64(len(digits)-len(short))))

	if negative {
		dst = append(dst, '-')
	}
	dst = append(dst, short...)
	dst = append(dst, 'e')
	return power.Append(dst, 10)
}
