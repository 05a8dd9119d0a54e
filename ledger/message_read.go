package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object reads an object and hands each name to member, which reads the value. fields are the names that are
// likely: they are not copied.
func (r *messageReader) object(path string, fields []string, member func(name string) error) error {
	if r.dec.PeekKind() != '{' {
		return r.wrongType(path, "an object")
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() == '"' {
		quoted, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := member(unquoteName(fields, quoted)); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken() // the closing brace, or the error that PeekKind met
	return err
}

func unquoteName(fields []string, quoted []byte) string {
	plain := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(plain, '\\') >= 0 {
		plain, _ = jsontext.AppendUnquote(nil, quoted) // the decoder has read it already
	}
	for _, f := range fields {
		if f == string(plain) {
			return f
		}
	}
	return string(plain)
}

func (r *messageReader) member(name string) error {
	i := slices.Index(r.fields, name)
	if i < 0 {
		r.unknown(name, name, r.fields)
		return r.dec.SkipValue()
	}
	if r.seen&(1<<i) != 0 {
		r.fault(name, faultTwice)
	}
	r.seen |= 1 << i
	switch name {
	case "text":
		return r.text("", name, &r.m.Text)
	case "from":
		return r.text("", name, &r.m.From)
	case "subject":
		return r.text("", name, &r.m.Subject)
	case "html":
		return r.text("", name, &r.m.HTML)
	case "from_name":
		return r.text("", name, &r.m.FromName)
	case "reply_to":
		return r.text("", name, &r.m.ReplyTo)
	case "title":
		return r.text("", name, &r.m.Title)
	case "body":
		return r.text("", name, &r.m.Body)
	case "headers":
		return r.headers()
	case "template":
		return r.template()
	}
	return r.data() // the one that is left
}

// unknown notes a name that the object at hand may not have.
func (r *messageReader) unknown(path, name string, fields []string) {
	for _, f := range fields {
		if strings.EqualFold(f, name) {
			r.fault(path, "is not a field; its name is "+f)
			return
		}
	}
	r.fault(path, "is not a field of a message for "+string(r.ch)+": "+strings.Join(fields, ", "))
}

// text reads the string of a member. The path of its object is put before the name only where there is a fault.
func (r *messageReader) text(object, name string, to *string) error {
	if r.dec.PeekKind() != '"' {
		return r.wrongType(object+name, "a string")
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		return err
	}
	*to = token.String()
	if strings.IndexByte(*to, 0) >= 0 {
		r.fault(object+name, faultNUL)
	}
	return nil
}

// headers reads an object of strings.
func (r *messageReader) headers() error {
	r.m.Headers = map[string]string{}
	return r.object("headers", nil, func(name string) error {
		var value string
		if _, twice := r.m.Headers[name]; twice {
			r.fault("headers."+name, faultTwice)
		}
		err := r.text("headers.", name, &value)
		r.m.Headers[name] = value
		return err
	})
}

// value reads any JSON and returns it as it was written.
func (r *messageReader) value(path string) (json.RawMessage, error) {
	v, err := r.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(r.dec.InputOffset())
	written := r.raw[end-len(v) : end : end]
	if escapesNUL(written) {
		r.fault(path, faultNUL)
	}
	if nesting(written) > MaxMessageDepth {
		r.fault(path, "must not be nested deeper than 100 levels")
	}
	if !v.IsValid() { // it has repeated names: find out where
		var syntax *jsontext.SyntacticError
		if errors.As(jsontext.NewDecoder(bytes.NewBuffer(written)).SkipValue(), &syntax) {
			r.syntaxFault(path, syntax)
		}
	}
	return json.RawMessage(written), nil
}

// data reads what a webhook passes on, or the strings of a push.
func (r *messageReader) data() (err error) {
	if r.m.Data, err = r.value("data"); err != nil || r.ch == Webhook {
		return err
	}
	inner := messageReader{ch: r.ch, dec: readText(r.m.Data)}
	defer inner.dec.end()
	err = inner.object("data", nil, func(name string) error {
		var value string
		r.pairs++
		return inner.text("data.", name, &value)
	})
	r.faults = append(r.faults, inner.faults...)
	r.wrong = r.wrong || inner.wrong
	return err
}

// template reads {"id", "variables"}.
func (r *messageReader) template() error {
	t := &Template{}
	r.m.Template = t
	seen := map[string]bool{}
	return r.object("template", []string{"id", "variables"}, func(name string) (err error) {
		path := "template." + name
		if seen[name] {
			r.fault(path, faultTwice)
		}
		seen[name] = true
		switch name {
		case "id":
			return r.text("template.", name, &t.ID)
		case "variables":
			if r.dec.PeekKind() != '{' {
				return r.wrongType(path, "an object")
			}
			t.Variables, err = r.value(path)
			return err
		}
		r.unknown(path, name, []string{"id", "variables"})
		return r.dec.SkipValue()
	})
}

// escapesNUL reports whether JSON text has the escape of NUL in one of its strings.
func escapesNUL(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return false
		}
		if bytes.HasPrefix(b[i:], []byte(`\u0000`)) {
			return true
		}
		b = b[min(i+2, len(b)):]
	}
}

// nesting counts the levels of objects and arrays in valid JSON text.
func nesting(b []byte) int {
	depth, deepest := 0, 0
	inString := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++ // the escaped character is no delimiter
		case !inString && (c == '{' || c == '['):
			depth++
			deepest = max(deepest, depth)
		case !inString && (c == '}' || c == ']'):
			depth--
		}
	}
	return deepest
}
