package providers

import (
	"cmp"
	"context"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"sendonce/fake"
	"sendonce/ledger"
)

const (
	testKey    = "SECRETCANARY1"
	testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	testNumber = "+15550100009"
	testText   = "OTP 424242"
	testSender = "Shop <shop@example.test>"

	testAccountSID = "AC00000000000000000000000000000000"

	testAddress = "ada@example.test"
	testDevice  = "dCanary0:APA91bCanary"
	testWire    = "6f1c9d2a4b8e0357af126f1c9d2a4b8e0357af12"
)

var testTime = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

// kit is what a case needs to run on any adapter. A new adapter is done when it stands in kits and every case passes.
type kit struct {
	name    string // the fixtures' folder
	kind    string // the type; "": the name
	make    func(t *testing.T, c Common) ledger.Provider
	order   func(base string) ledger.Order
	read    func(*exchange) ledger.Result
	base    string // for cases that use a pipe
	yes     answer // that is accepted
	keyless bool   // no wire key: nothing is repeated, and no connection is shared
}

// answer is a status with a body.
type answer struct {
	status int
	body   string
}

// raw is the answer as bytes.
func (a answer) raw() string {
	return "HTTP/1.1 " + itoa(a.status) + " Said\r\nContent-Length: " + itoa(len(a.body)) + "\r\n\r\n" + a.body
}

// wants picks what a case expects of the kit's adapter; "" stands for all that are not named.
func (k kit) wants(by map[string]expected) expected {
	if e, ok := by[k.name]; ok {
		return e
	}
	return by[""]
}

// kits are the adapters over HTTP.
var kits = []kit{
	{
		name: "infrai", base: "http://127.0.0.1", read: readInfrai,
		yes: answer{200, `{"ok":true,"data":{"results":[{"message_id":"msg_1"}]}}`},
		make: func(t *testing.T, c Common) ledger.Provider {
			return build(t, &InfraiSettings{APIKey: testKey, From: "AcmeShip"}, c)
		},
		order: orderSMS,
	},
	{
		name: "twilio", base: "http://127.0.0.1", keyless: true, yes: answer{201, `{"sid":"SM1","status":"queued"}`}, read: readTwilio, order: orderSMS,
		make: func(t *testing.T, c Common) ledger.Provider {
			c.RepeatWindow = 0
			return build(t, &TwilioSettings{AccountSID: testAccountSID, AuthToken: testKey, From: "+15005550006"}, c)
		},
	},
	{
		name: "vonage", base: "http://127.0.0.1", keyless: true, read: readVonageSMS, order: orderSMS,
		yes: answer{200, `{"message-count":"1","messages":[{"message-id":"m1","status":"0"}]}`},
		make: func(t *testing.T, c Common) ledger.Provider {
			c.RepeatWindow = 0
			return build(t, &VonageSettings{API: "sms", APIKey: "abcd1234", APISecret: testKey, From: "AcmeShip"}, c)
		},
	},
	{
		name: "vonage_messages", kind: "vonage", base: "http://127.0.0.1", keyless: true, yes: answer{202, `{"message_uuid":"u1"}`}, read: readVonageMessages, order: orderSMS,
		make: func(t *testing.T, c Common) ledger.Provider {
			c.RepeatWindow = 0
			return build(t, &VonageSettings{API: "messages", APIKey: "abcd1234", APISecret: testKey, From: "AcmeShip"}, c)
		},
	},
	{
		name: "webhook", base: "https://crm.example.test", read: readWebhook, yes: answer{200, ""},
		make: func(t *testing.T, c Common) ledger.Provider {
			c.BaseURL = ""
			s := &WebhookSettings{
				Secret: testSecret, URLs: []string{"https://", "http://"}, AllowPrivate: []string{"127.0.0.0/8"}, Dedupes: c.RepeatWindow > 0,
			}
			return build(t, s, c)
		},
		order: func(base string) ledger.Order {
			return ledger.Order{Channel: ledger.Webhook, Recipient: base + "/hook/x", Message: []byte(`{"data":{"otp":"` + testText + `"}}`)}
		},
	},
	{
		name: "sendgrid", base: "http://127.0.0.1", keyless: true, yes: answer{202, ""}, order: orderMail,
		read: readSendGrid,
		make: func(t *testing.T, c Common) ledger.Provider {
			c.RepeatWindow = 0
			return build(t, &SendGridSettings{APIKey: testKey, From: testSender, Category: "sendonce"}, c)
		},
	},
	{
		name: "resend", base: "http://127.0.0.1", yes: answer{200, `{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}`}, order: orderMail,
		read: readResend,
		make: func(t *testing.T, c Common) ledger.Provider {
			return build(t, &ResendSettings{APIKey: testKey, From: testSender}, c)
		},
	},
	{
		name: "fcm", base: "http://127.0.0.1", keyless: true, yes: answer{200, `{"name":"projects/shop-1/messages/0:1"}`}, read: readFCM,
		make: func(t *testing.T, c Common) ledger.Provider {
			c.RepeatWindow = 0
			p := build(t, &FCMSettings{Credentials: Secret(fake.ServiceAccount(c.BaseURL + fake.TokenPath))}, c).(*fcm)
			p.tokens.token = &oauth2.Token{AccessToken: testKey} // its fetch has tests of its own
			return p
		},
		order: func(string) ledger.Order {
			return ledger.Order{Channel: ledger.Push, Recipient: testDevice, Message: []byte(`{"title":"Login","body":"` + testText + `"}`)}
		},
	},
}

