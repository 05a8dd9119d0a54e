package providers

import (
	"net/mail"
	"strings"
	"unicode"

	"sendonce/ledger"
)

// wordChars are what names in many APIs are made of.
const wordChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// mailbox is an address with the name that people see beside it, if any.
type mailbox struct{ name, address string }

// readMailbox reads "Shop <shop@example.test>" or a plain address; fault says what is wrong with it.
func readMailbox(s string) (m mailbox, fault string) {
	const shape = `must be a mail address, such as shop@example.test or "Shop <shop@example.test>"`
	if strings.ContainsFunc(s, unicode.IsControl) {
		return mailbox{}, "must not contain line breaks or control characters"
	}
	a, err := mail.ParseAddress(s)
	if err != nil {
		return mailbox{}, shape
	}
	if _, err := ledger.RecipientKey(ledger.Email, a.Address, ""); err != nil || strings.ContainsFunc(a.Name, unicode.IsControl) {
		return mailbox{}, shape
	}
	return mailbox{a.Name, a.Address}, ""
}

// String writes the mailbox as services with a JSON API read it: a name with characters of its own meaning stands in quotes,
// and letters outside ASCII are not encoded.
func (m mailbox) String() string {
	switch {
	case m.name == "":
		return m.address
	case strings.ContainsAny(m.name, `()<>[]:;@\,."`):
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(m.name) + `" <` + m.address + ">"
	}
	return m.name + " <" + m.address + ">"
}

// mailMessage is an e-mail with the sender that it goes out under.
type mailMessage struct {
	ledger.Message
	sender mailbox
	// own is set where the message chose its sender. A refusal of that one is about this message, a refusal of the configured
	// one is about all.
	own bool
}

// readMail reads the message of an e-mail. Its own from and from_name go before the configured sender.
func readMail(message []byte, configured mailbox) (mailMessage, error) {
	parsed, err := ledger.ParseMessage(ledger.Email, message)
	if err != nil {
		return mailMessage{}, err
	}
	m := mailMessage{Message: parsed, sender: configured}
	if from := strings.TrimSpace(parsed.From); from != "" && !strings.EqualFold(from, configured.address) {
		m.sender, m.own = mailbox{address: from}, true
	}
	if parsed.FromName != "" {
		m.sender.name = parsed.FromName
	}
	if m.sender.address == "" {
		return mailMessage{}, ledger.Invalid("message.from", "must be given: the provider has no from of its own")
	}
	return m, nil
}

// ownSender reports whether a message chose its sender.
func ownSender(message []byte, configured mailbox) bool {
	m, err := readMail(message, configured)
	return err == nil && m.own
}

// bearerFault says what is wrong with a key that goes into an Authorization header.
func bearerFault(key Secret) string {
	if key == "" || strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "must be the API key: printable ASCII without blanks"
	}
	return ""
}

// plainASCII reports whether every character of an address is ASCII.
func plainASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}
