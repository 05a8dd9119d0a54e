package api

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sendonce/ledger"
)

// MaxDepth is how deep objects and arrays of a body may nest, the body itself included.
const MaxDepth = 64

// wholeBody is the field of an error that is about no single field.
const wholeBody = "body"

// decode reads one JSON object into a request type. Two readers of the same bytes must never see different
// requests, so names match exactly and stand once, text is UTF-8 without lone surrogates and without NUL, and
// nothing follows the object. Raw members keep every byte. The error is an *ledger.InvalidError; into must not
// be used then, and it shares no memory with body.
func decode(body []byte, into any) error {
	if err := startsObject(body); err != nil {
		return err
	}
	if err := bounded(body); err != nil {
		return err
	}
	return decodeError(json.Unmarshal(body, into, json.RejectUnknownMembers(true)))
}

// startsObject refuses what the decoder would let pass or not name well: null and all else but an object.
func startsObject(body []byte) error {
	if start := bytes.TrimLeft(body, " \t\r\n"); len(start) == 0 || start[0] != '{' {
		return ledger.Invalid(wholeBody, "must be a JSON object")
	}
	return nil
}

// bounded refuses too deep nesting and NUL. Its walk is only made where the bytes leave them possible.
func bounded(body []byte) error {
	deep := bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > MaxDepth
	if deep || bytes.Contains(body, []byte(`\u0000`)) {
		return walk(body)
	}
	return nil
}

// walk looks at each token for depth and NUL. Faults of syntax are left to the decoder.
func walk(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return nil
		}
		if d.StackDepth() > MaxDepth {
			return ledger.Invalid(fieldOf(d.StackPointer()), "must nest at most %d objects and arrays", MaxDepth)
		}
		if t.Kind() == '"' && strings.ContainsRune(t.String(), 0) {
			return ledger.Invalid(fieldOf(d.StackPointer()), "must not contain NUL")
		}
	}
}

// decodeError says what is wrong with a body in the words of the API. Nothing of a value enters the text.
func decodeError(err error) error {
	if err == nil {
		return nil
	}
	var (
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case errors.As(err, &syntactic):
		return ledger.Invalid(fieldOf(syntactic.JSONPointer), "%s", syntaxDetail(syntactic))
	case errors.As(err, &semantic) && errors.Is(semantic.Err, json.ErrUnknownName):
		return ledger.Invalid(fieldOf(semantic.JSONPointer), "is no field here; %s", hint(semantic.JSONPointer.LastToken(), fieldsOf(semantic.GoType)))
	case errors.As(err, &semantic):
		return ledger.Invalid(fieldOf(semantic.JSONPointer), "must be %s", kindName(semantic.GoType))
	}
	return fmt.Errorf("decode a body: %w", err)
}

// syntaxDetail names the fault; the library has no values to branch on for the two about text.
func syntaxDetail(e *jsontext.SyntacticError) string {
	switch text := e.Err.Error(); {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		return "must stand once"
	case strings.Contains(text, "invalid UTF-8"):
		return "must be valid UTF-8"
	case strings.Contains(text, "surrogate"):
		return "must not contain a lone surrogate"
	case strings.Contains(text, "non-control character"):
		return "must not contain raw control characters"
	case strings.Contains(text, "after top-level value"):
		return fmt.Sprintf("must end with its object; something follows at byte %d", e.ByteOffset)
	}
	return fmt.Sprintf("must be JSON; it is not at byte %d", e.ByteOffset)
}

// fieldOf turns a JSON pointer into the dotted path of an answer: notifications[3].message.text.
func fieldOf(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if token != "" && strings.Trim(token, "0123456789") == "" {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(or(nameText(token), `""`))
	}
	if b.Len() == 0 {
		return wholeBody
	}
	return b.String()
}

// nameText is a name that a caller made up, as an answer may repeat it: not long, and nothing in it that moves
// the cursor of a terminal.
func nameText(name string) string {
	const longest = 80
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(name[:min(len(name), longest)], ""))
}

// hint says which field an unknown name may have meant.
func hint(name string, fields []string) string {
	for _, f := range fields {
		if strings.EqualFold(f, name) {
			return "its name is " + f
		}
	}
	return "the fields are " + strings.Join(fields, ", ")
}

// fieldsOf lists the fields of a request type.
func fieldsOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// kindName is what a Go type is called in JSON.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a string"
}
