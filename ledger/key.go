package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// RecipeGiven is the recipe of rows whose key the caller brought; no recipe of a configuration may have this name.
const RecipeGiven = "given"

// Limits of a recipe.
const (
	MaxRecipeName      = 40 // bytes
	MaxRecipeSeparator = 16 // bytes
	ShortKey           = 40 // hex digits: 160 bits
	LongKey            = 64 // hex digits: all of SHA-256
)

// RecipeEvent is the default recipe: 40 hex digits over source, event, channel and recipient, joined by NUL.
func RecipeEvent() Recipe {
	return Recipe{Name: "event", Fields: []string{"source", "event_id", "channel", "recipient"}, Separator: "\x00", Length: ShortKey}
}

// RecipeTypeUserEvent is the second shipped recipe: all 64 hex digits over event_type:user_id:event_id.
func RecipeTypeUserEvent() Recipe {
	return Recipe{Name: "type-user-event", Fields: []string{"event_type", "user_id", "event_id"}, Separator: ":", Length: LongKey}
}

// recipeField returns the value of a field that may enter a key. recipient is the form that enters it.
func recipeField(e *Event, name, recipient string) (value string, known bool) {
	switch name {
	case "event_id":
		return e.EventID, true
	case "event_type":
		return e.EventType, true
	case "source":
		return e.Source, true
	case "user_id":
		return e.UserID, true
	case "channel":
		return string(e.Channel), true
	case "recipient":
		return recipient, true
	}
	return "", false
}

// Validate names every fault of a recipe by the setting's own name.
//
// event_id must be among the fields: two events under one key would make the second a misuse of the first.
// The shipped names belong to the shipped recipes, since a row remembers its recipe by name only.
func (r Recipe) Validate() []FieldError {
	var faults []FieldError
	fault := func(field, detail string) { faults = append(faults, FieldError{Field: field, Detail: detail}) }

	if r.Name == "" || len(r.Name) > MaxRecipeName || !only(r.Name, isRecipeNameByte) {
		fault("name", "must be 1 to 40 of a-z, 0-9, _ and -")
	}
	if r.Name == RecipeGiven {
		fault("name", `"given" is the name for keys that callers bring`)
	}
	for _, shipped := range []Recipe{RecipeEvent(), RecipeTypeUserEvent()} {
		if r.Name == shipped.Name && !r.equal(shipped) {
			fault("name", "belongs to the shipped recipe; a recipe of your own needs another name")
		}
	}

	seen := map[string]bool{}
	for _, f := range r.Fields {
		if _, known := recipeField(&Event{}, f, ""); !known {
			fault("fields", strconv.Quote(f)+" is not one of event_id, event_type, source, user_id, channel, recipient")
		}
		if seen[f] {
			fault("fields", strconv.Quote(f)+" stands there twice")
		}
		seen[f] = true
	}
	if !seen["event_id"] {
		fault("fields", "must have event_id, or two events would share a key")
	}

	switch {
	case r.Separator == "":
		fault("separator", "must be one or more characters")
	case len(r.Separator) > MaxRecipeSeparator:
		fault("separator", "must be at most 16 bytes long")
	case !utf8.ValidString(r.Separator):
		fault("separator", "must be valid UTF-8")
	}
	if r.Length != ShortKey && r.Length != LongKey {
		fault("length", "must be 40 or 64")
	}
	return faults
}

func isRecipeNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func (r Recipe) equal(o Recipe) bool {
	if r.Name != o.Name || r.Separator != o.Separator || r.Length != o.Length || len(r.Fields) != len(o.Fields) {
		return false
	}
	for i, f := range r.Fields {
		if f != o.Fields[i] {
			return false
		}
	}
	return true
}

// Key makes the event's dedupe key and shows the parts that entered it, in their order. recipient is the form
// that RecipientKey gives. An empty source is left out; every other part must be there. The error is an
// *InvalidError that names each part which is missing or refused.
//
// Different parts never give the same joined text: a part holds no control character, and no separator can be
// read in it but the one that follows.
func (r Recipe) Key(e *Event, recipient string) (key string, parts []KeyPart, err error) {
	parts = make([]KeyPart, 0, len(r.Fields))
	if key, err = r.join(e, recipient, &parts); err != nil {
		return "", nil, err
	}
	return key, parts, nil
}

// join makes a key; parts is nil where nobody wants to see them.
func (r Recipe) join(e *Event, recipient string, parts *[]KeyPart) (string, error) {
	var space [512]byte
	joined := space[:0]
	var faults []FieldError
	first := true
	for _, name := range r.Fields {
		value, _ := recipeField(e, name, recipient)
		if value == "" && name == "source" {
			continue
		}
		if detail := r.refuses(value); detail != "" {
			faults = append(faults, FieldError{Field: name, Detail: detail})
			continue
		}
		if !first {
			joined = append(joined, r.Separator...)
		}
		first = false
		joined = append(joined, value...)
		if parts != nil {
			*parts = append(*parts, KeyPart{Name: name, Value: value})
		}
	}
	if faults != nil {
		return "", &InvalidError{Fields: faults}
	}
	return hexSum(joined, r.Length), nil
}

// refuses says why a part may not enter a key; "" lets it in.
func (r Recipe) refuses(part string) string {
	switch {
	case part == "":
		return "must not be empty: the key recipe " + r.Name + " needs it"
	case !plainASCII(part) && !utf8.ValidString(part):
		return "must be valid UTF-8"
	case !plainASCII(part) && hasControl(part):
		return "must not contain control characters"
	case r.splits(part):
		return "must not contain " + strconv.Quote(r.Separator) + ", the separator of the key recipe " + r.Name
	}
	return ""
}

// splits reports whether somebody who cuts the joined text at its separators, from the left, would cut this
// part elsewhere than at its end. A separator such as "::" is also met by a part that ends in ":".
func (r Recipe) splits(part string) bool {
	if len(r.Separator) == 1 {
		return strings.Contains(part, r.Separator)
	}
	return strings.Index(part+r.Separator, r.Separator) != len(part)
}

// SourceInKey reports whether the event's source entered the key, so that the key may go to a provider as it is.
func (r Recipe) SourceInKey(e *Event) bool {
	if e.Source == "" {
		return false
	}
	for _, f := range r.Fields {
		if f == "source" {
			return true
		}
	}
	return false
}

// WireKey is the key that a provider gets. Several sources may share one provider account, so a key that does
// not have its source inside goes out as a hash over both.
func WireKey(source, key string, sourceInKey bool) string {
	if source == "" || sourceInKey {
		return key
	}
	return hexSum([]byte(source+"\x00"+key), ShortKey)
}

// ResendKey is the key of the n-th resend of a row, counted from 1.
func ResendKey(parentKey string, n int) string {
	return hexSum([]byte(parentKey+"\x00resend\x00"+strconv.Itoa(n)), ShortKey)
}

// hexSum returns the first digits of the lower-case hex SHA-256 of b.
func hexSum(b []byte, digits int) string {
	sum := sha256.Sum256(b)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:digits])
}
