package providers

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"sendonce/ledger"
)

// smtpMessage is one mail to one recipient.
type smtpMessage struct {
	from, to string // of the envelope; domains in ASCII, as everywhere in the message
	ownFrom  bool   // from is the message's own
	utf8     bool   // a local part is not ASCII, so the server must know SMTPUTF8
	id       string // Message-ID, without its angle brackets
	body     []byte // header and text; lines end in CRLF, dots are not doubled yet
}

// Body returns the message as the recipient's server gets it.
func (m *smtpMessage) Body() []byte { return m.body }

// Build implements ledger.Provider. Nothing in the message is random: the Message-ID says which row it is of, so that the
// copies of one row can be told by it.
func (p *smtp) Build(o ledger.Order) (ledger.Request, error) {
	m, err := p.read(o.Message, o.Recipient)
	if err != nil {
		return nil, err
	}
	out := &smtpMessage{
		from: m.sender.Address, to: m.to, ownFrom: m.own, utf8: !isASCII(m.sender.Address + m.to + m.ReplyTo),
		id: hexOf(o.WireKey) + p.from.Address[strings.LastIndexByte(p.from.Address, '@'):],
	}
	out.body, err = compose(out.id, m, o.At)
	return out, err
}

// read reads what this provider can send.
func (p *smtp) read(message []byte, recipient string) (mailMessage, error) {
	m, err := readMail(message, recipient, p.from)
	if err == nil && m.Template != nil {
		err = ledger.Invalid("message.template", "this provider has no templates: give subject and text")
	}
	return m, err
}

// hexOf is 40 hex digits of a SHA-256.
func hexOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:40]
}

// compose writes the message. Texts are quoted-printable, so that neither long lines nor dots nor letters of any script are
// touched on the way.
func compose(id string, m mailMessage, at time.Time) ([]byte, error) {
	// The boundary hangs on the texts that it parts, so that nobody can write one that has its own boundary in it.
	boundary := hexOf(id + "\x00" + m.Text + "\x00" + m.HTML)
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithBoundary(boundary))
	msg.SetDateWithValue(at.UTC())
	msg.SetMessageIDWithValue(id)
	if isASCII(m.sender.Address) && !plainPhrase(m.sender.Name) {
		msg.SetGenHeader("From", encodedWords(m.sender.Name)+" <"+m.sender.Address+">")
	} else {
		msg.FromMailAddress(&m.sender)
	}
	msg.ToMailAddress(&mail.Address{Address: m.to})
	if m.ReplyTo != "" {
		msg.ReplyToMailAddress(&mail.Address{Address: m.ReplyTo})
	}
	if plainPhrase(m.Subject) {
		msg.Subject(m.Subject)
	} else {
		msg.Subject(encodedWords(m.Subject))
	}
	for name, value := range m.Headers { // blanks in a row would make lines of nothing else where the header is folded
		msg.SetGenHeader(gomail.Header(name), strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == ' ' }), " "))
	}
	text, html := lineEnds.Replace(m.Text), lineEnds.Replace(m.HTML)
	switch {
	case html == "":
		msg.SetBodyString(gomail.TypeTextPlain, text)
	case text == "":
		msg.SetBodyString(gomail.TypeTextHTML, html)
	default:
		msg.SetBodyString(gomail.TypeTextPlain, text)
		msg.AddAlternativeString(gomail.TypeTextHTML, html)
	}
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("composing the mail: %w", err)
	}
	if !bytes.HasSuffix(b.Bytes(), []byte("\r\n")) { // the dot stands on a line of its own
		b.WriteString("\r\n")
	}
	return b.Bytes(), nil
}

// lineEnds makes all line ends alike: mail has only one kind. The writer of quoted-printable would lose the line feed of "\rx\n".
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

const (
	longWord  = 60 // characters; what is longer cannot be folded into lines of 76
	wordBytes = 36 // of text in one encoded word: 60 characters with what stands around them
)

// plainPhrase reports whether a text can stand in a header as it is: printable ASCII that folding does not change and that
// nobody takes for an encoded word.
func plainPhrase(s string) bool {
	if !isASCII(s) || strings.Contains(s, "=?") || strings.Contains(" "+s+" ", "  ") && s != "" {
		return false
	}
	for word := range strings.SplitSeq(s, " ") {
		if len(word) > longWord {
			return false
		}
	}
	return true
}

// encodedWords writes a text as RFC 2047 has it. mime.WordEncoder would leave ASCII as it is, and this is also for that.
func encodedWords(s string) string {
	var words []string
	for len(s) > 0 {
		n := min(len(s), wordBytes)
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		words = append(words, "=?utf-8?B?"+base64.StdEncoding.EncodeToString([]byte(s[:n]))+"?=")
		s = s[n:]
	}
	return strings.Join(words, " ")
}
