package providers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sendonce/ledger"
)

// textMessage is the message of an SMS.
type textMessage struct {
	Text     string          `json:"text"`
	From     string          `json:"from"`
	Template json.RawMessage `json:"template"`
}

// errMessage is a stored message that no adapter can read. Its text shows nothing of it.
var errMessage = errors.New("the message is not in the form of its channel")

// readText reads the message of an SMS and refuses what a provider without templates cannot send: no text, or
// more than limit code points.
func readText(message []byte, limit int) (textMessage, error) {
	var m textMessage
	if err := readJSON(message, &m); err != nil {
		return m, ledger.Invalid("message", "must be an object such as {\"text\": \"…\"}")
	}
	switch n := utf8.RuneCountInString(m.Text); {
	case given(m.Template):
		return m, ledger.Invalid("message.template", "this provider has no templates: give text")
	case strings.TrimSpace(m.Text) == "":
		return m, ledger.Invalid("message.text", "must not be empty")
	case n > limit:
		return m, ledger.Invalid("message.text", "has %d characters, the provider takes %d", n, limit)
	}
	return m, nil
}

// readJSON reads a message or a setting, as leniently as encoding/json does and in a third of its time.
func readJSON(b []byte, to any) error {
	return jsonv2.Unmarshal(b, to, lenient)
}

var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsonv2.MatchCaseInsensitiveNames(true))

// given reports whether a JSON value is there and not null.
func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// canonicalJSON writes v without blanks and HTML escapes, and with a newline at the end. Fields of v stand in
// the order of their names.
func canonicalJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	return b.Bytes(), nil
}

// printable makes text safe for a terminal: new lines are indented, other control characters become blanks, so
// that no message can draw over what stands around it.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control)) {
			return ' '
		}
		return r
	}, strings.TrimRight(s, "\n"))
	return strings.ReplaceAll(s, "\n", "\n        ")
}
