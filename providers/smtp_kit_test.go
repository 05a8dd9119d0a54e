package providers

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

const (
	testMailUser = "shop-user"
	testMail     = `{"subject":"Order A-2291","text":"OTP 424242\n"}`
	testMailTo   = "ada@customer.example.test"
	testMailID   = "f42adfe95624f8f8a0903e6ad2b82dd98ee54e98@example.test" // of testWire
)

// mailServer plays a mail server that takes everything, but for what answer does in place of a reply.
type mailServer struct {
	tls      *tls.Config // nil: it has none
	implicit bool
	offers   []string                    // beside STARTTLS
	answer   func(step, line string) act // nil, or a nil act: the usual reply

	running  sync.WaitGroup
	mu       sync.Mutex
	conns    int
	lines    []string
	messages []string // as they came, dots doubled, without the last line
}

func (s *mailServer) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	s.running.Go(func() { s.serve(server) })
	return client, nil
}

func (s *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	s.mu.Lock()
	s.conns++
	s.mu.Unlock()
	if s.implicit {
		conn = tls.Server(conn, s.tls)
	}
	if !s.step(conn, "banner", "") {
		return
	}
	r := bufio.NewReader(conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\r\n")
		s.mu.Lock()
		s.lines = append(s.lines, line)
		s.mu.Unlock()
		step, _, _ := strings.Cut(line, " ")
		switch step {
		case "EHLO", "HELO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "QUIT":
		default:
			step = "response" // to a 334
		}
		if !s.step(conn, step, line) || step == "QUIT" {
			return
		}
		if step == "STARTTLS" {
			conn = tls.Server(conn, s.tls)
			r = bufio.NewReader(conn)
		}
		if step == "DATA" && (!s.body(r) || !s.step(conn, "dot", "")) {
			return
		}
	}
}

// body reads up to the line with the dot.
func (s *mailServer) body(r *bufio.Reader) bool {
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		b.WriteString(line)
	}
	s.mu.Lock()
	s.messages = append(s.messages, b.String())
	s.mu.Unlock()
	return true
}

func (s *mailServer) step(conn net.Conn, step, line string) bool {
	if s.answer != nil {
		if a := s.answer(step, line); a != nil {
			return a(conn)
		}
	}
	return says(s.usual(conn, step, line))(conn)
}

// usual is the reply of a server that works.
func (s *mailServer) usual(conn net.Conn, step, line string) string {
	switch step {
	case "banner":
		return "220 mx.example.test ESMTP\r\n"
	case "EHLO":
		reply := "250-mx.example.test\r\n"
		for _, o := range s.offers {
			reply += "250-" + o + "\r\n"
		}
		if _, secure := conn.(*tls.Conn); s.tls != nil && !secure {
			reply += "250-STARTTLS\r\n"
		}
		return reply + "250 HELP\r\n"
	case "STARTTLS":
		return "220 2.0.0 Ready\r\n"
	case "AUTH":
		if line == "AUTH LOGIN" {
			return "334 VXNlcm5hbWU6\r\n"
		}
		return "235 2.7.0 Welcome\r\n"
	case "response":
		return "235 2.7.0 Welcome\r\n"
	case "DATA":
		return "354 Go on\r\n"
	case "dot":
		return "250 2.0.0 Ok: queued as 4XyZ\r\n"
	}
	return "250 2.1.0 Ok\r\n"
}

// received waits until the server is done, and returns the lines and the messages that came.
func (s *mailServer) received() (lines []string, messages []string) {
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines, s.messages
}

// newSMTP makes an adapter that reaches s: in plain text where s has no TLS.
func newSMTP(t *testing.T, s *mailServer, change ...func(*SMTPSettings)) *smtp {
	t.Helper()
	settings := SMTPSettings{Address: "mx.example.test:587", From: "Shop <shop@example.test>"}
	_, settings.roots = testTLS()
	if s != nil && s.tls == nil {
		settings.Address, settings.TLS = "127.0.0.1:25", tlsNone
	}
	if s != nil && s.implicit {
		settings.TLS = tlsImplicit
	}
	for _, c := range change {
		c(&settings)
	}
	var common Common
	if s != nil {
		common.Dial = s.dial
	}
	return build(t, &settings, common).(*smtp)
}

func withLogin(s *SMTPSettings) { s.Username, s.Password = testMailUser, testKey }

func smtpOrder(message string) ledger.Order {
	return ledger.Order{
		ID: "01939c7e-0000-7000-8000-000000000001", Number: 1, Kind: ledger.KindSend, WireKey: testWire, Channel: ledger.Email,
		Recipient: testMailTo, Message: []byte(message), ClaimedAt: testTime, At: testTime,
	}
}

// mailWith sends one message within a time-out, as the loop would.
func mailWith(t *testing.T, p *smtp, timeout time.Duration) ledger.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout+p.Patience())
	defer cancel()
	r, err := p.Build(smtpOrder(testMail))
	if err != nil {
		t.Fatal(err)
	}
	result := p.Send(ctx, r)
	checkForm(t, result)
	return result
}
