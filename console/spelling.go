package console

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how many times over a text may be encoded: each layer is one pass over it.
const maxDepth = 8

// maxEntity is how long a character reference may be, in bytes; the longest name has 33.
const maxEntity = 36

var reference = regexp.MustCompile(`^&#?[0-9A-Za-z]+;`)

// spelling is a way to read a text. Each of its bytes knows the stretch of the text that it came from, so that what is found in
// it can be cut out of the text itself.
type spelling struct {
	text     []byte
	from, to []int // by byte of the spelling: bytes of the text
}

// put adds what the bytes from i to j of another spelling mean.
func (s *spelling) put(of spelling, i, j int, meaning string) {
	s.text = append(s.text, meaning...)
	for range len(meaning) {
		s.from, s.to = append(s.from, of.from[i]), append(s.to, of.to[j-1])
	}
}

// layers gives each way to read a text: as it stands, then with one more layer of escapes undone. It reports whether there are
// more than maxDepth.
func layers(text string, each func(spelling)) (deep bool) {
	s := spelling{text: []byte(text), from: make([]int, len(text)), to: make([]int, len(text))}
	for i := range s.text {
		s.from[i], s.to[i] = i, i+1
	}
	for range maxDepth + 1 {
		each(s)
		next := s.unescaped()
		if len(next.text) == len(s.text) {
			return false
		}
		s = next
	}
	return true
}

// unescaped undoes one layer of escapes: each is longer than what it means.
func (s spelling) unescaped() spelling {
	n := len(s.text)
	out := spelling{text: make([]byte, 0, n), from: make([]int, 0, n), to: make([]int, 0, n)}
	for i := 0; i < n; {
		size, meaning := readEscape(s.text[i:])
		if size == 0 {
			size, meaning = 1, string(s.text[i:i+1])
		}
		out.put(s, i, i+size, meaning)
		i += size
	}
	return out
}

// readEscape reads the escape at the begin of a text, of JSON, of HTML or of a URL. Size 0: there is none.
func readEscape(s []byte) (size int, meaning string) {
	if len(s) < 2 {
		return 0, ""
	}
	switch s[0] {
	case '%':
		if b, ok := hexNumber(s, 1, 2); ok {
			return 3, string([]byte{byte(b)})
		}
	case '\\':
		return backslashed(s)
	case '&':
		return entity(s)
	}
	return 0, ""
}

// backslashed reads an escape of JSON or JavaScript. Those of line breaks and tabs stay: folded text has them so.
func backslashed(s []byte) (size int, meaning string) {
	switch c := s[1]; {
	case c == 'u':
		r, ok := hexNumber(s, 2, 4)
		if !ok {
			return 0, ""
		}
		if utf16.IsSurrogate(r) && len(s) > 7 && s[6] == '\\' && s[7] == 'u' {
			if low, ok := hexNumber(s, 8, 4); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				return 12, string(utf16.DecodeRune(r, low))
			}
		}
		return 6, string(r)
	case c == 'x':
		if r, ok := hexNumber(s, 2, 2); ok {
			return 4, string(r)
		}
	case strings.IndexByte(`"'/\`, c) >= 0: // no other: it may stand before what a further layer makes a u
		return 2, string(s[1:2])
	}
	return 0, ""
}

// entity reads a character reference of HTML. Without its semicolon it is none: one may come out of a further layer.
func entity(s []byte) (size int, meaning string) {
	written := string(reference.Find(s[:min(len(s), maxEntity)]))
	meaning = html.UnescapeString(written)
	if len(meaning) >= len(written) || strings.HasSuffix(meaning, ";") && len(meaning) > 1 { // no name, or one that only begins with a name
		return 0, ""
	}
	return len(written), meaning
}

// hexNumber reads a number of so many hex digits.
func hexNumber(s []byte, at, digits int) (rune, bool) {
	if len(s) < at+digits || s[at] == '+' || s[at] == '-' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[at:at+digits]), 16, 32)
	return rune(n), err == nil
}

// folded is the spelling with differences taken out that mean nothing to a reader: case, width, kinds of blanks (and + for one, as
// in forms), invisible characters. Line breaks and tabs are as in JSON.
func (s spelling) folded() spelling {
	n := len(s.text)
	out := spelling{text: make([]byte, 0, n), from: make([]int, 0, n), to: make([]int, 0, n)}
	for i := 0; i < n; {
		r, size := utf8.DecodeRune(s.text[i:])
		if r == utf8.RuneError && size == 1 {
			out.put(s, i, i+1, string(s.text[i:i+1]))
		} else {
			out.put(s, i, i+size, foldRune(r))
		}
		i += size
	}
	return out
}

// foldRune folds one character.
func foldRune(r rune) string {
	if '\uff01' <= r && r <= '\uff5e' {
		r -= '\uff01' - '!'
	}
	if i := strings.IndexRune("\b\f\n\r\t", r); i >= 0 {
		return `\` + "bfnrt"[i:i+1]
	}
	switch {
	case r == '+' || unicode.IsSpace(r):
		return " "
	case unicode.Is(unicode.Cf, r):
		return ""
	}
	return string(unicode.ToLower(unicode.ToUpper(r)))
}

// digitsOf is a folded text as a phone would read it: its digits, with a bar where something other than separators stands between
// them, and the place of each.
func digitsOf(folded []byte) (digits string, places []int) {
	var b bytes.Buffer
	for i := 0; i < len(folded); {
		r, size := utf8.DecodeRune(folded[i:])
		switch {
		case '0' <= r && r <= '9':
			b.WriteRune(r)
			places = append(places, i)
		case strings.ContainsRune(" .-()[]/_·", r) || unicode.Is(unicode.Pd, r):
		default:
			b.WriteByte('|')
			places = append(places, i)
		}
		i += size
	}
	return b.String(), places
}
