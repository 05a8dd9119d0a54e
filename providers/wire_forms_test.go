package providers

import (
	"strings"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

// lives are how long a message has left: what goes out as validity, ttl or not at all.
var lives = []struct {
	name    string
	expires time.Time
}{
	{"no end", time.Time{}},
	{"an hour left", testTime.Add(time.Hour)},
	{"nearly over", testTime.Add(time.Millisecond)},
	{"a month left", testTime.Add(30 * 24 * time.Hour)},
}

// describedAPIs are the adapters that are held against a description. FCM has no OpenAPI document: see
// TestWire_FCMRequestsFitGooglesDescription.
var describedAPIs = []described{
	{
		spec: "twilio_api_v2010_messages", forms: twilioForms,
		post: func(p ledger.Provider) *sender { return p.(*twilio).sender },
		wrong: []wrongRequest{
			noAuthorization, wrongType("application/json"),
			{name: "no To", change: replaced("To=", "Bcc=")},
			{name: "a field that Twilio does not have", change: replaced("To=", "Dedupe=x&To=")},
			{name: "a text as ValidityPeriod", change: replaced("To=", "ValidityPeriod=soon&To=")},
			{name: "a service of another form", change: replaced("To=", "MessagingServiceSid=MG1&To=")},
			{name: "an account of another form", change: atPath("/AC", "/AD")},
			{name: "another path", change: atPath("/Messages", "/Message")},
		},
	},
	{
		spec: "vonage_sms_v1", forms: vonageSMSForms,
		post: func(p ledger.Provider) *sender { return p.(*vonageSMS).sender },
		wrong: []wrongRequest{
			wrongType("application/json"),
			{name: "no recipient", change: replaced("&to=", "&towards=")},
			{name: "a plus sign before the recipient's number", change: replaced("&to=", "&to=%2B5555555555555555")},
			{name: "a field that Vonage does not have", change: replaced("&to=", "&client_ref=x&to=")},
			{name: "seconds as ttl", change: replaced("&to=", "&ttl=60&to=")},
			{name: "another type", change: replaced("&type=unicode", "&type=utf-8")},
			{name: "a key of another length", change: replaced("api_key=abcd1234", "api_key=abcd")},
			{name: "another path", change: atPath("/sms/json", "/json")},
		},
	},
	{
		spec: "vonage_messages_v1_sms", forms: vonageMessagesForms,
		post: func(p ledger.Provider) *sender { return p.(*vonageMessages).sender },
		wrong: []wrongRequest{
			noAuthorization, wrongType("application/x-www-form-urlencoded"),
			{name: "no text", change: replaced(`"text":`, `"body":`)},
			{name: "a recipient with a plus sign", change: replaced(`"to":"`, `"to":"+`)},
			{name: "ttl as a text", change: replaced(`{"channel"`, `{"ttl":"60","channel"`)},
			{name: "another channel", change: replaced(`"sms"`, `"fax"`)},
		},
	},
	{
		spec: "sendgrid_mail_v3", forms: sendGridForms,
		post: func(p ledger.Provider) *sender { return p.(*sendGrid).sender },
		wrong: []wrongRequest{
			noAuthorization, wrongType("text/plain"),
			{name: "no sender", change: replaced(`"from":`, `"sender":`)},
			{name: "no recipient", change: replaced(`"to":`, `"bcc":`)},
			{name: "an address that is none", change: replaced(`@example.test"`, `"`)},
			{name: "a list as content's value", change: replaced(`"value":"`, `"value":["x"],"was":"`)},
			{name: "a field that SendGrid does not have", change: replaced(`{"categories"`, `{"dedupe_key":"x","categories"`)},
			{name: "a text as custom_args", change: replaced(`"custom_args":{`, `"custom_args":"x","was":{`)},
			{name: "another path", change: atPath("/send", "/post")},
		},
	},
	{
		spec: "resend_emails", forms: resendForms,
		post: func(p ledger.Provider) *sender { return p.(*resend).sender },
		wrong: []wrongRequest{
			noAuthorization, wrongType("text/plain"),
			{name: "no sender", change: replaced(`"from":`, `"sender":`)},
			{name: "neither subject nor template", change: replaced(`"subject":`, `"title":`)},
			{name: "a tag without a value", change: replaced(`"value":`, `"is":`)},
			{name: "a field that Resend does not have", change: replaced(`"to":`, `"metadata":{},"to":`)},
			{name: "a key that is too long", change: withHeader("Idempotency-Key", strings.Repeat("x", 257))},
			{name: "another path", change: atPath("/emails", "/email")},
		},
	},
}

// smsTexts are texts of every kind, up to a provider's longest.
func smsTexts(longest int) map[string]string {
	return map[string]string{
		"plain":               `{"text":"Order A-2291 shipped."}`,
		"one character":       `{"text":"1"}`,
		"extended GSM":        `{"text":"{[~]} 5 € \\ ^|"}`,
		"lines and marks":     `{"text":"a=1&b=2;+c%20\n\ttwo lines\r\n\u007f"}`,
		"umlauts":             `{"text":"Grüße aus Köln"}`,
		"Cyrillic":            `{"text":"` + strings.Repeat("ж", 71) + `"}`,
		"emoji":               `{"text":"👍🏽 done"}`,
		"right to left":       `{"text":"\u200fשלום مرحبا"}`,
		"longest":             `{"text":"` + strings.Repeat("a", longest) + `"}`,
		"longest, unicode":    `{"text":"` + strings.Repeat("👍", longest) + `"}`,
		"from a number":       `{"text":"x","from":"+15005550006"}`,
		"from a short number": `{"text":"x","from":"12345"}`,
		"from a name":         `{"text":"x","from":"Acme Ship"}`,
	}
}

func smsOrder() ledger.Order {
	return ledger.Order{
		ID: mailID, Number: 9_999_999, Kind: ledger.KindSend, WireKey: testWire, Channel: ledger.SMS, Recipient: testNumber,
		ClaimedAt: testTime, At: testTime,
	}
}

func twilioForms(t *testing.T, base string) []requestForm {
	const service = "MGaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	with := func(s TwilioSettings, callback string) ledger.Provider {
		return newTwilio(t, s, Common{BaseURL: base, CallbackURL: callback})
	}
	texts := smsTexts(twilioText)
	const content = `{"template":{"id":"HXbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"`
	texts["template"] = content + `}}`
	texts["template with variables"] = content + `,"variables":{"1":"Ada","2":"Grüße & 👍"}}}`
	texts["template with a sender"] = content + `},"from":"+15005550006"}`
	return cross(map[string]ledger.Provider{
		"number":             with(TwilioSettings{From: "+15005550006"}, testCallback),
		"number, no receipt": with(TwilioSettings{From: "+15005550006"}, ""),
		"name":               with(TwilioSettings{From: "AcmeShip"}, testCallback),
		"service":            with(TwilioSettings{MessagingServiceSID: service}, testCallback),
		"service and number": with(TwilioSettings{MessagingServiceSID: service, From: "+15005550006"}, ""),
		"API key": with(TwilioSettings{
			From: "+15005550006", APIKeySID: "SKcccccccccccccccccccccccccccccccc", APIKeySecret: "secret",
		}, testCallback),
	}, smsOrder(), texts)
}

