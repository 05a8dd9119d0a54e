package ledger

import (
	"strings"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
)

// Reading is one thing that a text in a search box may mean: a row's id, or a filter that has an index.
type Reading struct {
	As     string    // id, dedupe_key, message_id, event_id or recipient
	Text   string    // in the form that is looked for
	ID     uuid.UUID // with As id
	Filter Filter    // else
}

// Understand returns what somebody who searches may mean, the narrowest meaning first: an id or a reference, a key, a message id,
// an event id, and a recipient in whatever form people write them. Every reading is answered by an index. A region reads phone
// numbers without country code; where there is none they are taken to begin with it.
func (l *Ledger) Understand(text string) []Reading {
	return understand(text, l.settings.Channels[SMS].Region)
}

func understand(text, region string) []Reading {
	text = strings.TrimFunc(strings.Map(dropInvisible, strings.ToValidUTF8(text, "")), unicode.IsSpace)
	if text == "" || longer(text, MaxRecipient) {
		return nil
	}
	var out []Reading
	if id, ok := idIn(text); ok {
		out = append(out, Reading{As: "id", Text: id.String(), ID: id})
	}
	add := func(as, form string, f Filter) { out = append(out, Reading{As: as, Text: form, Filter: f}) }
	if len(text) <= MaxDedupeKey && only(text, func(c byte) bool { return 0x21 <= c && c <= 0x7E }) {
		add("dedupe_key", text, Filter{DedupeKey: text})
		if low := strings.ToLower(text); low != text && (len(low) == ShortKey || len(low) == LongKey) && only(low, isHexDigit) {
			add("dedupe_key", low, Filter{DedupeKey: low})
		}
	}
	if !longer(text, MaxMessageID) {
		add("message_id", text, Filter{MessageID: text})
	}
	if !longer(text, MaxEventID) {
		add("event_id", text, Filter{EventID: text})
	}
	seen := map[string]bool{}
	for _, form := range recipientsIn(text, region) {
		if !seen[form] {
			seen[form] = true
			add("recipient", form, Filter{Recipient: form})
		}
	}
	return out
}

// dropInvisible removes what comes along when people copy: marks of direction, joiners, soft hyphens, controls.
func dropInvisible(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
		return -1
	}
	return r
}

// idIn finds the id of a row, alone or as part of a reference: {id}-{attempt}.
func idIn(text string) (uuid.UUID, bool) {
	const length = 36
	low := strings.ToLower(text)
	if len(low) > length && low[length] == '-' && only(low[length+1:], isDigit) {
		low = low[:length]
	}
	id, err := uuid.Parse(low)
	return id, err == nil && id.String() == low
}

func isHexDigit(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' }

// recipientsIn returns the forms under which a recipient may stand that is written like this.
func recipientsIn(text, region string) []string {
	var forms []string
	add := func(ch Channel, s, region string) {
		if form, err := RecipientKey(ch, s, region); err == nil {
			forms = append(forms, form)
		}
	}
	switch {
	case strings.Contains(text, "://"):
		add(Webhook, text, "")
	case strings.Contains(text, "@"):
		add(Email, mailIn(text), "")
	default:
		for _, number := range numbersIn(text) {
			add(SMS, number, region)
			if !strings.HasPrefix(number, "+") {
				add(SMS, "+"+number, "")
			}
		}
	}
	return append(forms, text) // as written: a token, and what was moved in from another ledger
}

// mailIn takes the address out of what a mail program shows: a name before it, angle brackets, mailto:.
func mailIn(text string) string {
	if i := strings.LastIndexByte(text, '<'); i >= 0 {
		text, _, _ = strings.Cut(text[i+1:], ">")
	}
	if len(text) > 7 && strings.EqualFold(text[:7], "mailto:") {
		text, _, _ = strings.Cut(text[7:], "?")
	}
	return strings.Trim(text, " \"'.,;")
}

// numbersIn reads a phone number as people write it: any digits and signs, 00 for +, tel:, a trunk zero in brackets. None where
// the text has letters, or anything else that no number has.
func numbersIn(text string) []string {
	text = norm.NFKC.String(text)
	if len(text) > 4 && strings.EqualFold(text[:4], "tel:") {
		text = text[4:]
	}
	plain := func(s string) (string, bool) {
		var b strings.Builder
		for _, r := range s {
			switch {
			case '0' <= r && r <= '9', r == '+' && b.Len() == 0:
				b.WriteRune(r)
			case unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) || r == '\u2212' || strings.ContainsRune("().,/'\u2019_", r):
			default:
				return "", false
			}
		}
		number := b.String()
		if strings.HasPrefix(number, "00") {
			number = "+" + number[2:]
		}
		return number, len(number) >= minDigits
	}
	var out []string
	if number, ok := plain(strings.ReplaceAll(text, "(0)", "")); ok {
		out = append(out, number)
	}
	if number, ok := plain(text); ok && (len(out) == 0 || out[0] != number) {
		out = append(out, number)
	}
	return out
}