func orderSMS(string) ledger.Order {
	return ledger.Order{Channel: ledger.SMS, Recipient: testNumber, Message: []byte(`{"text":"` + testText + `"}`)}
}

func orderMail(string) ledger.Order {
	return ledger.Order{Channel: ledger.Email, Recipient: testAddress, Message: []byte(`{"subject":"Login","text":"` + testText + `"}`)}
}

// shares reports whether a connection carries several requests: where a wire key settles what breaks with one. A webhook's
// answers have no id, so that a late one could be taken for the next request's.
func (k kit) shares() bool { return !k.keyless && k.name != "webhook" }

// contentType is the form of the kit's requests.
func (k kit) contentType() string {
	if k.name == "twilio" || k.name == "vonage" {
		return "application/x-www-form-urlencoded"
	}
	return "application/json"
}

// typeName is the name in Types.
func (k kit) typeName() string { return cmp.Or(k.kind, k.name) }

// eachProvider runs a case on every adapter.
func eachProvider(t *testing.T, run func(t *testing.T, k kit)) {
	for _, k := range kits {
		t.Run(k.name, func(t *testing.T) { run(t, k) })
	}
}

func build(t *testing.T, s Settings, c Common) ledger.Provider {
	t.Helper()
	if faults := s.Validate(c); len(faults) > 0 {
		t.Fatalf("faults in the settings: %v", faults)
	}
	p, err := s.New("test", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIdle(p) })
	return p
}

func closeIdle(p ledger.Provider) {
	switch p := p.(type) {
	case *infrai:
		p.sender.transport.CloseIdleConnections()
	case *twilio:
		p.sender.transport.CloseIdleConnections()
	case *vonageSMS:
		p.sender.transport.CloseIdleConnections()
	case *vonageMessages:
		p.sender.transport.CloseIdleConnections()
	case *sendGrid:
		p.sender.transport.CloseIdleConnections()
	case *resend:
		p.sender.transport.CloseIdleConnections()
	case *fcm:
		p.sender.transport.CloseIdleConnections()
	case *webhook:
		for _, s := range p.senders {
			s.transport.CloseIdleConnections()
		}
	}
}

// request builds the kit's order against a base URL.
func (k kit) request(t *testing.T, p ledger.Provider, base string) ledger.Request {
	t.Helper()
	o := k.order(base)
	o.ID, o.Number, o.Kind, o.WireKey = "01939c7e-0000-7000-8000-000000000001", 1, ledger.KindSend, testWire
	o.ClaimedAt, o.At = testTime, testTime
	r, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// send hands one message to a server at base.
func (k kit) send(t *testing.T, c Common, base string) ledger.Result {
	t.Helper()
	c.BaseURL = base
	p := k.make(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return p.Send(ctx, k.request(t, p, base))
}
