package console

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sendonce/ledger"
)

// spelt draws a spelling of a recipient: case, separators of a number, and up to three layers of escapes. Within two of them any
// character may be escaped by chance; the third is as encoders write it.
func spelt(t *rapid.T, channel ledger.Channel, s string) string {
	if channel == ledger.SMS {
		var b strings.Builder
		from := rapid.IntRange(0, 2).Draw(t, "from") // with +, without, national
		for _, digit := range s[from:] {
			b.WriteRune(digit)
			b.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "-", ".", " (", ") ", "/", "\u00a0"}).Draw(t, "separator"))
		}
		s = b.String()
	} else if rapid.Bool().Draw(t, "upper") {
		s = strings.ToUpper(s)
	}
	for layer := range rapid.IntRange(0, 3).Draw(t, "layers") {
		s = escaped(t, s, layer < 2)
	}
	return s
}

// escaped is one layer of escapes of one kind: what must be escaped there is, and any other character by chance if so wanted.
func escaped(t *rapid.T, s string, byChance bool) string {
	kind := rapid.SampledFrom([]string{"json", "html", "url", "form"}).Draw(t, "kind")
	var b strings.Builder
	for _, r := range s {
		chance := byChance && r < 128 && rapid.IntRange(0, 3).Draw(t, "chance") == 0
		switch {
		case kind == "json" && chance:
			fmt.Fprintf(&b, `\u%04x`, r)
		case kind == "json" && r == '/':
			b.WriteString(`\/`)
		case kind == "json":
			quoted, _ := json.Marshal(string(r))
			b.WriteString(strings.Trim(string(quoted), `"`))
		case kind == "html" && chance:
			fmt.Fprintf(&b, "&#%d;", r)
		case kind == "html":
			b.WriteString(html.EscapeString(string(r)))
		case chance:
			fmt.Fprintf(&b, "%%%02X", r)
		case kind == "url":
			b.WriteString(url.PathEscape(string(r)))
		default:
			b.WriteString(url.QueryEscape(string(r)))
		}
	}
	return b.String()
}

// reads reports whether somebody who undoes every escape, a kind at a time, can read the recipient in a text.
func reads(text string, n *ledger.Notification) bool {
	for range 12 {
		bare := strings.ToLower(strings.ReplaceAll(text, `\/`, "/"))
		if n.Channel == ledger.SMS {
			digits := strings.Map(func(r rune) rune {
				if r < '0' || r > '9' {
					return -1
				}
				return r
			}, bare)
			if strings.Contains(digits, "5550142") {
				return true
			}
		} else if strings.Contains(bare, strings.ToLower(n.RecipientKey)) || n.Channel == ledger.Webhook && strings.Contains(bare, "/hook/secret") {
			return true
		}
		if plain, err := url.PathUnescape(text); err == nil && plain != text {
			text = plain
			continue
		}
		var plain string
		if json.Unmarshal([]byte(`"`+text+`"`), &plain) == nil && plain != text {
			text = plain
			continue
		}
		text = html.UnescapeString(text)
	}
	return false
}

// A recipient in any spelling never survives, whatever stands around it, and what stands around it does.
func TestHide_Property(t *testing.T) {
	forms := map[ledger.Channel]string{ledger.SMS: hideNumber, ledger.Email: hideMail, ledger.Webhook: hideHook, ledger.Push: hideToken}
	around := rapid.StringMatching(`[g-z{}":,<> ]{0,40}[g-z]["<> ]`)
	rapid.Check(t, func(t *rapid.T) {
		channel := rapid.SampledFrom([]ledger.Channel{ledger.SMS, ledger.Email, ledger.Webhook, ledger.Push}).Draw(t, "channel")
		n := ledger.Notification{Channel: channel, Recipient: forms[channel], RecipientKey: forms[channel]}
		before, after := around.Draw(t, "before"), `"`+around.Draw(t, "after")
		if got := hide(&n, before+after); got != before+after {
			t.Fatalf("without it %q became %q", before+after, got)
		}
		s := spelt(t, channel, n.RecipientKey)
		got := hide(&n, before+s+after)
		if reads(got, &n) || !strings.Contains(got, hiddenPart) || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
			t.Fatalf("%q became %q", before+s+after, got)
		}
	})
}

// Whatever a provider answers: what is left has nothing of the recipient, and hiding it again changes nothing.
func FuzzHide(f *testing.F) {
	for _, s := range []string{"(415) 555-0142", `ada\u0040example.test`, "ada&#64;example.test", "%2Fhook%2Fsecret", "abc%3Atoken-of", "%25%32%35", `\\\\u0040`, "\xff%ff&#xd800;\\ud800\\udc00"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		for channel, form := range map[ledger.Channel]string{ledger.SMS: hideNumber, ledger.Email: hideMail, ledger.Webhook: hideHook, ledger.Push: hideToken} {
			n := ledger.Notification{Channel: channel, Recipient: form, RecipientKey: form}
			got := hide(&n, before+form+after)
			if strings.Contains(strings.ToLower(got), strings.ToLower(form)) || !strings.Contains(got, hiddenPart) {
				t.Errorf("%s: %q became %q", channel, before+form+after, got)
			}
		}
	})
}
