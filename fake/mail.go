package fake

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// maxLine is the longest line of a mail that the fake reads, in bytes.
const maxLine = 64 << 10

// ListenSMTP serves as a mail server in plain text on a TCP address and returns the address.
func (p *Provider) ListenSMTP(address string) (string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("fake mail server: %w", err)
	}
	p.ServeSMTP(listener)
	return listener.Addr().String(), nil
}

// ServeSMTP serves as a mail server in plain text on a listener until Close. The token of a mail stands in the
// name of its recipient, so that a behaviour can be chosen before the mail itself comes, and in its text, where it is counted.
//
// A refusal answers RCPT TO, Unavailable answers the end of the mail with 421, AcceptError closes the connection in order in
// place of an answer to it. Each mail has a connection of its own, or AcceptDrop strikes.
func (p *Provider) ServeSMTP(listener net.Listener) {
	p.mu.Lock()
	p.closers = append(p.closers, listener)
	p.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go p.serveMail(conn)
		}
	}()
}

// mailRefusals answer RCPT TO.
var mailRefusals = map[Behaviour]string{
	Throttle:     "421 4.3.2 System not accepting messages",
	Unauthorized: "530 5.7.0 Authentication required",
	NoCredit:     "530 5.7.0 Authentication required",
	Refuse:       "550 5.1.1 No such user",
	Defer:        "451 4.7.1 Greylisted, come back",
}

// mailTalk is one connection to the mail server.
type mailTalk struct {
	p     *Provider
	conn  net.Conn
	lines *bufio.Scanner
	call  call
	mails int
}

func (p *Provider) serveMail(conn net.Conn) {
	m := mailTalk{p: p, conn: conn, lines: bufio.NewScanner(conn)}
	m.lines.Buffer(nil, maxLine)
	gone := make(chan struct{})
	defer close(gone)
	defer func() { _ = conn.Close() }()
	go func() {
		select {
		case <-p.closed:
			_ = conn.Close()
		case <-gone:
		}
	}()
	m.say("220 mx.fake.test ESMTP")
	for m.lines.Scan() && m.command(m.lines.Text()) {
	}
}

func (m *mailTalk) say(line string) { _, _ = io.WriteString(m.conn, line+"\r\n") }

// command answers one command; false: the connection ends.
func (m *mailTalk) command(line string) bool {
	verb, rest, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO":
		m.say("250-mx.fake.test\r\n250-8BITMIME\r\n250 SMTPUTF8")
	case "RCPT":
		return m.recipient(rest)
	case "DATA":
		m.say("354 End with a dot")
		return m.mail()
	case "QUIT":
		m.say("221 2.0.0 Bye")
		return false
	default:
		m.say("250 2.0.0 Ok")
	}
	return true
}

// recipient chooses what becomes of the mail.
func (m *mailTalk) recipient(address string) bool {
	m.call = call{kind: "mail", Request: Request{Path: "smtp"}}
	m.p.mu.Lock()
	m.p.requests++
	m.call.N = m.p.requests
	m.call.Token = m.p.options.Token.FindString(address)
	m.call.Behaviour = m.p.choose(m.call.Token)
	m.p.mu.Unlock()
	if no, ok := mailRefusals[m.call.Behaviour]; ok {
		m.seen()
		m.say(no)
		return true
	}
	m.say("250 2.1.5 Ok")
	return true
}

func (m *mailTalk) seen() {
	if m.p.options.OnRequest != nil {
		m.p.options.OnRequest(m.call.Request)
	}
}

// mail reads a mail to its end and does with it what was chosen.
func (m *mailTalk) mail() bool {
	var text strings.Builder
	for {
		if !m.lines.Scan() {
			return false // not read whole: it was never a mail
		}
		if m.lines.Text() == "." {
			break
		}
		text.WriteString(m.lines.Text() + "\r\n")
	}
	m.mails++
	_, body, _ := strings.Cut(text.String(), "\r\n\r\n")
	m.call.Body, m.call.texts = []byte(text.String()), []string{body}
	if m.call.Behaviour.Accepts() {
		m.p.mu.Lock()
		m.p.sendOut(&m.call)
		m.p.mu.Unlock()
	}
	m.seen()
	return m.end()
}

// end answers the end of a mail; false: the connection ends.
func (m *mailTalk) end() bool {
	switch m.call.Behaviour {
	case AcceptSlow:
		if !came(m.p, time.After(m.p.options.Slow)) {
			return false
		}
	case AcceptHang:
		m.p.mu.Lock()
		released := m.p.released
		m.p.mu.Unlock()
		if !came(m.p, released) {
			return false
		}
	case AcceptReset:
		reset(m.conn)
		return false
	case AcceptError, Lose:
		return false
	case AcceptDrop:
		if m.mails > 1 {
			return false
		}
	case AcceptGarbage:
		m.say("\x00\x1f<<no reply>>")
		return true
	case AcceptCut:
		_, _ = io.WriteString(m.conn, "25")
		return false
	case AcceptTwice:
		m.say("250 2.0.0 Ok: queued as " + m.call.ids[0])
	case Unavailable:
		m.say("421 4.3.2 Closing")
		return false
	}
	m.say("250 2.0.0 Ok: queued as " + m.call.ids[0])
	return true
}

// came waits for a signal; false: the fake was closed first.
func came[T any](p *Provider, signal <-chan T) bool {
	select {
	case <-signal:
		return true
	case <-p.closed:
		return false
	}
}
