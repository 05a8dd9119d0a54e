package providers

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/textproto"
	"os"
	"strings"
	"time"

	"sendonce/ledger"
)

// The longest waits. Those from the banner on are RFC 5321 section 4.5.3.2. All but the last also end with the attempt's
// time-out. The wait for the reply to the dot has its own time, since whoever gives up earlier makes an unknown of a message
// that the server has.
const (
	connectTime = 30 * time.Second
	tlsTime     = time.Minute // for the handshake
	commandTime = 5 * time.Minute
	dataTime    = 2 * time.Minute // for the 354
	blockTime   = 3 * time.Minute // for each write
	dotTime     = 10 * time.Minute
	wordTime    = 5 * time.Second  // for what a server may have said before it stopped to read
	lookTime    = time.Millisecond // for what has already come
	quitTime    = time.Second
)

// smtpDialogue is one connection to a mail server: one command, one reply. It knows nothing of what they mean.
type smtpDialogue struct {
	ctx    context.Context // ends everything at once
	until  time.Time       // all but the dot has to be done by then; zero: no such time
	raw    net.Conn        // nil: not connected
	conn   net.Conn        // raw, or TLS over it
	r      *bufio.Reader
	w      *bufio.Writer
	stop   func() bool // no longer close raw when ctx is done
	even   bool        // each command has its reply
	offers map[string]string
}

// connect opens the connection.
func (d *smtpDialogue) connect(dial DialFunc, address string) error {
	ctx, cancel := context.WithDeadline(d.ctx, d.by(connectTime))
	defer cancel()
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	d.raw = conn
	d.stop = context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	d.use(conn)
	return nil
}

// use goes on over conn. What came before is forgotten.
func (d *smtpDialogue) use(conn net.Conn) {
	d.conn, d.offers = conn, nil
	d.r = bufio.NewReaderSize(conn, maxReplyLine)
	d.w = bufio.NewWriterSize(blocks{d}, 16<<10)
}

// encrypt puts TLS under the dialogue. Bytes that came before the handshake are no part of it: were they read later, somebody
// on the line could speak for the server (RFC 3207 section 6).
func (d *smtpDialogue) encrypt(config *tls.Config) error {
	if d.r.Buffered() > 0 {
		return errUnasked
	}
	if err := d.raw.SetDeadline(d.by(tlsTime)); err != nil {
		return d.why(err)
	}
	conn := tls.Client(d.raw, config)
	if err := conn.HandshakeContext(d.ctx); err != nil {
		return d.why(err)
	}
	d.even = false
	d.use(conn)
	return nil
}

// by is when a wait that begins now has to be over.
func (d *smtpDialogue) by(limit time.Duration) time.Time {
	t := time.Now().Add(limit)
	if !d.until.IsZero() && d.until.Before(t) {
		return d.until
	}
	return t
}

// why is the cause of an error: a connection that broke because the context is done did not break by itself.
func (d *smtpDialogue) why(err error) error {
	if done := d.ctx.Err(); done != nil {
		return done
	}
	return err
}

// blocks gives each write a time of its own.
type blocks struct{ d *smtpDialogue }

func (b blocks) Write(p []byte) (int, error) {
	if err := b.d.conn.SetWriteDeadline(b.d.by(blockTime)); err != nil {
		return 0, err
	}
	return b.d.conn.Write(p)
}

// read reads one reply.
func (d *smtpDialogue) read(limit time.Duration) (smtpReply, error) {
	if err := d.conn.SetReadDeadline(d.by(limit)); err != nil {
		return smtpReply{}, d.why(err)
	}
	reply, err := readReply(d.r)
	if err != nil {
		return smtpReply{}, d.why(err)
	}
	d.even = true
	return reply, nil
}

// ask sends one command and reads its reply.
func (d *smtpDialogue) ask(limit time.Duration, command string) (smtpReply, error) {
	if d.r.Buffered() > 0 {
		return smtpReply{}, errUnasked
	}
	d.even = false
	if _, err := d.w.WriteString(command + "\r\n"); err != nil {
		return smtpReply{}, d.why(err)
	}
	if err := d.w.Flush(); err != nil {
		return smtpReply{}, d.why(err)
	}
	return d.read(limit)
}

// deliver sends a message after the 354 and says how it ended. The dot that ends the message leaves by itself, after all
// else has: as long as it has not, the server has nothing that it could accept.
func (d *smtpDialogue) deliver(message []byte) *smtpEnd {
	if d.r.Buffered() > 0 {
		return &smtpEnd{step: atBody, err: errUnasked}
	}
	d.even = false
	w := textproto.NewWriter(d.w).DotWriter()
	_, err := w.Write(message)
	if err == nil {
		err = d.w.Flush()
	}
	if err != nil {
		return d.brokenOff(atBody, err)
	}
	if d.speaks() {
		return d.brokenOff(atBody, errUnasked)
	}
	d.until = time.Time{}
	if err := w.Close(); err != nil {
		return d.brokenOff(atDot, err)
	}
	ledger.Reach(ledger.PointRequestWritten)
	reply, err := d.read(dotTime)
	return &smtpEnd{step: atDot, reply: reply, err: err}
}

// speaks reports whether the server has said something, or closed, before the end of the message. Its reply would be taken for
// the one to the dot, so the dot stays here: without it nothing can have been accepted.
func (d *smtpDialogue) speaks() bool {
	if err := d.conn.SetReadDeadline(time.Now().Add(lookTime)); err != nil {
		return true
	}
	_, err := d.r.Peek(1)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// brokenOff is the end of a delivery that the server did not read on. It may have said why.
func (d *smtpDialogue) brokenOff(step smtpStep, err error) *smtpEnd {
	cause := d.why(err)
	reply, err := d.read(wordTime)
	d.even = false // the message has no end, and QUIT would be a line of it
	if err == nil {
		return &smtpEnd{step: step, reply: reply}
	}
	return &smtpEnd{step: step, err: cause}
}

// hello introduces us and notes what the server offers. A server of before 1993 refuses EHLO and knows HELO.
func (d *smtpDialogue) hello(name string) *smtpEnd {
	reply, err := d.ask(commandTime, "EHLO "+name)
	if err == nil && reply.class() == 5 {
		reply, err = d.ask(commandTime, "HELO "+name)
		reply.lines = reply.lines[:min(len(reply.lines), 1)]
	}
	if err != nil || reply.class() != 2 {
		return &smtpEnd{step: atHello, reply: reply, err: err}
	}
	d.offers = map[string]string{}
	for _, line := range reply.lines[1:] {
		keyword, rest, _ := strings.Cut(strings.Replace(line, "=", " ", 1), " ") // AUTH=LOGIN is an old way to say AUTH LOGIN
		d.offers[strings.ToUpper(keyword)] += " " + strings.ToUpper(rest)
	}
	return nil
}

// offersTo reports whether the server named an extension.
func (d *smtpDialogue) offersTo(keyword string) bool {
	_, ok := d.offers[keyword]
	return ok
}

// close ends the connection. Nobody waits for the reply to QUIT: whatever it is, it changes nothing.
func (d *smtpDialogue) close() {
	if d.raw == nil {
		return
	}
	d.stop()
	if !d.even { // a reply is on its way: this connection must carry nothing more
		_ = d.raw.Close()
		return
	}
	_ = d.conn.SetWriteDeadline(time.Now().Add(quitTime))
	_, _ = io.WriteString(d.conn, "QUIT\r\n")
	_ = d.conn.Close()
}
