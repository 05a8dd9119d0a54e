package ledger

import (
	"bytes"
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
)

// faultFields returns the fields that an *InvalidError names, joined by commas; "" for no error.
func faultFields(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("%v is no *InvalidError", err)
	}
	var names []string
	for _, f := range invalid.Fields {
		if len(f.Detail) < 5 {
			t.Errorf("%s has no sentence: %q", f.Field, f.Detail)
		}
		names = append(names, f.Field)
	}
	return strings.Join(names, ",")
}

func TestParseMessage_Reads(t *testing.T) {
	sms, err := ParseMessage(SMS, []byte(` {"text":"Gr\u00fc\u00dfe\n😀", "from":"AcmeShip"} `))
	if err != nil || sms.Text != "Grüße\n😀" || sms.From != "AcmeShip" {
		t.Errorf("sms: %+v, %v", sms, err)
	}
	mail, err := ParseMessage(Email, []byte(`{"subject":"Your order","text":"a","html":"<p>a</p>","from":"shop@example.test","from_name":"Shop, Ltd","reply_to":"help@example.test","headers":{"X-Order":"A-1","List-Unsubscribe":"<https://example.test/u>"}}`))
	if err != nil || mail.Subject != "Your order" || mail.Text != "a" || mail.HTML != "<p>a</p>" || mail.From != "shop@example.test" ||
		mail.FromName != "Shop, Ltd" || mail.ReplyTo != "help@example.test" ||
		!maps.Equal(mail.Headers, map[string]string{"X-Order": "A-1", "List-Unsubscribe": "<https://example.test/u>"}) {
		t.Errorf("email: %+v, %v", mail, err)
	}
	push, err := ParseMessage(Push, []byte(`{"title":"t","body":"b","data":{ "order" : "A-1" }}`))
	if err != nil || push.Title != "t" || push.Body != "b" || string(push.Data) != `{ "order" : "A-1" }` {
		t.Errorf("push: %+v, %v", push, err)
	}
	tpl, err := ParseMessage(SMS, []byte(`{"template":{"id":"otp","variables":{"code":424242}}}`))
	if err != nil || tpl.Template == nil || tpl.Template.ID != "otp" || string(tpl.Template.Variables) != `{"code":424242}` {
		t.Errorf("template: %+v, %v", tpl, err)
	}
	escaped, err := ParseMessage(SMS, []byte(`{"\u0074ext":"x"}`))
	if err != nil || escaped.Text != "x" {
		t.Errorf("an escaped name: %+v, %v", escaped, err)
	}
}

// F32: what a webhook passes on keeps its digits and its order.
func TestParseMessage_F32_DataByteForByte(t *testing.T) {
	const data = `{"order":9007199254740993, "amt":1.10,"e":1e400,"b":[-0.0,1E+2],"a":"\u00e9\/"}`
	m, err := ParseMessage(Webhook, []byte("{ \"data\" :\t"+data+" }"))
	if err != nil || string(m.Data) != data {
		t.Errorf("%s, %v", m.Data, err)
	}
	for _, any := range []string{`null`, `"x"`, `7`, `[]`, `{}`, `false`} {
		if m, err := ParseMessage(Webhook, []byte(`{"data":`+any+`}`)); err != nil || string(m.Data) != any {
			t.Errorf("data %s: %s, %v", any, m.Data, err)
		}
	}
	raw := []byte(`{"data":[1],"x":1}`)
	before := bytes.Clone(raw)
	ParseMessage(Webhook, raw)
	m, _ = ParseMessage(Webhook, []byte(`{"data":[1]}`))
	_ = append(m.Data, "garbage"...)
	if !bytes.Equal(raw, before) {
		t.Errorf("ParseMessage changed what it read: %s", raw)
	}
}

