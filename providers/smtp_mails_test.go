package providers

import (
	"encoding/json"
	"strings"
	"testing"

	"sendonce/ledger"
)

// hardMail are contents that something on the way might touch. They go through a real server as well.
var hardMail = map[string]ledger.Message{
	"plain":               {Subject: "Order A-2291", Text: "Order A-2291 shipped.\n"},
	"umlauts":             {Subject: "Grüße aus Köln: Straße „Müller“", FromName: "Jürgen Groß", Text: "Größe XL, 5 €\n"},
	"emoji":               {Subject: "👍🏽 Paket 📦 ist da 👨‍👩‍👧‍👦", FromName: "Shop 🛒", Text: "👍🏽👨‍👩‍👧‍👦\n", HTML: "<p>👍🏽</p>\n"},
	"right to left":       {Subject: "שלום ABC مرحبا", FromName: "متجر", Text: "שלום 123 \u202eabc\u202c مرحبا\n"},
	"2,000 characters":    {Subject: strings.Repeat("long ", 400) + "end", Text: strings.Repeat("a", 2000) + "\n" + strings.Repeat("ü", 2000) + "\n"},
	"2,000 without blank": {Subject: strings.Repeat("x", 2000), FromName: strings.Repeat("n", 2000), Text: strings.Repeat("0123456789", 200) + "\n"},
	"dots":                {Subject: ".", Text: ".\n..\n.hidden\n\n.\nQUIT\n...\n"},
	"looks like SMTP":     {Subject: "DATA", Text: "\n.\nMAIL FROM:<x@example.test>\nFrom here on\n>From there\n"},
	"blanks":              {Subject: "  two  blanks" + strings.Repeat(" ", 200) + "end ", FromName: " a  b ", Text: " indented \t\n\ttab\t\n  \n\n\nend  \n"},
	"encoded words":       {Subject: "=?utf-8?B?SGk=?= is no word", FromName: "=?utf-8?Q?Eve?=", Text: "=?utf-8?B?SGk=?= =3D =\n==\n"},
	"quotes":              {Subject: `"a" <b@example.test>, \c`, FromName: `O'Hara "Bob" \ (x), <y@example.test>; z:`, Text: "\"\\\n"},
	"own sender":          {Subject: "s", From: "Billing.Dept@Müller.example.test", FromName: "Müller, Abt. 1", ReplyTo: "help@bücher.example.test", Text: "t\n"},
	"html":                {Subject: "s", HTML: "<html>\n<body style=\"a:b\">\n<p>.</p>\n.\n<p>Grüße &amp; 5 €</p></body></html>\n"},
	"both":                {Subject: "s", Text: "--\nboundary\n--a--\n", HTML: "<p>--</p>\n--\n"},
	"no line end":         {Subject: "s", Text: "text", HTML: "<p>html</p>"},
	"headers": {Subject: "s", Text: "t\n", Headers: map[string]string{
		"X-Order": "A-2291", "List-Unsubscribe": "<https://shop.example.test/u?x=" + strings.Repeat("y", 900) + ">", "X-Note": "Grüße", "x-empty": "",
		"X-Blanks": "a" + strings.Repeat(" ", 300) + "b", "References": strings.Repeat("<abc@example.test> ", 40) + "<z@example.test>",
	}},
}

// messageJSON is a message as a claim brings it.
func messageJSON(t *testing.T, m ledger.Message) []byte {
	t.Helper()
	fields := map[string]any{"subject": m.Subject}
	for name, value := range map[string]string{"text": m.Text, "html": m.HTML, "from": m.From, "from_name": m.FromName, "reply_to": m.ReplyTo} {
		if value != "" {
			fields[name] = value
		}
	}
	if m.Headers != nil {
		fields["headers"] = m.Headers
	}
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
