package providers

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

func TestSMTPSettings_Validate(t *testing.T) {
	good := SMTPSettings{Address: "mail.example.test:587", Username: "u", Password: testKey, From: "Shop <shop@example.test>"}
	for name, c := range map[string]struct {
		change func(*SMTPSettings, *Common)
		field  string // "": none
	}{
		"good":                 {func(*SMTPSettings, *Common) {}, ""},
		"implicit":             {func(s *SMTPSettings, _ *Common) { s.TLS = "implicit" }, ""},
		"465":                  {func(s *SMTPSettings, _ *Common) { s.Address = "mail.example.test:465" }, ""},
		"IPv6":                 {func(s *SMTPSettings, _ *Common) { s.Address = "[2001:db8::1]:587" }, ""},
		"no log-in":            {func(s *SMTPSettings, _ *Common) { s.Username, s.Password = "", "" }, ""},
		"a bare from":          {func(s *SMTPSettings, _ *Common) { s.From = "shop@bücher.example.test" }, ""},
		"hello":                {func(s *SMTPSettings, _ *Common) { s.Hello = "app1.example.test" }, ""},
		"no address":           {func(s *SMTPSettings, _ *Common) { s.Address = "" }, "address"},
		"no port":              {func(s *SMTPSettings, _ *Common) { s.Address = "mail.example.test" }, "address"},
		"a URL":                {func(s *SMTPSettings, _ *Common) { s.Address = "smtp://mail.example.test:587" }, "address"},
		"port 0":               {func(s *SMTPSettings, _ *Common) { s.Address = "mail.example.test:0" }, "address"},
		"no host":              {func(s *SMTPSettings, _ *Common) { s.Address = ":587" }, "address"},
		"a host with a break":  {func(s *SMTPSettings, _ *Common) { s.Address = "mail\r\n:587" }, "address"},
		"TLS unknown":          {func(s *SMTPSettings, _ *Common) { s.TLS = "ssl" }, "tls"},
		"none, public":         {func(s *SMTPSettings, _ *Common) { s.TLS, s.Username, s.Password = "none", "", "" }, "tls"},
		"none, public address": {func(s *SMTPSettings, _ *Common) { *s = SMTPSettings{Address: "8.8.8.8:25", TLS: "none", From: s.From} }, "tls"},
		"none, loopback": {func(s *SMTPSettings, _ *Common) {
			*s = SMTPSettings{Address: "127.0.0.1:25", TLS: "none", From: s.From}
		}, ""},
		"none, private": {func(s *SMTPSettings, _ *Common) {
			*s = SMTPSettings{Address: "[fd00::1]:25", TLS: "none", From: s.From}
		}, ""},
		"none, without a dot": {func(s *SMTPSettings, _ *Common) { *s = SMTPSettings{Address: "postfix:25", TLS: "none", From: s.From} }, ""},
		"none and a password": {func(s *SMTPSettings, _ *Common) { s.Address, s.TLS = "127.0.0.1:25", "none" }, "tls"},
		"user alone":          {func(s *SMTPSettings, _ *Common) { s.Password = "" }, "password"},
		"password alone":      {func(s *SMTPSettings, _ *Common) { s.Username = "" }, "password"},
		"NUL":                 {func(s *SMTPSettings, _ *Common) { s.Password = testKey + "\x00" }, "password"},
		"no from":             {func(s *SMTPSettings, _ *Common) { s.From = "" }, "from"},
		"two froms":           {func(s *SMTPSettings, _ *Common) { s.From = "a@example.test, b@example.test" }, "from"},
		"from is a name":      {func(s *SMTPSettings, _ *Common) { s.From = "Shop" }, "from"},
		"from with a break":   {func(s *SMTPSettings, _ *Common) { s.From = "Shop\r\nBcc: x@example.test <shop@example.test>" }, "from"},
		"quoted local part":   {func(s *SMTPSettings, _ *Common) { s.From = `"a b"@example.test` }, "from"},
		"hello with a blank":  {func(s *SMTPSettings, _ *Common) { s.Hello = "a b" }, "hello"},
		"base URL":            {func(_ *SMTPSettings, c *Common) { c.BaseURL = "https://mail.example.test" }, "base_url"},
		"window":              {func(_ *SMTPSettings, c *Common) { c.RepeatWindow = time.Hour }, "repeat_window"},
	} {
		s, common := good, Common{}
		c.change(&s, &common)
		faults := s.Validate(common)
		if c.field == "" && len(faults) != 0 || c.field != "" && (len(faults) != 1 || faults[0].Field != c.field) {
			t.Errorf("%s: %v, want a fault of %q", name, faults, c.field)
		}
		if strings.Contains(shownBy(faults), testKey) {
			t.Errorf("%s: a fault quotes the password: %v", name, faults)
		}
	}
}

