package providers

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sendonce/ledger"
)

// F23: parts are counted as networks count them: extended GSM characters take two septets, characters outside the BMP two units.
func TestSegments_F23(t *testing.T) {
	a, zh := strings.Repeat("a", 152), strings.Repeat("ж", 66)
	for text, want := range map[string]ledger.Segments{
		"":                             {Encoding: gsm7, Count: 1},
		"Your code 123":                {Encoding: gsm7, Count: 1},
		"Grüße €[]{}":                  {Encoding: gsm7, Count: 1},
		"Привет":                       {Encoding: ucs2, Count: 1},
		"👍":                            {Encoding: ucs2, Count: 1},
		strings.Repeat("a", 160):       {Encoding: gsm7, Count: 1},
		strings.Repeat("a", 161):       {Encoding: gsm7, Count: 2},
		strings.Repeat("a", 159) + "€": {Encoding: gsm7, Count: 2},
		strings.Repeat("a", 158) + "€": {Encoding: gsm7, Count: 1},
		strings.Repeat("€", 80):        {Encoding: gsm7, Count: 1},
		strings.Repeat("€", 81):        {Encoding: gsm7, Count: 2},
		strings.Repeat("a", 306):       {Encoding: gsm7, Count: 2},
		strings.Repeat("a", 307):       {Encoding: gsm7, Count: 3},
		a + "€" + a:                    {Encoding: gsm7, Count: 3}, // 306 septets, but the € fits neither the first part's last one nor leaves room in the second
		strings.Repeat("ж", 70):        {Encoding: ucs2, Count: 1},
		strings.Repeat("ж", 71):        {Encoding: ucs2, Count: 2},
		strings.Repeat("ж", 69) + "👍":  {Encoding: ucs2, Count: 2},
		strings.Repeat("ж", 68) + "👍":  {Encoding: ucs2, Count: 1},
		strings.Repeat("ж", 134):       {Encoding: ucs2, Count: 2},
		strings.Repeat("ж", 135):       {Encoding: ucs2, Count: 3},
		zh + "👍" + zh:                  {Encoding: ucs2, Count: 3}, // 134 units, but no part ends within a pair
		strings.Repeat("a", 69) + "“”": {Encoding: ucs2, Count: 2},
		"ten\u00a0€":                   {Encoding: ucs2, Count: 1}, // a no-break space
		"ça va":                        {Encoding: ucs2, Count: 1}, // the alphabet has Ç only
		"\t":                           {Encoding: ucs2, Count: 1},
		"`":                            {Encoding: ucs2, Count: 1},
		"a\r\n\f^{}\\[~]|":             {Encoding: gsm7, Count: 1},
	} {
		if got := segments(text); got != want {
			t.Errorf("%.40q of %d characters: %+v, want %+v", text, utf8.RuneCountInString(text), got, want)
		}
	}
}

// The alphabet of 3GPP TS 23.038 has 128 positions, one of them the escape to ten further characters.
func TestSegments_AlphabetIsComplete(t *testing.T) {
	basic, extended := 0, 0
	seen := map[rune]bool{}
	for _, r := range gsmBasic + gsmExtension {
		if seen[r] {
			t.Errorf("%q stands twice", r)
		}
		seen[r] = true
		switch septets(r) {
		case 1:
			basic++
		case 2:
			extended++
		}
	}
	if basic != 127 || extended != 10 {
		t.Errorf("%d basic and %d extended characters, want 127 and 10", basic, extended)
	}
}

func FuzzSegments(f *testing.F) {
	for _, s := range []string{"", "a", "€", "ж", "👍", "\xff", strings.Repeat("a", 161), strings.Repeat("ж", 71)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := segments(s)
		least, most := 1, 1+utf8.RuneCountInString(s)/33 // a part of 67 units holds at least 33 characters
		if got.Count < least || got.Count > most || (got.Encoding == gsm7) != isGSM(s) {
			t.Errorf("%q: %+v", s, got)
		}
	})
}
