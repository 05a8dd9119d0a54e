package providers

import (
	"strings"
	"testing"

	"sendonce/ledger"
)

const mailID = "01939c7e-0000-7000-8000-000000000001"

func mailOrder(message string) ledger.Order {
	return ledger.Order{
		ID: mailID, Number: 2, Kind: ledger.KindSend, WireKey: testWire, Channel: ledger.Email, Recipient: " Ada@Example.test ",
		Message: []byte(message), ClaimedAt: testTime, At: testTime,
	}
}

func TestSendGrid_Body(t *testing.T) {
	p := build(t, &SendGridSettings{APIKey: testKey, From: testSender, Category: "shop"}, Common{BaseURL: "https://api.eu.sendgrid.test/"})
	const envelope = `"personalizations":[{"custom_args":{"dedupe_key":"` + testWire + `","reference":"` + mailID + `-2"},`
	cases := []struct{ message, want string }{
		{
			`{"subject":"Grüße <1> & 👍","html":"<p>\"x\"</p>","text":"x\n\ny","reply_to":"desk@example.test","headers":{"X-Order":"A-1"}}`,
			`{"categories":["shop"],"content":[{"type":"text/plain","value":"x\n\ny"},{"type":"text/html","value":"<p>\"x\"</p>"}],` +
				`"from":{"email":"shop@example.test","name":"Shop"},"headers":{"X-Order":"A-1"},` + envelope +
				`"to":[{"email":"Ada@example.test"}]}],"reply_to":{"email":"desk@example.test"},"subject":"Grüße <1> & 👍"}`,
		},
		{
			`{"from":"desk@example.test","template":{"id":"d-77","variables":{"name":"Ada","sum":12345678901234567890.10,"lines":[{"a":null}]}}}`,
			`{"categories":["shop"],"from":{"email":"desk@example.test"},` + envelope +
				`"dynamic_template_data":{"name":"Ada","sum":12345678901234567890.10,"lines":[{"a":null}]},` +
				`"to":[{"email":"Ada@example.test"}]}],"template_id":"d-77"}`,
		},
	}
	for _, c := range cases {
		r, err := p.Build(mailOrder(c.message))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(string(r.Body()), "\n"); got != c.want {
			t.Errorf("body %s\nwant %s", got, c.want)
		}
		req := r.(*request)
		if req.url != "https://api.eu.sendgrid.test/v3/mail/send" || req.header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("%s with %v", req.url, req.header)
		}
		for name := range req.header {
			if strings.Contains(strings.ToLower(name), "idempotency") {
				t.Errorf("SendGrid honours no key, and %s is sent", name)
			}
		}
	}
}

func TestSendGrid_Check(t *testing.T) {
	p := build(t, &SendGridSettings{APIKey: testKey, From: testSender, Category: "shop"}, Common{}).(*sendGrid)
	for message, field := range map[string]string{
		`{"subject":"s","text":"t"}`:                                    "",
		`{"template":{"id":"d-1","variables":{"a":{"b":[1]}}}}`:         "",
		`{"template":{"id":"f2c4"}}`:                                    "message.template.id",
		`{"subject":"s","text":"t","from":"größe@example.test"}`:        "message.from",
		`{"subject":"s","text":"t","from":"desk@größe.example.test"}`:   "",
		`{"subject":"s","text":"t","reply_to":"größe@example.test"}`:    "",
		`{"subject":"s","text":"t","template":{"id":"d-1"}}`:            "message.subject",
		`{"subject":"s","text":"t","headers":{"DKIM-Signature":"v=1"}}`: "message.headers.DKIM-Signature",
	} {
		err := p.Check(ledger.Event{Channel: ledger.Email, Recipient: testAddress, Message: []byte(message)})
		if field == "message.subject" { // text beside a template is refused too
			if err == nil {
				t.Errorf("%s passed", message)
			}
			continue
		}
		checkInvalid(t, message, err, field)
	}
}

