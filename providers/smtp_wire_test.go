package providers

import (
	"context"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// Mails go through a real server, by STARTTLS with AUTH PLAIN and by TLS from the first byte with AUTH LOGIN, and come out as
// they were ordered, byte for byte.
func TestWire_SMTPMailsComeOutByteForByte(t *testing.T) {
	arrived := make(chan string, 2*len(hardMail))
	sink := &mailServer{offers: []string{"8BITMIME", "SMTPUTF8"}}
	address := listen(t, func(c net.Conn) {
		s := &mailServer{offers: sink.offers}
		s.serve(c)
		for _, m := range s.messages {
			arrived <- strings.ReplaceAll("\n"+m, "\n.", "\n")[1:]
		}
	})
	_, port, _ := net.SplitHostPort(address)
	p := startPostfix(t, port)
	want := map[string][]byte{}
	for _, way := range []struct {
		name, address, tls string
	}{{"starttls", p.startTLS, tlsStart}, {"implicit", p.implicit, tlsImplicit}} {
		adapter := wireAdapter(t, way.address, way.tls)
		for name, m := range hardMail {
			o := smtpOrder(string(messageJSON(t, m)))
			o.WireKey = way.name + name
			if name == "umlauts" {
				o.Recipient = "jürgen@bücher.example.test"
			}
			r, sent := wireSend(t, adapter, o, 30*time.Second)
			if r.Outcome != ledger.Accepted || r.Code != "2.0.0" || !strings.Contains(string(r.Answer), "queued as") {
				t.Fatalf("%s: %+v %s", name, r, r.Answer)
			}
			want[r.MessageIDs[0]] = sent.Body()
		}
	}
	for range len(want) {
		select {
		case raw := <-arrived:
			got := parseMail(t, []byte(raw))
			sent, ok := want[got.id]
			delete(want, got.id)
			if !ok || !strings.HasSuffix(raw, string(sent)) || !strings.HasPrefix(raw, "Received: ") {
				t.Errorf("this came out:\n%s\nand this went in:\n%s", raw, sent)
			}
			ordered := parseMail(t, sent)
			if got.text != ordered.text || got.html != ordered.html || got.subject != ordered.subject || got.fromName != ordered.fromName {
				t.Errorf("read as %+v, want %+v", got, ordered)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%d mails did not come out", len(want))
		}
	}
}

func wireAdapter(t *testing.T, address, protection string) *smtp {
	t.Helper()
	s := SMTPSettings{Address: address, TLS: protection, Username: testMailUser, Password: testKey, From: "Shop <shop@example.test>"}
	_, s.roots = testTLS()
	return build(t, &s, Common{}).(*smtp)
}

func wireSend(t *testing.T, p *smtp, o ledger.Order, timeout time.Duration) (ledger.Result, ledger.Request) {
	t.Helper()
	r, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout+p.Patience())
	defer cancel()
	result := p.Send(ctx, r)
	checkForm(t, result)
	return result, r
}

// What a real server refuses, in its own words.
func TestWire_SMTPRefusals(t *testing.T) {
	p := startPostfix(t, "9")
	good := wireAdapter(t, p.startTLS, tlsStart)
	wrong := wireAdapter(t, p.startTLS, tlsStart)
	wrong.settings.Password = "wrong"
	nobody := wireAdapter(t, p.startTLS, tlsStart)
	nobody.settings.Username = ""
	deaf := wireAdapter(t, p.implicit, tlsStart) // waits for a banner that comes only over TLS
	untrusting := wireAdapter(t, p.implicit, tlsImplicit)
	untrusting.tls.RootCAs = x509.NewCertPool()
	for name, c := range map[string]struct {
		adapter *smtp
		to      string
		message string
		want    expected
	}{
		"nobody there":      {good, "gone@customer.example.test", testMail, expected{outcome: ledger.Rejected, code: "5.1.1"}},
		"not now":           {good, "later@customer.example.test", testMail, expected{outcome: ledger.Deferred, code: "4.2.1"}},
		"closing":           {good, "all@customer.example.test", testMail, expected{outcome: ledger.Deferred, fault: ledger.FaultThrottled, code: "4.3.2"}},
		"too large":         {good, testMailTo, `{"subject":"s","text":"` + strings.Repeat("0123456789", 20_100) + `"}`, expected{outcome: ledger.Rejected, code: "5.3.4"}},
		"another's address": {good, testMailTo, `{"subject":"s","text":"t","from":"stranger@example.test"}`, expected{outcome: ledger.Rejected, code: "5.7.1"}},
		"wrong password":    {wrong, testMailTo, testMail, expected{outcome: ledger.Deferred, fault: ledger.FaultCredentials, code: "5.7.8"}},
		"no log-in":         {nobody, testMailTo, testMail, expected{outcome: ledger.Rejected, code: "5.7.1"}},
		"unknown authority": {untrusting, testMailTo, testMail, unreachable},
		"speaks only TLS":   {deaf, testMailTo, testMail, unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			o := smtpOrder(c.message)
			o.Recipient = c.to
			timeout := 30 * time.Second
			if c.adapter == deaf {
				timeout = time.Second
			}
			r, _ := wireSend(t, c.adapter, o, timeout)
			check(t, r, c.want)
		})
	}
}
