package ledger

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a message as the caller wrote it.
const (
	MaxMessageBytes = 256 << 10 // what fits the body of one claim
	MaxMessageDepth = 100       // levels of objects and arrays in data or variables: sorting copies each level
)

// Message is what goes to the person, read from the JSON of a claim. Which fields may be set depends on the
// channel: see messageFields.
type Message struct {
	Text     string // sms, email
	From     string // sms: a sender's name or number; email: an address
	Subject  string // email, as are the next four
	HTML     string
	FromName string
	ReplyTo  string
	Headers  map[string]string
	Title    string          // push
	Body     string          // push
	Data     json.RawMessage // push: an object of strings; webhook: any JSON, byte for byte as it was written
	Template *Template       // sms, email, push: instead of the content
}

// Template names a text that is stored at the provider.
type Template struct {
	ID        string
	Variables json.RawMessage // an object, byte for byte; nil when there are none
}

// messageFields are the names that a channel's message may have.
var messageFields = map[Channel][]string{
	SMS:     {"text", "from", "template"},
	Email:   {"subject", "text", "html", "from", "from_name", "reply_to", "headers", "template"},
	Push:    {"title", "body", "data", "template"},
	Webhook: {"data"},
}

// ParseMessage reads a channel's message strictly: unknown, repeated and wrongly cased fields, wrong types,
// NUL, invalid UTF-8 and lone surrogates are refused, and so is what the channel cannot send. All faults come
// at once in an *InvalidError whose fields begin with "message". Data and Variables point into raw.
func ParseMessage(ch Channel, raw []byte) (Message, error) {
	if len(raw) == 0 {
		return Message{}, Invalid("message", "is required")
	}
	if len(raw) > MaxMessageBytes {
		return Message{}, Invalid("message", "must be at most 256 KiB long")
	}
	fields, ok := messageFields[ch]
	if !ok {
		return Message{}, Invalid("channel", "must be sms, email, push or webhook")
	}
	r := messageReader{ch: ch, raw: raw, fields: fields}
	r.dec = readText(raw)
	defer r.dec.end()
	err := r.object("", fields, r.member)
	if err == nil {
		if _, more := r.dec.ReadToken(); more != io.EOF {
			r.fault("", "must not be followed by anything")
		}
	}
	switch {
	case err != nil:
		r.unreadable(err)
	case !r.wrong:
		r.check()
	}
	if r.faults != nil {
		return Message{}, &InvalidError{Fields: r.faults}
	}
	return r.m, nil
}

// messageReader walks the JSON of one message. Faults of meaning are collected; its methods return an error
// only where the text is no JSON, and reading has to end.
type messageReader struct {
	ch     Channel
	raw    []byte
	dec    *textReader
	fields []string
	seen   uint16 // bits by index in fields
	pairs  int    // members of a push's data
	m      Message
	faults []FieldError
	wrong  bool // a value has another type than its field: what it says can't be judged
}

const (
	faultNUL   = "must not contain NUL"
	faultTwice = "must not be there twice"
)

// What an answer says about a message is bounded, whatever the message is.
const (
	maxFaults     = 50
	maxFaultField = 200 // bytes
)

// fault notes what is wrong with a field, given as its path below message; its first fault is enough.
func (r *messageReader) fault(path, detail string) {
	field := "message"
	if path != "" {
		field += "." + path
	}
	if len(field) > maxFaultField {
		field = strings.ToValidUTF8(field[:maxFaultField], "") + "…"
	}
	if len(r.faults) == maxFaults || slices.ContainsFunc(r.faults, func(f FieldError) bool { return f.Field == field }) {
		return
	}
	r.faults = append(r.faults, FieldError{Field: field, Detail: detail})
}

// wrongType notes a value that is no object or no string, and steps over it.
func (r *messageReader) wrongType(path, want string) error {
	r.fault(path, "must be "+want)
	r.wrong = true
	return r.dec.SkipValue()
}

// unreadable notes what ended the reading.
func (r *messageReader) unreadable(err error) {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		r.syntaxFault("", syntax)
		return
	}
	r.fault("", "is not valid JSON")
}

// syntaxFault notes what is wrong with the JSON itself below path, at the innermost value that was open.
func (r *messageReader) syntaxFault(path string, e *jsontext.SyntacticError) {
	for token := range e.JSONPointer.Tokens() {
		if path != "" {
			path += "."
		}
		path += token
	}
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		r.fault(path, faultTwice)
	case e.Err != nil:
		r.fault(path, "is not valid JSON: "+e.Err.Error())
	default:
		r.fault(path, "is not valid JSON")
	}
}