// The headers that SendGrid keeps to itself (description of personalizations[].headers in its OpenAPI document).
func TestSendGrid_ReservedHeadersAreRefused(t *testing.T) {
	p := build(t, &SendGridSettings{APIKey: testKey, From: testSender, Category: "shop"}, Common{}).(*sendGrid)
	for _, name := range strings.Fields("x-sg-id x-sg-eid received dkim-signature Content-Type Content-Transfer-Encoding To From Subject Reply-To CC BCC") {
		message := `{"subject":"s","text":"t","headers":{"` + name + `":"x"}}`
		err := p.Check(ledger.Event{Channel: ledger.Email, Recipient: testAddress, Message: []byte(message)})
		checkInvalid(t, name, err, "message.headers."+name)
	}
}

// F22: SendGrid's yes has an empty body, and its errors may be empty or HTML. The status decides, the body is kept as it came.
func TestSendGrid_F22_TheStatusAloneDecides(t *testing.T) {
	k := kitNamed(t, "sendgrid")
	for name, c := range map[string]struct {
		raw  string
		want expected
		body string
	}{
		"202":         {"HTTP/1.1 202 Accepted\r\nX-Message-Id: m1\r\nContent-Length: 0\r\n\r\n", expected{outcome: ledger.Accepted, id: "m1"}, ""},
		"without id":  {"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", expected{outcome: ledger.Accepted}, ""},
		"with HTML":   {"HTTP/1.1 202 Accepted\r\nX-Message-Id: m1\r\nContent-Length: 6\r\n\r\n<html>", expected{outcome: ledger.Accepted, id: "m1"}, "<html>"},
		"HTML, no id": {"HTTP/1.1 202 Accepted\r\nContent-Length: 6\r\n\r\n<html>", expected{outcome: ledger.Accepted}, "<html>"},
		"of a portal": {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", expected{reason: ledger.ReasonUnreadableAnswer}, "<html>"},
		"204":         {"HTTP/1.1 204 No Content\r\n\r\n", expected{outcome: ledger.Accepted}, ""},
		"400 empty":   {"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n", expected{outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply}, ""},
		"413 in HTML": {"HTTP/1.1 413 Large\r\nContent-Length: 6\r\n\r\n<html>", expected{outcome: ledger.Rejected}, "<html>"},
		"a long body": {
			"HTTP/1.1 400 Bad\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100000),
			expected{outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply}, strings.Repeat("x", ledger.MaxAnswerBytes),
		},
	} {
		seen := make(chan served, 8)
		r := k.send(t, Common{Dial: pipe(seen, []byte(c.raw))}, k.base)
		check(t, r, c.want)
		if len(seen) != 1 || string(r.Answer) != c.body {
			t.Errorf("%s: %d requests, kept %d bytes: %.20q", name, len(seen), len(r.Answer), r.Answer)
		}
	}
}

// A sender that the message chose is its own matter; the configured one refused would refuse every message.
func TestMail_RefusedSender(t *testing.T) {
	answers := map[string]string{
		"sendgrid": `{"errors":[{"message":"The from address does not match a verified Sender Identity.","field":"from","help":null}]}`,
		"resend":   `{"statusCode":403,"name":"validation_error","message":"The example.test domain is not verified."}`,
	}
	for name, body := range answers {
		k := kitNamed(t, name)
		for from, want := range map[string]expected{
			``:                              {outcome: ledger.Deferred, fault: ledger.FaultAccount},
			`,"from":"Shop@example.test"`:   {outcome: ledger.Deferred, fault: ledger.FaultAccount},
			`,"from":"desk@example.test"`:   {outcome: ledger.Rejected},
			`,"from_name":"The other shop"`: {outcome: ledger.Deferred, fault: ledger.FaultAccount},
		} {
			for _, stored := range [][]byte{nil, []byte("{}")} {
				if stored != nil && k.keyless {
					continue
				}
				p := k.make(t, Common{BaseURL: k.base, Dial: pipe(make(chan served, 1), []byte(answer{403, body}.raw()))})
				o := mailOrder(`{"subject":"s","text":"t"` + from + `}`)
				o.Stored = stored
				r, err := p.Build(o)
				if err != nil {
					t.Fatal(err)
				}
				got := p.Send(t.Context(), r)
				want.code = got.Code
				check(t, got, want)
			}
		}
	}
}

// kitNamed returns one kit.
func kitNamed(t *testing.T, name string) kit {
	t.Helper()
	for _, k := range kits {
		if k.name == name {
			return k
		}
	}
	t.Fatalf("no kit %s", name)
	return kit{}
}
