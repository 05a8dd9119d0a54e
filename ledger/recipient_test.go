package ledger

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// recipientCase is a recipient and its form; the empty form is a refusal.
type recipientCase struct{ in, form string }

func checkRecipients(t *testing.T, ch Channel, region string, cases []recipientCase) {
	t.Helper()
	for _, c := range cases {
		form, err := RecipientKey(ch, c.in, region)
		if form != c.form {
			t.Errorf("%s %q in region %q: %q, %v, want %q", ch, c.in, region, form, err, c.form)
		}
		var invalid *InvalidError
		if c.form == "" && (!errors.As(err, &invalid) || invalid.Fields[0].Field != "recipient" || len(invalid.Fields[0].Detail) < 10) {
			t.Errorf("%s %q: error %v, want an InvalidError on recipient", ch, c.in, err)
		}
		if c.form != "" && err != nil {
			t.Errorf("%s %q: %v", ch, c.in, err)
		}
	}
}

// F06: only spellings with a sure reading are folded; the rest is refused, never guessed.
func TestRecipientKey_F06_Phone(t *testing.T) {
	checkRecipients(t, SMS, "", []recipientCase{
		{"+447700900123", "+447700900123"},
		{"+44 7700 900123", "+447700900123"},
		{"+44-7700.900 123", "+447700900123"},
		{"+1 (415) 555-0142", "+14155550142"},
		{"(+44) 7700 900123", "+447700900123"},
		{" +447700900123 ", "+447700900123"},
		{"+1234567", "+1234567"},
		{"+123456789012345", "+123456789012345"},
		{"+4407700900123", "+4407700900123"}, // no metadata judges a number with +

		{"00447700900123", ""},
		{"07700900123", ""},
		{"447700900123", ""},
		{"+44 (0)7700 900123", ""},
		{"+44 ( 0 ) 7700 900123", ""},
		{"+44 (07700) 900123", ""},
		{"+0447700900123", ""},
		{"+4", ""},
		{"+123456", ""},
		{"+1234567890123456", ""},
		{"+12345678901234567890", ""},
		{"++447700900123", ""},
		{"+44+7700900123", ""},
		{"7700900123+44", ""},
		{"tel:+447700900123", ""},
		{"+44 7700 900123 ext. 4", ""},
		{"+44 7700 900123 x4", ""},
		{"+447700900123;ext=4", ""},
		{"+1-800-FLOWERS", ""},
		{"＋４４７７００９００１２３", ""},
		{"+４４7700900123", ""},
		{"+٤٤7700900123", ""},
		{"+44\u00a07700900123", ""},  // a blank that is none
		{"+44 7700\u200b900123", ""}, // zero width
		{"\u200f+447700900123", ""},  // right-to-left mark
		{"+447700900123\u202c", ""},  // end of an embedding, as copied from a contact list
		{"+447700\u2011900123", ""},  // another hyphen
		{"+447700900123\n", ""},
		{"+447700900123\tx", ""},
		{"+447700900123\x00", ""},
		{"+44770090012\xff3", ""},
		{"+", ""},
		{"", ""},
		{"   ", ""},
		{"()", ""},
		{"+1415555014２", ""},
	})
}

// F06: a number without + is read only in a configured region.
func TestRecipientKey_F06_PhoneInRegion(t *testing.T) {
	checkRecipients(t, SMS, "GB", []recipientCase{
		{"07700900123", "+447700900123"},
		{"07700 900 123", "+447700900123"},
		{"(020) 7946 0123", "+442079460123"},
		{"7700900123", "+447700900123"},
		{"00447700900123", "+447700900123"},
		{"+14155550142", "+14155550142"},
		{"+44 (0)7700 900123", ""},
		{"123", ""},
		{"077009001234567", ""},
		{"07700 CALLME", ""},
		{"07700 900123 x5", ""},
		{"０７７００９００１２３", ""},
		{"", ""},
	})
	checkRecipients(t, SMS, "US", []recipientCase{
		{"(415) 555-0142", "+14155550142"},
		{"1-415-555-0142", "+14155550142"},
		{"011 44 7700 900123", "+447700900123"},
		{"+447700900123", "+447700900123"},
		{"415", ""},
		{"911", ""},
	})
	checkRecipients(t, SMS, "XX", []recipientCase{{"07700900123", ""}, {"+447700900123", "+447700900123"}})
}