// An answer stays small, however many faults a message has and however deep they lie.
func TestParseMessage_BoundsItsFaults(t *testing.T) {
	for _, raw := range []string{
		`{"data":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
		`{"data":1,"` + strings.Repeat("é", 50_000) + `":1}`,
		`{"data":1` + strings.Repeat(`,"a":1,"b":2`, 10_000) + `}`,
	} {
		_, err := ParseMessage(Webhook, []byte(raw))
		if err == nil || len(err.Error()) > 500 {
			t.Errorf("%.40s: error of %d bytes", raw, len(err.Error()))
		}
	}
	var many strings.Builder
	for i := range 20_000 {
		many.WriteString(`,"x` + strconv.Itoa(i) + `":1`)
	}
	_, err := ParseMessage(Webhook, []byte(`{"data":1`+many.String()+`}`))
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Fields) != maxFaults {
		t.Errorf("%.200v", err)
	}
}

type messageCase struct {
	ch     Channel
	raw    string
	faults string // fields, joined by commas
}

func checkMessages(t *testing.T, cases []messageCase) {
	t.Helper()
	for _, c := range cases {
		_, err := ParseMessage(c.ch, []byte(c.raw))
		if got := faultFields(t, err); got != c.faults {
			t.Errorf("%s %.200s: faults %q (%v), want %q", c.ch, c.raw, got, err, c.faults)
		}
	}
}

// F31: a name given twice or in another case would let a gateway check another value than the one that is sent.
func TestParseMessage_F31_RepeatedAndWronglyCasedNames(t *testing.T) {
	checkMessages(t, []messageCase{
		{SMS, `{"text":"a","text":"b"}`, "message.text"},
		{SMS, `{"text":"a","t\u0065xt":"b"}`, "message.text"},
		{SMS, `{"text":"a","TEXT":"b"}`, "message.TEXT"},
		{SMS, `{"Text":"a"}`, "message.Text,message.text"},
		{SMS, `{"text":"a","from":"x","from":"y"}`, "message.from"},
		{SMS, `{"te\u017ft":"a"}`, "message.te\u017ft,message.text"},
		{Email, "{\"\u017fubject\":\"a\",\"text\":\"b\"}", "message.\u017fubject,message.subject"},
		{Email, `{"subject":"a","text":"b","headers":{"X-A":"1","X-A":"2"}}`, "message.headers.X-A"},
		{Email, `{"subject":"a","text":"b","headers":{"X-A":"1","x-a":"2"}}`, "message.headers.x-a"},
		{Push, `{"data":{"a":"1","a":"2"}}`, "message.data.a"},
		{Push, `{"body":"a","data":{"a":"1","A":"2"}}`, ""}, // names of the caller's own
		{Webhook, `{"data":{"a":1,"a":2}}`, "message.data.a"},
		{Webhook, `{"data":{"a":[{"b":1},{"c":{"d":1,"d":1}}]}}`, "message.data.a.1.c.d"},
		{Webhook, `{"data":1,"data":1}`, "message.data"},
		{SMS, `{"template":{"id":"a","id":"b"}}`, "message.template.id"},
		{SMS, `{"template":{"id":"a","variables":{"x":1,"x":1}}}`, "message.template.variables.x"},
		{SMS, `{"template":{"ID":"a"}}`, "message.template.ID,message.template.id"},
	})
}

// F09, F32: invalid bytes, lone surrogates and NUL are refused, a legal U+FFFD is not.
func TestParseMessage_F09_Text(t *testing.T) {
	checkMessages(t, []messageCase{
		{SMS, "{\"text\":\"a\xff\"}", "message.text"},
		{SMS, `{"text":"a\ud800"}`, "message.text"},
		{SMS, `{"text":"a\udc00b"}`, "message.text"},
		{SMS, `{"text":"a\ud83d\ude00"}`, ""},
		{SMS, `{"text":"a\ufffd"}`, ""},
		{SMS, "{\"text\":\"a\ufffd\"}", ""},
		{SMS, `{"text":"a\u0000b"}`, "message.text"},
		{SMS, `{"text":"a\\u0000b"}`, ""},
		{SMS, "{\"text\":\"a\x00b\"}", "message.text"},
		{Webhook, `{"data":{"a":"\u0000"}}`, "message.data"},
		{Webhook, `{"data":{"\\\u0000":1}}`, "message.data"},
		{Webhook, `{"data":{"a":"\\u0000"}}`, ""},
		{Webhook, "{\"data\":\"\xc3\x28\"}", "message.data"},
		{Webhook, `{"data":["\ud800"]}`, "message.data.0"},
		{Push, `{"data":{"a\u0000":"b"}}`, "message.data"},
		{Email, `{"subject":"a","text":"b","headers":{"X\u0000":"b"}}`, "message.headers.X\x00"},
		{SMS, `{"template":{"id":"a","variables":{"x":"\u0000"}}}`, "message.template.variables"},
	})
}

func TestParseMessage_NoJSON(t *testing.T) {
	checkMessages(t, []messageCase{
		{SMS, ``, "message"},
		{SMS, ` `, "message"},
		{SMS, `null`, "message"},
		{SMS, `"text"`, "message"},
		{SMS, `[]`, "message"},
		{SMS, `{"text":"a"`, "message"},
		{SMS, `{"text":"a"}}`, "message"},
		{SMS, `{"text":"a"} {}`, "message"},
		{SMS, `{"text":"a",}`, "message"},
		{SMS, `{text:"a"}`, "message"},
		{SMS, `{'text':'a'}`, "message"},
		{SMS, `{"text":NaN}`, "message.text"},
		{SMS, "\ufeff" + `{"text":"a"}`, "message"},
		{SMS, `{"text":"` + strings.Repeat("a", MaxMessageBytes-11) + `"}`, ""},
		{SMS, `{"text":"` + strings.Repeat("a", MaxMessageBytes-10) + `"}`, "message"},
		{"fax", `{"text":"a"}`, "channel"},
		{Webhook, `{"data":` + strings.Repeat(`{"a":[`, 50) + strings.Repeat("]}", 50) + `}`, ""},
		{Webhook, `{"data":` + strings.Repeat(`{"a":[`, 50) + "[]" + strings.Repeat("]}", 50) + `}`, "message.data"},
		{Webhook, `{"data":["` + strings.Repeat(`[\"{\\`, 200) + `"]}`, ""},
	})
}

func TestParseMessage_FieldsOfEachChannel(t *testing.T) {
	checkMessages(t, []messageCase{
		{SMS, `{}`, "message.text"},
		{SMS, `{"text":""}`, "message.text"},
		{SMS, `{"text":7,"from":null}`, "message.text,message.from"},
		{SMS, `{"text":"a","subject":"b"}`, "message.subject"},
		{SMS, `{"text":"a","from":"Acme\r\nShip"}`, "message.from"},
		{SMS, `{"text":"a","from":"Acme\u202eShip"}`, "message.from"},
		{SMS, `{"text":"a","from":"+15005550006"}`, ""},

		{Email, `{}`, "message.subject,message.text"},
		{Email, `{"subject":"a"}`, "message.text"},
		{Email, `{"text":"a"}`, "message.subject"},
		{Email, `{"subject":"a","html":"<p>"}`, ""},
		{Email, `{"subject":"a","text":"b","title":"c","unknown":{"a":[1]}}`, "message.title,message.unknown"},
		{Email, `{"subject":"a","text":"b","headers":["a"]}`, "message.headers"},
		{Email, `{"subject":"a","text":"b","headers":{"X-A":1}}`, "message.headers.X-A"},
		{Email, `{"subject":"a","text":"b","from":"shop"}`, "message.from"},
		{Email, `{"subject":"a","text":"b","from":"Shop <shop@example.test>"}`, "message.from"},
		{Email, `{"subject":"a","text":"b","from":"a@example.test, b@example.test"}`, "message.from"},
		{Email, `{"subject":"a","text":"b","reply_to":"help"}`, "message.reply_to"},

		{Push, `{}`, "message.body"},
		{Push, `{"title":"","body":"","data":{}}`, "message.body"},
		{Push, `{"title":"a"}`, ""},
		{Push, `{"body":"a"}`, ""},
		{Push, `{"data":{"a":"b"}}`, ""},
		{Push, `{"data":{"a":1,"b":"c","d":null,"e":{"f":"g"}}}`, "message.data.a,message.data.d,message.data.e"},
		{Push, `{"data":[]}`, "message.data"},
		{Push, `{"data":"a"}`, "message.data"},
		{Push, `{"title":"a","text":"b"}`, "message.text"},

		{Webhook, `{}`, "message.data"},
		{Webhook, `{"data":1,"text":"b"}`, "message.text"},
		{Webhook, `{"template":{"id":"a"}}`, "message.template,message.data"},
	})
}

func TestParseMessage_Template(t *testing.T) {
	checkMessages(t, []messageCase{
		{SMS, `{"template":{"id":"a"}}`, ""},
		{SMS, `{"template":{"id":"a","variables":{}},"from":"AcmeShip"}`, ""},
		{Email, `{"template":{"id":"a"},"from":"shop@example.test","from_name":"Shop","reply_to":"help@example.test","headers":{"X-A":"b"}}`, ""},
		{Push, `{"template":{"id":"a","variables":{"n":1}}}`, ""},
		{SMS, `{"template":{"id":"a"},"text":"b"}`, "message.text"},
		{SMS, `{"template":{"id":"a"},"text":""}`, "message.text"},
		{Email, `{"template":{"id":"a"},"subject":"b","html":"c"}`, "message.subject,message.html"},
		{Push, `{"template":{"id":"a"},"title":"b","body":"c","data":{"d":"e"}}`, "message.title,message.body,message.data"},
		{SMS, `{"template":{}}`, "message.template.id"},
		{SMS, `{"template":{"id":" "}}`, "message.template.id"},
		{SMS, `{"template":{"id":"a\nb"}}`, "message.template.id"},
		{SMS, `{"template":{"id":7}}`, "message.template.id"},
		{SMS, `{"template":{"id":"a","variables":[]}}`, "message.template.variables"},
		{SMS, `{"template":{"id":"a","variables":null}}`, "message.template.variables"},
		{SMS, `{"template":{"id":"a","language":"de"}}`, "message.template.language"},
		{SMS, `{"template":"a"}`, "message.template"},
		{SMS, `{"template":null}`, "message.template"},
	})
}

// A header that breaks its line, or one of ours, would put words in the mail that nobody checked.
func TestParseMessage_MailHeaders(t *testing.T) {
	with := func(name, value string) string {
		return `{"subject":"a","text":"b","headers":{"` + name + `":"` + value + `"}}`
	}
	var cases []messageCase
	for _, name := range []string{"From", "to", "CC", "Bcc", "bCC", "Subject", "Reply-To", "Sender", "Date", "Message-ID", "MIME-Version", "Content-Type",
		"content-transfer-encoding", "Return-Path", "Received", "DKIM-Signature", "Resent-To", "X-SMTPAPI", "Resend-Idempotency-Key"} {
		cases = append(cases, messageCase{Email, with(name, "x"), "message.headers." + name})
	}
	for _, name := range []string{"", "X A", "X-A:", "X-Ä", "X(A)"} {
		cases = append(cases, messageCase{Email, with(name, "x"), "message.headers." + name})
	}
	for _, value := range []string{`a\r\nBcc: b@example.test`, `a\nb`, `a\rb`, `a\u000bb`, `a\u0085b`, `a\u2028b`, `a\tb`, strings.Repeat("a", 994)} {
		cases = append(cases, messageCase{Email, with("X-A", value), "message.headers.X-A"})
	}
	for _, value := range []string{"a", "", "Ä", strings.Repeat("a", 993)} {
		cases = append(cases, messageCase{Email, with("X-A", value), ""})
	}
	for _, field := range []string{"subject", "from_name"} {
		for _, c := range []string{`\r`, `\n`, `\u0000`, `\u0085`, `\u2029`} {
			raw := `{"subject":"s","text":"t","from_name":"n"}`
			raw = strings.Replace(raw, `"`+field+`":"`, `"`+field+`":"x`+c, 1)
			cases = append(cases, messageCase{Email, raw, "message." + field})
		}
	}
	cases = append(cases, messageCase{Email, `{"subject":"שלום\u200f","text":"t","from_name":"👩‍👧"}`, ""})

	var many []string
	for i := range 51 {
		many = append(many, `"X-`+strconv.Itoa(i)+`":"a"`)
	}
	cases = append(cases,
		messageCase{Email, `{"subject":"a","text":"b","headers":{` + strings.Join(many[:50], ",") + `}}`, ""},
		messageCase{Email, `{"subject":"a","text":"b","headers":{` + strings.Join(many, ",") + `}}`, "message.headers"})
	checkMessages(t, cases)
}

func FuzzParseMessage(f *testing.F) {
	for _, s := range []string{
		`{"text":"a","from":"b"}`, `{"subject":"a","text":"b","headers":{"X-A":"b"}}`, `{"title":"a","data":{"b":"c"}}`,
		`{"data":{"a":[1,2.50,"\u00e9"],"b":null}}`, `{"template":{"id":"a","variables":{"b":1}}}`, `{"text":"a","text":"b"}`,
	} {
		f.Add(uint8(0), []byte(s))
		f.Add(uint8(1), []byte(s))
		f.Add(uint8(2), []byte(s))
		f.Add(uint8(3), []byte(s))
	}
	f.Fuzz(func(t *testing.T, channel uint8, raw []byte) {
		ch := Channels[int(channel)%len(Channels)]
		before := bytes.Clone(raw)
		m, err := ParseMessage(ch, raw)
		if !bytes.Equal(raw, before) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			for _, field := range strings.Split(faultFields(t, err), ",") {
				if field != "message" && !strings.HasPrefix(field, "message.") {
					t.Skip("a name with a comma")
				}
			}
			return
		}
		// What is accepted is what a strict decoder of the standard kind reads, and it has something to say.
		if !SameMessage(raw, append([]byte(" "), raw...)) {
			t.Fatalf("%s is accepted, but is not the same as itself behind a blank", raw)
		}
		if m.Text+m.Subject+m.Title+m.Body == "" && len(m.Data) == 0 && m.Template == nil {
			t.Fatalf("%s is accepted and empty", raw)
		}
		if strings.ContainsAny(m.Subject+m.FromName, "\r\n") || strings.ContainsRune(m.Text+m.HTML+m.Title+m.Body, 0) {
			t.Fatalf("%s is accepted", raw)
		}
	})
}