func vonageSMSForms(t *testing.T, base string) []requestForm {
	with := func(from, callback string) ledger.Provider {
		s := &VonageSettings{API: vonageSMSAPI, APIKey: "abcd1234", APISecret: testKey, From: from}
		return build(t, s, Common{BaseURL: base, CallbackURL: callback})
	}
	return cross(map[string]ledger.Provider{
		"name": with("AcmeShip", testCallback), "number": with("+447700900000", testCallback), "no receipt": with("AcmeShip", ""),
	}, smsOrder(), smsTexts(vonageSMSText))
}

func vonageMessagesForms(t *testing.T, base string) []requestForm {
	with := func(s VonageSettings, callback string) ledger.Provider {
		s.API = vonageMessagesAPI
		return build(t, &s, Common{BaseURL: base, CallbackURL: callback})
	}
	return cross(map[string]ledger.Provider{
		"name":        with(VonageSettings{APIKey: "abcd1234", APISecret: testKey, From: "AcmeShip"}, testCallback),
		"no receipt":  with(VonageSettings{APIKey: "abcd1234", APISecret: testKey, From: "+447700900000"}, ""),
		"application": with(VonageSettings{ApplicationID: "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", PrivateKey: Secret(fake.PrivateKey()), From: "AcmeShip"}, testCallback),
	}, smsOrder(), smsTexts(vonageMessagesText))
}