// A name may lead anywhere: what counts for plain text is the address that is really dialled.
func TestSMTP_PlainTextStaysPrivate(t *testing.T) {
	p := build(t, &SMTPSettings{Address: "postfix:25", TLS: tlsNone, From: "shop@example.test"}, Common{}).(*smtp)
	if _, err := p.dial(t.Context(), "tcp", "203.0.113.5:25"); !errors.Is(err, errAddressRefused) {
		t.Errorf("a public address: %v", err)
	}
	reached := make(chan struct{}, 1)
	address := listen(t, func(net.Conn) { reached <- struct{}{} })
	conn, err := p.dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	<-reached
	p.dial = func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: errAddressRefused}
	}
	check(t, mailWith(t, p, time.Minute), unreachable)
}

func TestSMTP_AccountIsServerAndUser(t *testing.T) {
	account := func(address, user, from string) [8]byte {
		s := SMTPSettings{Address: address, Username: user, From: from}
		p, err := s.New("n", Common{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Account()
	}
	first := account("a.example.test:587", "u", "x@example.test")
	if first != account("a.example.test:587", "u", "y@example.test") || first == account("b.example.test:587", "u", "x@example.test") ||
		first == account("a.example.test:587", "v", "x@example.test") {
		t.Error("the account is not server and user name alone")
	}
}

// Templates are refused before a row is made, and so is what no mail can be.
func TestSMTP_Check(t *testing.T) {
	p := newSMTP(t, nil)
	for message, field := range map[string]string{
		testMail:                  "",
		`{"template":{"id":"t"}}`: "message.template",
		`{"subject":"s"}`:         "message.text",
		`{"subject":"s","text":"t","headers":{"X-A":"b\r\nBcc: eve@example.test"}}`:      "message.headers.X-A",
		`{"subject":"s","text":"t","headers":{"Bcc":"eve@example.test"}}`:                "message.headers.Bcc",
		`{"subject":"s","text":"t","from_name":"a\r\nBcc: eve@example.test"}`:            "message.from_name",
		`{"subject":"s","text":"t","from":"a@example.test>\r\nRCPT TO:<b@example.test"}`: "message.from",
	} {
		checkInvalid(t, message, p.Check(ledger.Event{Channel: ledger.Email, Recipient: testMailTo, Message: []byte(message)}), field)
		if r, err := p.Build(smtpOrder(message)); (err != nil) != (field != "") {
			t.Errorf("%s was built into %v, %v", message, r, err)
		}
	}
}

// What the envelope says, and which extensions it needs.
func TestSMTP_Envelope(t *testing.T) {
	const utf8Offer, ada = "SMTPUTF8", "RCPT TO:<ada@customer.example.test>"
	sent := expected{outcome: ledger.Accepted, code: "2.0.0", id: testMailID}
	for name, c := range map[string]struct {
		message, to string
		offers      []string
		mail, rcpt  string // "": nothing is sent
		want        expected
	}{
		"configured from":   {testMail, testMailTo, nil, "MAIL FROM:<shop@example.test>", ada, sent},
		"own from":          {`{"subject":"s","text":"t","from":"Billing@Example.test"}`, testMailTo, nil, "MAIL FROM:<Billing@example.test>", ada, sent},
		"as it was written": {testMail, " Ada.O'Hara+x@Customer.Example.test ", nil, "MAIL FROM:<shop@example.test>", "RCPT TO:<Ada.O'Hara+x@customer.example.test>", sent},
		"IDNA":              {testMail, "ada@bücher.example.test", nil, "MAIL FROM:<shop@example.test>", "RCPT TO:<ada@xn--bcher-kva.example.test>", sent},
		"SMTPUTF8":          {testMail, "jürgen@bücher.example.test", []string{utf8Offer, "8BITMIME"}, "MAIL FROM:<shop@example.test> SMTPUTF8 BODY=8BITMIME", "RCPT TO:<jürgen@xn--bcher-kva.example.test>", sent},
		"SMTPUTF8 in from":  {`{"subject":"s","text":"t","from":"grüße@example.test"}`, testMailTo, []string{utf8Offer}, "MAIL FROM:<grüße@example.test> SMTPUTF8", ada, sent},
		"not offered":       {testMail, "jürgen@example.test", nil, "", "", expected{outcome: ledger.Rejected, code: "smtputf8_not_offered"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &mailServer{offers: c.offers}
				p := newSMTP(t, s)
				o := smtpOrder(c.message)
				o.Recipient = c.to
				r, err := p.Build(o)
				if err != nil {
					t.Fatal(err)
				}
				check(t, p.Send(t.Context(), r), c.want)
				lines, _ := s.received()
				all := strings.Join(lines, "\n")
				if c.mail != "" && !strings.Contains(all, c.mail+"\n"+c.rcpt+"\nDATA\n") || c.mail == "" && strings.Contains(all, "MAIL") {
					t.Errorf("commands\n%s", all)
				}
			})
		})
	}
}

