package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"
)

// maxMarks is how many marks one letter may carry: beyond what any script needs, they climb over the lines above.
const maxMarks = 4

// Clean keeps a text in its cell and in its line, and a terminal from obeying it: what a caller or a provider wrote may stand in
// it. Letters stay; control and format characters, those that turn the order of letters around among them, become a dot.
func Clean(s string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			if marks++; marks > maxMarks {
				return -1
			}
			return r
		}
		marks = 0
		switch {
		case r == '\n' || r == '\t' || r == '\r' || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case steers(r) || r == unicode.ReplacementChar:
			return '·'
		}
		return r
	}, s)
}

// steers reports whether a character has an effect on a terminal in place of a shape.
func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs)
}

// EscapeJSON is the same JSON with the characters that steer a terminal written by their number. Outside of its texts JSON has none but
// line breaks, which stay.
func EscapeJSON(text []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || !steers(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// Width is how many columns a text takes: a Chinese letter takes two, an accent none.
func Width(s string) int { return uniseg.StringWidth(s) }

// Cut makes a text at most so wide; what is left out shows as an ellipsis.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	var kept strings.Builder
	for left, state := width-1, -1; left > 0; {
		var letter string
		var wide int
		letter, s, wide, state = uniseg.FirstGraphemeClusterInString(s, state)
		if left -= wide; left < 0 {
			break
		}
		kept.WriteString(letter)
	}
	return kept.String() + "…"
}

// anchored ends a text that has letters which run from right to left with a mark that nobody sees: without it a terminal that
// orders letters would carry the next cells along.
func anchored(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam)
	}) {
		return s + "\u200e"
	}
	return s
}

// Wrap breaks a text of words into lines that fit the screen; those after the first begin with so many blanks.
func (s *Screen) Wrap(text string, indent int) string {
	room := s.Columns() - indent
	if room < 2*narrow {
		return text
	}
	var b strings.Builder
	left := room
	for i, word := range strings.Split(text, " ") {
		wide := Width(word)
		switch {
		case i == 0:
		case wide+1 > left:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			left = room
		default:
			b.WriteByte(' ')
			left--
		}
		b.WriteString(word)
		left -= wide
	}
	return b.String()
}