// mailTexts are mails of every kind that a service with a JSON API gets.
func mailTexts() map[string]string {
	return map[string]string{
		"text":               `{"subject":"Login","text":"x"}`,
		"html":               `{"subject":"Login","html":"<p>\"x\" & y</p>"}`,
		"both":               `{"subject":"Login","text":"x\n\ny","html":"<p>x</p>"}`,
		"unicode":            `{"subject":"Grüße 👍 שלום","text":"Grüße 👍 שלום","html":"<p>Grüße 👍 שלום</p>"}`,
		"long":               `{"subject":"` + strings.Repeat("s", 900) + `","text":"` + strings.Repeat("0123456789", 10_000) + `"}`,
		"sender":             `{"subject":"Login","text":"x","from":"desk@example.test"}`,
		"sender with a name": `{"subject":"Login","text":"x","from":"desk@example.test","from_name":"Desk, \"Köln\""}`,
		"sender's domain":    `{"subject":"Login","text":"x","from":"desk@bücher.example.test"}`,
		"name alone":         `{"subject":"Login","text":"x","from_name":"Ada (shop)"}`,
		"reply to":           `{"subject":"Login","text":"x","reply_to":"desk@bücher.example.test"}`,
		"headers":            `{"subject":"Login","text":"x","headers":{"X-Order":"A-2291","List-Unsubscribe":"<https://example.test/u>"}}`,
		"everything": `{"subject":"Login","text":"x","html":"<p>x</p>","from":"desk@example.test","from_name":"Desk",` +
			`"reply_to":"help@example.test","headers":{"X-Order":"A-2291"}}`,
	}
}

func sendGridForms(t *testing.T, base string) []requestForm {
	with := func(from, category string) ledger.Provider {
		return build(t, &SendGridSettings{APIKey: testKey, From: from, Category: category}, Common{BaseURL: base, CallbackURL: testCallback})
	}
	texts := mailTexts()
	texts["template"] = `{"template":{"id":"d-0123456789abcdef0123456789abcdef"}}`
	texts["template with variables"] = `{"template":{"id":"d-77","variables":{"name":"Ada","sum":12345678901234567890.10,"lines":[{"a":null}]}}}`
	texts["template with a sender"] = `{"from":"desk@example.test","reply_to":"help@example.test","template":{"id":"d-77"}}`
	adapters := map[string]ledger.Provider{
		"name": with(testSender, "sendonce"), "address alone": with("shop@example.test", strings.Repeat("ü", 255)), "domain": with("shop@bücher.example.test", "x"),
	}
	o := mailOrder("")
	return append(cross(adapters, o, texts), elsewhere(adapters["name"], o)...)
}

func resendForms(t *testing.T, base string) []requestForm {
	with := func(from string) ledger.Provider {
		return build(t, &ResendSettings{APIKey: testKey, From: from}, Common{BaseURL: base, CallbackURL: testCallback, RepeatWindow: resendWindow})
	}
	texts := mailTexts()
	texts["template"] = `{"template":{"id":"welcome"}}`
	texts["template with variables"] = `{"template":{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794","variables":{"NAME":"Ada","SUM":-12.50}}}`
	texts["template with a sender"] = `{"from":"desk@example.test","reply_to":"help@example.test","template":{"id":"welcome"}}`
	adapters := map[string]ledger.Provider{"name": with(testSender), "address alone": with("shop@example.test"), "domain": with("shop@bücher.example.test")}
	o := mailOrder("")
	forms := append(cross(adapters, o, texts), elsewhere(adapters["name"], o)...)
	for _, s := range forms[:len(texts)*len(lives)] { // a repeat sends the first bytes again
		s.order.Kind, s.order.Stored = ledger.KindRepeat, requestOf(t, s).body
		forms = append(forms, requestForm{"repeat of " + s.name, s.adapter, s.order})
	}
	brought := o
	brought.Message, brought.WireKey = []byte(texts["text"]), "shop/2291:~"+strings.Repeat("k", 117) // no tag can hold it
	return append(forms, requestForm{"a key that the caller brought", adapters["name"], brought})
}

// elsewhere are mails to addresses of other forms.
func elsewhere(p ledger.Provider, o ledger.Order) (out []requestForm) {
	o.Message = []byte(`{"subject":"Login","text":"x"}`)
	for _, to := range []string{"Ada+news@Example.test", "ada@bücher.example.test", "a.b'c@mail.example.test"} {
		o.Recipient = to
		out = append(out, requestForm{"to " + to, p, o})
	}
	return out
}