// A refused sender is this message's matter only where the message chose it.
func TestSMTP_RefusedSender(t *testing.T) {
	for message, want := range map[string]expected{
		testMail: {outcome: ledger.Deferred, fault: ledger.FaultAccount, code: "5.7.1"},
		`{"subject":"s","text":"t","from":"Shop@example.test"}`:  {outcome: ledger.Deferred, fault: ledger.FaultAccount, code: "5.7.1"},
		`{"subject":"s","text":"t","from":"other@example.test"}`: {outcome: ledger.Rejected, code: "5.7.1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &mailServer{answer: at("MAIL", says("553 5.7.1 Not yours\r\n"))}
			p := newSMTP(t, s)
			r, err := p.Build(smtpOrder(message))
			if err != nil {
				t.Fatal(err)
			}
			check(t, p.Send(t.Context(), r), want)
			s.running.Wait()
		})
	}
}

// F34: a server may echo anything; what is kept of it has no password in it, and no error names a recipient or a host.
func TestSMTP_NothingPrivateInResults(t *testing.T) {
	p := newSMTP(t, nil, withLogin)
	echo := testKey + " " + string(p.secrets[1]) + " " + string(p.secrets[2])
	for _, step := range []string{"banner", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "dot"} {
		for _, reply := range []string{"550 5.1.1 <" + testMailTo + "> " + echo + "\r\n", "what? " + echo + testMailTo + "\r\n", ""} {
			synctest.Test(t, func(t *testing.T) {
				s := secure()
				s.answer = at(step, func(c net.Conn) bool { return reply != "" && says(reply)(c) })
				r := mailWith(t, newSMTP(t, s, withLogin), 15*time.Second)
				s.running.Wait()
				answer := string(r.Answer)
				r.Answer = nil
				shown := shownBy(r)
				for _, canary := range []string{testKey, string(p.secrets[1]), string(p.secrets[2]), testMailTo, "customer", "mx.example", testText, testMailUser} {
					if strings.Contains(shown, canary) {
						t.Errorf("%s: %q is in %s", step, canary, shown)
					}
				}
				for _, secret := range p.secrets {
					if strings.Contains(answer, string(secret)) {
						t.Errorf("%s: a secret is in the stored answer %q", step, answer)
					}
				}
			})
		}
	}
}

// The same order makes the same bytes, which depend on the row's key and the attempt's time, and on nothing of this machine.
func TestSMTP_BuildIsPure(t *testing.T) {
	p := newSMTP(t, nil)
	message := messageJSON(t, hardMail["both"])
	first, second := builtMail(t, p, message), builtMail(t, p, message)
	if string(first.body) != string(second.body) || first.id != second.id {
		t.Errorf("%s\n%s", first.body, second.body)
	}
	o := smtpOrder(string(message))
	o.WireKey, o.Number, o.ID = "another", 2, "01939c7e-0000-7000-8000-000000000002"
	other, err := p.Build(o)
	if err != nil || other.(*smtpMessage).id == first.id {
		t.Errorf("two rows share the id %s: %v", first.id, err)
	}
	for _, bad := range []string{"", "null", "[]", `"x"`, "{", "{}"} {
		if r, err := p.Build(smtpOrder(bad)); err == nil {
			t.Errorf("built %q from the message %q", r.Body(), bad)
		}
	}
	o = smtpOrder(testMail)
	for _, bad := range []string{"", "ada", "a@b>\r\nDATA", "a b@example.test", "<a@example.test>", "a@example.test\nb"} {
		o.Recipient = bad
		if _, err := p.Build(o); err == nil {
			t.Errorf("built a mail to %q", bad)
		}
	}
}