func TestRecipientKey_Email(t *testing.T) {
	long := strings.Repeat("a", 63)
	checkRecipients(t, Email, "", []recipientCase{
		{"ada@example.test", "ada@example.test"},
		{"  Ada.Lovelace@Example.TEST ", "ada.lovelace@example.test"},
		{"ada+orders@example.test", "ada+orders@example.test"}, // never folded into ada@
		{"a.d.a@example.test", "a.d.a@example.test"},
		{"ada@BÜCHER.example", "ada@xn--bcher-kva.example"},
		{"ada@bu\u0308cher.example", "ada@xn--bcher-kva.example"},
		{"ada@XN--BCHER-KVA.example", "ada@xn--bcher-kva.example"},
		{"re\u0301my@example.test", "r\u00e9my@example.test"},
		{"RÉMY@example.test", "r\u00e9my@example.test"},
		{"remy@example.test", "remy@example.test"},
		{"\u0130pek@example.test", "i\u0307pek@example.test"}, // Turkish: not ipek@
		{"ADA@localhost", "ada@localhost"},
		{"o'neill#1@example.test", "o'neill#1@example.test"},
		{"аda@example.test", "аda@example.test"}, // the first letter is Cyrillic: a look-alike stays another recipient
		{"ada..b.@example.test", "ada..b.@example.test"},
		{long + "a@example.test", long + "a@example.test"},
		{"a@" + long + ".test", "a@" + long + ".test"},

		{long + "aa@example.test", ""},
		{"a@" + long + "a.test", ""},
		{"a@" + strings.Repeat("abcdefg.", 32) + "test", ""},
		{"ada", ""},
		{"@example.test", ""},
		{"ada@", ""},
		{"ada@@example.test", ""},
		{"ada@b@example.test", ""},
		{"ada@example..test", ""},
		{"ada@.example.test", ""},
		{"ada@example.test.", ""},
		{"ada@-example.test", ""},
		{"ada@exa_mple.test", ""},
		{"ada@[127.0.0.1]", ""},
		{`"ada b"@example.test`, ""},
		{"Ada <ada@example.test>", ""},
		{"<ada@example.test>", ""},
		{"ada b@example.test", ""},
		{"ada@exam ple.test", ""},
		{"ada,bob@example.test", ""},
		{"ada@example.test,bob@example.test", ""},
		{"ada@example.test;bob@example.test", ""},
		{"ada@example.test\r\nBcc: bob@example.test", ""}, // header injection
		{"ada@example.test\n", ""},
		{"ada\u2028@example.test", ""},
		{"ada\u202e@example.test", ""},
		{"a\u00adda@example.test", ""},
		{"a\u200cda@example.test", ""},
		{"ada@exa\u200bmple.test", ""},
		{"ada@example.test\x00", ""},
		{"ada\xff@example.test", ""},
		{"", ""},
		{" ", ""},
	})
}

