package console

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sendonce/ledger"
)

const (
	hideNumber = "+14155550142"
	hideMail   = "ada@example.test"
	hideHook   = "https://crm.example.test/hook/secret?k=1"
	hideToken  = "abc:token-of/a+device_0123456789"
)

// A recipient is found in every spelling that a provider may give it, and only it is cut out.
func TestHide_Spellings(t *testing.T) {
	for _, c := range []struct {
		channel   ledger.Channel
		form      string
		spellings []string
	}{
		{ledger.SMS, hideNumber, []string{
			"+14155550142", "14155550142", "4155550142", "(415) 555-0142", "+1 415 555 0142", "+1-415-555-0142", "+1.415.555.0142", "415/555/0142", "001 415 555 0142",
			"%2B14155550142", "%2B1415%205550142", "%28415%29+555-0142", `\u002b1415\u002d555\u002d0142`, "&#43;1&nbsp;415&nbsp;555&nbsp;0142", "+1 415 555‑0142", "+1\u00a0415\u00a0555\u00a00142",
			"４１５５５５０１４２", "1%3415%35%350142", "tel:+1-415-555-0142", "555-0142", "+1 (415) [555] 01 42", "415\u200b555\u200b0142", "%252B1%2520415%2520555%25200142",
		}},
		{ledger.Email, hideMail, []string{
			"ada@example.test", "ADA@EXAMPLE.TEST", "Ada@Example.Test", `ada\u0040example.test`, "ada&#64;example.test", "ada&#x40;example.test", "ada&commat;example.test", "ada%40example.test",
			"ADA%40EXAMPLE%2ETEST", "%61%64%61%40example.test", `\u0061da\u0040example\u002etest`, "&lt;ada&#064;example.test&gt;", "ada%2540example.test", `ada\\u0040example.test`, "ada&amp;#64;example.test",
			`\"ada\x40example.test\"`, "ada\u200b@example.test", "ａｄａ＠ｅｘａｍｐｌｅ．ｔｅｓｔ",
		}},
		{ledger.Webhook, hideHook, []string{
			hideHook, `https:\/\/crm.example.test\/hook\/secret?k=1`, "https%3A%2F%2Fcrm.example.test%2Fhook%2Fsecret%3Fk%3D1", "/hook/secret?k=1", "POST /hook/secret HTTP/1.1", `\/hook\/secret`, "%2Fhook%2Fsecret",
			"HTTPS://CRM.EXAMPLE.TEST/hook/secret?k=1", `https:\u002f\u002fcrm.example.test\u002fhook\u002fsecret\u003fk\u003d1`, "https&#58;&#47;&#47;crm.example.test&sol;hook&sol;secret",
		}},
		{ledger.Push, hideToken, []string{
			hideToken, "abc%3Atoken-of%2Fa%2Bdevice_0123456789", `abc:token-of\/a+device_0123456789`, "ABC:TOKEN-OF/A+DEVICE_0123456789", "abc&#58;token-of&#47;a&plus;device_0123456789", "abc%253Atoken-of%252Fa%252Bdevice_0123456789",
		}},
	} {
		n := ledger.Notification{Channel: c.channel, Recipient: c.form, RecipientKey: c.form}
		for _, s := range c.spellings {
			got := hide(&n, `{"error":"no `+s+` here"}`)
			if reads(got, &n) || !strings.Contains(got, hiddenPart) || !strings.HasPrefix(got, `{"error":"no`) || !strings.HasSuffix(got, ` here"}`) {
				t.Errorf("%s %s became %s", c.channel, s, got)
			}
		}
	}
}

