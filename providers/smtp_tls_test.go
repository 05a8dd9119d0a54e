package providers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// testTLS is a certificate for mx.example.test and 127.0.0.1, and the pool that trusts it.
var testTLS = sync.OnceValues(func() (*tls.Config, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"mx.example.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
})

func TestSMTP_TLS(t *testing.T) {
	onlyTLS := secure()
	onlyTLS.implicit = true
	elsewhere := func(s *SMTPSettings) { s.Address = "other.example.test:587" }
	for name, c := range map[string]struct {
		server *mailServer
		change func(*SMTPSettings)
		want   expected
		says   string
	}{
		"only TLS, and we wait for its banner": {onlyTLS, func(s *SMTPSettings) { s.TLS = tlsStart }, unreachable, "not sent: banner: "},
		"plain text where TLS should be":       {&mailServer{answer: at("banner", plainly("220 mx ESMTP\r\n"))}, func(s *SMTPSettings) { s.Address, s.TLS = "mx.example.test:465", "" }, unreachable, "not sent: connecting: TLS: the peer does not speak it"},
		"STARTTLS is stripped":                 {&mailServer{}, func(s *SMTPSettings) { s.TLS = tlsStart }, strange, "not sent: STARTTLS: the server does not offer STARTTLS"},
		"STARTTLS only after HELO": {&mailServer{answer: only("EHLO", says("502 no\r\n"))}, func(s *SMTPSettings) { s.TLS = tlsStart }, strange,
			"not sent: STARTTLS: the server does not offer STARTTLS"},
		"STARTTLS with a reply injected": {&mailServer{tls: onlyTLS.tls, answer: at("STARTTLS", says("220 Go\r\n250-mx\r\n250 AUTH PLAIN\r\n"))}, withLogin, strange,
			"not sent: STARTTLS: the server speaks before it is asked"},
		"STARTTLS and then plain text": {&mailServer{tls: onlyTLS.tls, answer: at("STARTTLS", func(c net.Conn) bool {
			return says("220 Go\r\n")(c) && plainly("250 hello\r\n")(c)
		})}, withLogin, unreachable, "not sent: STARTTLS: TLS: the peer does not speak it"},
		"another name": {secure(), elsewhere, unreachable, "not sent: STARTTLS: TLS: certificate for another name"},
		"an unknown authority": {secure(), func(s *SMTPSettings) { s.roots = nil }, unreachable,
			"not sent: STARTTLS: TLS: certificate of an unknown authority"},
		"no AUTH":       {&mailServer{tls: onlyTLS.tls}, withLogin, expected{outcome: ledger.Deferred, fault: ledger.FaultCredentials}, "not sent: AUTH: the server offers neither AUTH PLAIN nor AUTH LOGIN"},
		"only CRAM-MD5": {&mailServer{tls: onlyTLS.tls, offers: []string{"AUTH CRAM-MD5 XOAUTH2"}}, withLogin, expected{outcome: ledger.Deferred, fault: ledger.FaultCredentials}, "not sent: AUTH: "},
		"AUTH without end": {&mailServer{tls: onlyTLS.tls, offers: []string{"AUTH LOGIN"}, answer: func(step, _ string) act {
			if step == "AUTH" || step == "response" {
				return says("334 \r\n")
			}
			return nil
		}}, withLogin, strange, "an odd reply at AUTH"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := mailWith(t, newSMTP(t, c.server, c.change), 15*time.Second)
				check(t, r, c.want)
				lines, messages := c.server.received()
				if !strings.HasPrefix(r.Error, c.says) || len(messages) != 0 {
					t.Errorf("error %q, want %q; %d messages", r.Error, c.says, len(messages))
				}
				for _, l := range lines {
					if strings.Contains(l, "AUTH PLAIN") || strings.HasPrefix(l, "MAIL") {
						t.Errorf("%q was sent", l)
					}
				}
			})
		})
	}
}
