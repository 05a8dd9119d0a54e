package ledger

import (
	"unicode"
	"unicode/utf8"
)

// The classes of characters that the rules of keys, recipients and messages speak of.

// plainASCII reports whether s has nothing but printable ASCII: the quick way past every rule below.
func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// hasControl reports whether s has a control character (category Cc: NUL, line breaks, tabs, 0x7F, 0x80 to 0x9F).
func hasControl(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}

// hasLineBreak reports whether s has what a mail header must not: control characters and the line and
// paragraph separators of Unicode.
func hasLineBreak(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return true
		}
	}
	return false
}

// hasInvisible reports whether s has a character that nobody sees: controls, bidirectional and other format
// marks, joiners, variation selectors, fillers. Two recipients that look the same would differ by them.
func hasInvisible(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f {
			return true
		}
		if r < 0x80 {
			continue
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return true
		}
	}
	return false
}

// isBlank reports whether s is nothing but white space; the empty string is.
func isBlank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

// longer reports whether s has more than max code points.
func longer(s string, max int) bool {
	return len(s) > max && utf8.RuneCountInString(s) > max
}

// only reports whether every byte of s is one that ok accepts.
func only(s string, ok func(byte) bool) bool {
	for i := 0; i < len(s); i++ {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}
