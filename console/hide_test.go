package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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
