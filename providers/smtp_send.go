package providers

import (
	"bytes"
	"context"
	"encoding/base64"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

// Send implements ledger.Provider.
func (p *smtp) Send(ctx context.Context, request ledger.Request) ledger.Result {
	m := request.(*smtpMessage)
	d := &smtpDialogue{ctx: ctx}
	if deadline, ok := ctx.Deadline(); ok {
		d.until = deadline.Add(-dotTime)
	}
	defer d.close()
	end := p.open(d)
	if end == nil {
		end = hand(d, m)
	}
	r := end.result()
	for _, secret := range p.secrets {
		end.reply.raw = bytes.ReplaceAll(end.reply.raw, secret, []byte(masked))
	}
	r.Answer = end.reply.raw[:min(len(end.reply.raw), ledger.MaxAnswerBytes)]
	if r.Outcome == ledger.Accepted {
		r.MessageIDs = []string{m.id}
	}
	return r
}

// open brings the dialogue to where a message can be handed over; nil: it is there.
func (p *smtp) open(d *smtpDialogue) *smtpEnd {
	if err := d.connect(p.dial, p.settings.Address); err != nil {
		return &smtpEnd{step: atConnect, err: d.why(err)}
	}
	if p.settings.TLS == tlsImplicit {
		if err := d.encrypt(p.tls); err != nil {
			return &smtpEnd{step: atConnect, err: err}
		}
	}
	if reply, err := d.read(commandTime); err != nil || reply.class() != 2 {
		return &smtpEnd{step: atBanner, reply: reply, err: err}
	}
	name := p.settings.Hello
	if name == "" {
		name = addressLiteral(d.raw.LocalAddr())
	}
	if end := d.hello(name); end != nil {
		return end
	}
	if p.settings.TLS == tlsStart {
		if end := p.startTLS(d, name); end != nil {
			return end
		}
	}
	if p.settings.Username == "" {
		return nil
	}
	return p.logIn(d)
}

// startTLS goes over to TLS, or ends: who strips the offer on the line must not get the mail. What the server offered before
// is worth nothing then.
func (p *smtp) startTLS(d *smtpDialogue, name string) *smtpEnd {
	if !d.offersTo("STARTTLS") {
		return &smtpEnd{step: atStartTLS, err: errNoStartTLS}
	}
	if reply, err := d.ask(commandTime, "STARTTLS"); err != nil || reply.code != 220 {
		return &smtpEnd{step: atStartTLS, reply: reply, err: err}
	}
	if err := d.encrypt(p.tls); err != nil {
		return &smtpEnd{step: atStartTLS, err: err}
	}
	return d.hello(name)
}

// logIn sends user name and password (RFC 4954; LOGIN as servers have it, which asks for the one and then the other).
func (p *smtp) logIn(d *smtpDialogue) *smtpEnd {
	var command string
	var answers []string // to 334
	token := plainToken(p.settings.Username, p.settings.Password)
	switch offered := strings.Fields(d.offers["AUTH"]); {
	case slices.Contains(offered, "PLAIN"):
		command, answers = "AUTH PLAIN "+token, []string{token} // again, for a server that takes no initial response
	case slices.Contains(offered, "LOGIN"):
		command, answers = "AUTH LOGIN", []string{encode64(p.settings.Username), encode64(string(p.settings.Password))}
	default:
		return &smtpEnd{step: atAuth, err: errNoAuth}
	}
	reply, err := d.ask(commandTime, command)
	for err == nil && reply.code == 334 && len(answers) > 0 {
		reply, err = d.ask(commandTime, answers[0])
		answers = answers[1:]
	}
	if err != nil || reply.class() != 2 {
		return &smtpEnd{step: atAuth, reply: reply, err: err}
	}
	return nil
}

func plainToken(user string, password Secret) string {
	return encode64("\x00" + user + "\x00" + string(password))
}

func encode64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// addressLiteral is how a machine introduces itself that has no name which others know (RFC 5321 section 4.1.3).
func addressLiteral(local net.Addr) string {
	tcp, ok := local.(*net.TCPAddr)
	switch {
	case !ok:
		return "[127.0.0.1]"
	case tcp.IP.To4() != nil:
		return "[" + tcp.IP.String() + "]"
	}
	return "[IPv6:" + tcp.IP.String() + "]"
}

// hand gives one message with one recipient to a server that is ready for it.
func hand(d *smtpDialogue, m *smtpMessage) *smtpEnd {
	sender := "MAIL FROM:<" + m.from + ">"
	if d.offersTo("SIZE") {
		sender += " SIZE=" + strconv.Itoa(len(m.body))
	}
	if m.utf8 {
		if !d.offersTo("SMTPUTF8") {
			return &smtpEnd{step: atMail, err: errNoUTF8}
		}
		sender += " SMTPUTF8"
		if d.offersTo("8BITMIME") {
			sender += " BODY=8BITMIME"
		}
	}
	for _, s := range []struct {
		step    smtpStep
		command string
		limit   time.Duration
		class   int // of the reply to go on with
	}{
		{atMail, sender, commandTime, 2},
		{atRcpt, "RCPT TO:<" + m.to + ">", commandTime, 2},
		{atData, "DATA", dataTime, 3},
	} {
		if reply, err := d.ask(s.limit, s.command); err != nil || reply.class() != s.class {
			return &smtpEnd{step: s.step, reply: reply, err: err, own: m.ownFrom}
		}
	}
	return d.deliver(m.body)
}
