package ledger

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

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
