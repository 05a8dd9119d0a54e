package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// foldAt is how many characters of a text stand there before the rest is folded away.
const foldAt = 240

// visible shows what a caller sent as the characters that it is made of: those that steer a terminal or turn the direction of
// writing stand there by their number, and bytes that are no UTF-8 as U+FFFD.
func visible(s string) string {
	if !strings.ContainsFunc(s, steers) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if steers(r) {
			fmt.Fprintf(&b, "‹U+%04X›", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// steers reports whether a character has an effect instead of a shape. A line break and a tab have one that a page may show, and
// the joiners between emoji and letters are part of their shape.
func steers(r rune) bool {
	if r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d' {
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == '\u115f' || r == '\u1160' || r == '\u3164'
}

// folded is a text in two parts, of which the second is shown on demand.
type folded struct {
	Start string
	Rest  string
	More  int // characters of Rest
}

// fold makes a text fit: at most foldAt characters at once.
func fold(s string) folded {
	if len(s) <= foldAt {
		return folded{Start: visible(s)}
	}
	n := 0
	for i := range s {
		if n == foldAt {
			return folded{visible(s[:i]), visible(s[i:]), utf8.RuneCountInString(s[i:])}
		}
		n++
	}
	return folded{Start: visible(s)}
}