// What has nothing of the recipient stays as it is, to the byte.
func TestHide_Unchanged(t *testing.T) {
	texts := []string{
		"2026-11-30T22:19:24Z", "555-0143", "415 555 014", `{"id":"SM0415555014","segments":[1,2,3]}`, "%zz %4 \\u00 &#; &#x; &nothing; \\", "\xff\xfe", "ada@example.testing"[:11], "k=", "/hook",
		`C:\temp\new`, strings.Repeat(`\`, 64), "eve@example.test", "https://crm.example.test/other", "abc:token",
	}
	for channel, form := range map[ledger.Channel]string{ledger.SMS: hideNumber, ledger.Email: hideMail, ledger.Webhook: hideHook, ledger.Push: hideToken} {
		n := ledger.Notification{Channel: channel, Recipient: form, RecipientKey: form, Message: []byte(`{"text":"Your code is 424242"}`)}
		for _, text := range texts {
			if got := hide(&n, text); got != text {
				t.Errorf("%s: %q became %q", channel, text, got)
			}
		}
	}
}

// What is encoded too many times over to be read is hidden as a whole, with a word about it.
func TestHide_TooDeep(t *testing.T) {
	n := ledger.Notification{Channel: ledger.Email, Recipient: hideMail, RecipientKey: hideMail}
	s := hideMail
	for depth := 1; depth <= maxDepth+3; depth++ {
		s = strings.ReplaceAll(s, "%", "%25")
		s = strings.ReplaceAll(s, "@", "%40")
		if got := hide(&n, "to "+s); depth <= maxDepth && got != "to a•••@example.test" || depth > maxDepth && got != tooDeep {
			t.Errorf("encoded %d times over it became %q", depth, got)
		}
	}
}

// The parts of an address that may be its secret are found alone, the recipient as it was written too.
func TestHide_Parts(t *testing.T) {
	n := ledger.Notification{Channel: ledger.Webhook, Recipient: "https://CRM.example.test/services/T00000000000/b%2Fb?token=0123456789", RecipientKey: "https://crm.example.test/services/T00000000000/b%2Fb?token=0123456789"}
	for _, raw := range []string{"no team t00000000000", "bad token 0123456789", "services/T00000000000", "GET /services/T00000000000/b/b?x", `"\/services\/T00000000000\/b%2Fb"`} {
		if got := hide(&n, raw); strings.Contains(strings.ToLower(got), "t00000000000") || strings.Contains(got, "0123456789") || got == raw {
			t.Errorf("%s became %s", raw, got)
		}
	}
}

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

// The timeline hides it in every word of a provider, and shows it to whom it is revealed.
func TestHide_Timeline(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	said := `no (415) 555-0142`
	r := ledger.Record{
		Notification: ledger.Notification{Channel: ledger.SMS, Recipient: hideNumber, RecipientKey: hideNumber, ClaimedAt: now},
		Attempts:     []ledger.Attempt{{StartedAt: now, EndedAt: now, Code: said, Error: said, MessageID: said, Answer: []byte(said)}},
		Receipts:     []ledger.Receipt{{ArrivedAt: now, Kind: said, Code: said, Body: []byte(said)}},
		Settlements:  []ledger.Settlement{{At: now, Evidence: []byte(said)}},
	}
	for _, revealed := range []bool{false, true} {
		count := 0
		for _, e := range timeline(&r, revealed) {
			words := []string{e.Raw}
			if e.Attempt != nil {
				words = append(words, e.Attempt.Code, e.Attempt.Error, e.Attempt.MessageID)
			}
			if e.Receipt != nil {
				words = append(words, e.Receipt.Kind, e.Receipt.Code)
			}
			for _, w := range words {
				if strings.Contains(w, "555-0142") {
					count++
				}
			}
		}
		if want := map[bool]int{false: 0, true: 8}[revealed]; count != want {
			t.Errorf("revealed %v: read in %d places, want %d", revealed, count, want)
		}
	}
	if r.Attempts[0].Error != said {
		t.Error("the record itself was changed")
	}
}

// BenchmarkHide is the cost of hostile answers of 64 KiB.
func BenchmarkHide(b *testing.B) {
	var words []string
	for i := range 4000 {
		words = append(words, strings.Repeat("a", 4+i%200)+fmt.Sprint(i))
	}
	message, _ := json.Marshal(words)
	n := ledger.Notification{Channel: ledger.SMS, Recipient: hideNumber, RecipientKey: hideNumber, Message: message}
	for name, part := range map[string]string{"a": "a", "percent": "%25", "backslash": `\`, "digits": "5550142", "ampersand": "&"} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(part, 65536/len(part))
			for b.Loop() {
				hide(&n, text)
			}
		})
	}
}