func TestRecipientKey_Webhook(t *testing.T) {
	checkRecipients(t, Webhook, "", []recipientCase{
		{"https://crm.example.test/hooks?x=1", "https://crm.example.test/hooks?x=1"},
		{"HTTPS://crm.example.test/", "https://crm.example.test/"},
		{"http://127.0.0.1:8080/a b", "http://127.0.0.1:8080/a%20b"},
		{"https://[2001:db8::1]:443/x", "https://[2001:db8::1]:443/x"},
		{"https://crm.example.test", "https://crm.example.test"},
		{"https://crm.example.test/%7Eada", "https://crm.example.test/%7Eada"},

		{"crm.example.test/hooks", ""},
		{"//crm.example.test/hooks", ""},
		{"ftp://crm.example.test/", ""},
		{"file:///etc/passwd", ""},
		{"gopher://crm.example.test/", ""},
		{"javascript:alert(1)", ""},
		{"https:crm.example.test", ""},
		{"https:///hooks", ""},
		{"https://:443/", ""},
		{"https://user:pw@crm.example.test/", ""},
		{"https://user@crm.example.test/", ""},
		{"https://crm.example.test/#a", ""},
		{"https://crm.example.test/#", ""},
		{"https://crm.example.test:0/", ""},
		{"https://crm.example.test:65536/", ""},
		{"https://crm.example.test:x/", ""},
		{"https://crm.example.test/\nHost: x", ""},
		{"https://crm.example.test/\u202e", ""},
		{" https://crm.example.test/", ""},
		{"https://" + strings.Repeat("a", 4100) + "/", ""},
		{"", ""},
	})
}

func TestRecipientKey_Push(t *testing.T) {
	token := "dGhpcyBpcyBh:APA91b-Token_0"
	checkRecipients(t, Push, "", []recipientCase{
		{token, token},
		{strings.Repeat("a", 4096), strings.Repeat("a", 4096)},
		{strings.Repeat("a", 4097), ""},
		{"", ""},
		{" \t", ""},
		{"token\n", ""},
	})
	if _, err := RecipientKey("fax", token, ""); err == nil || !strings.Contains(err.Error(), "channel") {
		t.Errorf("an unknown channel: %v", err)
	}
}

// The form of a form is itself: else a row that was shown to somebody could not be found by what it shows.
func TestRecipientKey_Idempotent(t *testing.T) {
	pieces := map[Channel][]string{
		SMS:     {"+", "44", "7700", "900123", " ", "-", ".", "(", ")", "0", "1", "00", "415", "555"},
		Email:   {"ada", "Ada", "@", ".", "É", "e\u0301", "İ", "Σ", "ß", "example", "test", "BÜCHER", "xn--bcher-kva", "-", "ﬁ", "Ａ", "。", " ", "K", "1"},
		Webhook: {"http", "https", "HTTP", "://", "/", "crm", "EXAMPLE", ".test", ":80", "?", "a=b", "&", "%41", "%zz", " ", "é", "[::1]", "#", "@", "..", "|", "\"", "\\"},
		Push:    {"a", " ", ":", "é"},
	}
	rapid.Check(t, func(t *rapid.T) {
		ch := rapid.SampledFrom(Channels).Draw(t, "channel")
		region := rapid.SampledFrom([]string{"", "GB", "US", "IT"}).Draw(t, "region")
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces[ch]), 1, 12).Draw(t, "in"), "")
		requireIdempotent(t, ch, in, region)
	})
}

func requireIdempotent(t interface{ Fatalf(string, ...any) }, ch Channel, in, region string) {
	form, err := RecipientKey(ch, in, region)
	if err != nil {
		var invalid *InvalidError
		if form != "" || !errors.As(err, &invalid) {
			t.Fatalf("%s %q: form %q with error %v", ch, in, form, err)
		}
		return
	}
	if again, err := RecipientKey(ch, form, region); again != form || err != nil {
		t.Fatalf("%s %q: form %q, whose form is %q, %v", ch, in, form, again, err)
	}
	if hasInvisible(form) || form == "" {
		t.Fatalf("%s %q: form %q", ch, in, form)
	}
}

func FuzzRecipientKey(f *testing.F) {
	for _, s := range []string{"+44 (7700) 900123", "07700900123", "Ada@BÜCHER.example", "https://crm.example.test:80/a?b=c", "e\u0301@a.b", "\u0130@x"} {
		f.Add(uint8(0), s, true)
		f.Add(uint8(1), s, false)
		f.Add(uint8(3), s, false)
	}
	f.Fuzz(func(t *testing.T, channel uint8, in string, inRegion bool) {
		region := ""
		if inRegion {
			region = "GB"
		}
		requireIdempotent(t, Channels[int(channel)%len(Channels)], in, region)
	})
}
