package providers

import (
	"fmt"
	"net/mail"
	"strings"
	"unicode/utf8"

	"sendonce/ledger"
)

// wordChars are what names in many APIs are made of.
const wordChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// mailFromFault is what is wrong with a configured sender that cannot be read.
const mailFromFault = "must be a mail address, such as shop@example.test or Shop <shop@example.test>"

// parseSender reads a sender, whose address then has its domain in ASCII.
func parseSender(s string) (mail.Address, error) {
	a, err := mail.ParseAddress(s)
	if err != nil {
		return mail.Address{}, err
	}
	a.Address, err = wireAddress(a.Address)
	return *a, err
}

// configuredSender reads the sender in the settings of a provider that may have none.
func configuredSender(from string) (mail.Address, error) {
	if from == "" {
		return mail.Address{}, nil
	}
	a, err := parseSender(from)
	if err != nil {
		return mail.Address{}, fmt.Errorf("from %s", mailFromFault)
	}
	return a, nil
}

// wireAddress is an address as it leaves: as it was written, but for its domain, which is in ASCII.
func wireAddress(s string) (string, error) {
	s = strings.TrimSpace(s)
	form, err := ledger.RecipientKey(ledger.Email, s, "")
	if err != nil {
		return "", err
	}
	return s[:strings.LastIndexByte(s, '@')] + form[strings.LastIndexByte(form, '@'):], nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// friendly writes an address with its name as services with a JSON API read it: a name with characters of their own meaning
// stands in quotes, and letters outside ASCII are not encoded.
func friendly(a mail.Address) string {
	switch {
	case a.Name == "":
		return a.Address
	case strings.ContainsAny(a.Name, `()<>[]:;@\,."`):
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a.Name) + `" <` + a.Address + ">"
	}
	return a.Name + " <" + a.Address + ">"
}

// mailMessage is an e-mail with the addresses that it leaves with.
type mailMessage struct {
	ledger.Message // its ReplyTo has its domain in ASCII
	sender         mail.Address
	to             string

	// own is set where the message chose its sender. A refusal of that one is about this message, a refusal of the configured
	// one is about all.
	own bool
}

// readMail reads an e-mail. Its own from and from_name go before the configured sender.
func readMail(message []byte, recipient string, configured mail.Address) (m mailMessage, err error) {
	if m.Message, err = ledger.ParseMessage(ledger.Email, message); err != nil {
		return m, err
	}
	if m.to, err = wireAddress(recipient); err != nil {
		return m, err
	}
	if m.sender = configured; m.From != "" {
		m.sender = mail.Address{}
		if m.sender.Address, err = wireAddress(m.From); err != nil {
			return m, ledger.Invalid("message.from", "must be a plain mail address, such as shop@example.test")
		}
		if m.own = !strings.EqualFold(m.sender.Address, configured.Address); !m.own {
			m.sender.Name = configured.Name
		}
	}
	if m.FromName != "" {
		m.sender.Name = m.FromName
	}
	if m.sender.Address == "" {
		return m, ledger.Invalid("message.from", "must be given: the provider has no from of its own")
	}
	if m.ReplyTo != "" {
		if m.ReplyTo, err = wireAddress(m.ReplyTo); err != nil {
			return m, ledger.Invalid("message.reply_to", "must be a plain mail address, such as shop@example.test")
		}
	}
	return m, nil
}

// bearerFault says what is wrong with a key that goes into an Authorization header.
func bearerFault(key Secret) string {
	if key == "" || strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "must be the API key: printable ASCII without blanks"
	}
	return ""
}
