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

// brief is the begin of a text.
func brief(s string) string {
	f := fold(s)
	if f.Rest != "" {
		return f.Start + "…"
	}
	return f.Start
}

// part is a part of a sentence of ours.
type part struct {
	Text string
	Code bool
}

// marked divides a sentence at the backticks that stand around code in it. One that has no other is a character like any.
func marked(s string) []part {
	words := strings.Split(s, "`")
	if len(words)%2 == 0 {
		return []part{{Text: s}}
	}
	var out []part
	for i, w := range words {
		if w != "" {
			out = append(out, part{w, i%2 == 1})
		}
	}
	return out
}

// many is a number of things: "1 row", "2 rows".
func many(n any, thing string) string {
	if text := fmt.Sprint(n); text != "1" {
		thing += "s"
	}
	return count(n) + " " + thing
}
