package providers

import (
	"strings"
	"unicode/utf16"

	"sendonce/ledger"
)

// The alphabets of 3GPP TS 23.038 section 6.2.1: a basic character takes one septet, one of the extension table two. What
// neither has makes the whole text UCS-2.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtension = "\f^{}\\[~]|€"
)

// What one part holds: 140 bytes, of which a part of several gives 6 to the header that joins them (3GPP TS 23.040).
const (
	gsmAlone, gsmPart   = 160, 153 // septets
	ucs2Alone, ucs2Part = 70, 67   // UTF-16 units
)

const (
	gsm7 = "GSM-7"
	ucs2 = "UCS-2"
)

// septets is how many septets a character takes; 0: it is not in the alphabets. ASCII is looked up, since most texts are made of it.
func septets(r rune) int {
	switch {
	case r < 128:
		return int(asciiSeptets[r])
	case strings.ContainsRune(gsmBasic, r):
		return 1
	case strings.ContainsRune(gsmExtension, r):
		return 2
	}
	return 0
}

var asciiSeptets = func() (table [128]uint8) {
	for r := range rune(len(table)) {
		switch {
		case strings.ContainsRune(gsmBasic, r):
			table[r] = 1
		case strings.ContainsRune(gsmExtension, r):
			table[r] = 2
		}
	}
	return table
}()

// isGSM reports whether a text fits the GSM alphabets.
func isGSM(text string) bool {
	for _, r := range text {
		if septets(r) == 0 {
			return false
		}
	}
	return true
}

// segments counts the parts of a text. No part ends within a character, so the escape of the extension table and a pair of
// surrogates stay together.
func segments(text string) ledger.Segments {
	if isGSM(text) {
		return ledger.Segments{Encoding: gsm7, Count: parts(text, septets, gsmAlone, gsmPart)}
	}
	return ledger.Segments{Encoding: ucs2, Count: parts(text, utf16.RuneLen, ucs2Alone, ucs2Part)}
}

// parts fills one part after the other with characters whose size is given.
func parts(text string, size func(rune) int, alone, part int) int {
	total, count, used := 0, 1, 0
	for _, r := range text {
		n := size(r)
		if total += n; used+n > part {
			count, used = count+1, 0
		}
		used += n
	}
	if total <= alone {
		return 1
	}
	return count
}

// textSegments counts the parts of an SMS message; zero where it has no text of its own.
func textSegments(message []byte) ledger.Segments {
	var m textMessage
	if readJSON(message, &m) != nil || m.Text == "" {
		return ledger.Segments{}
	}
	return segments(m.Text)
}
