package providers

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

// The ways to protect the connection.
const (
	tlsImplicit = "implicit" // from the first byte (RFC 8314); what port 465 is for
	tlsStart    = "starttls" // the server must offer it (RFC 3207)
	tlsNone     = "none"     // plain text, to this machine and private addresses
)

// SMTPSettings configure the type "smtp": mail through a server that relays it (RFC 5321, RFC 6409).
type SMTPSettings struct {
	Address  string `koanf:"address"`  // host:port
	TLS      string `koanf:"tls"`      // implicit, starttls or none; "": implicit on port 465, else starttls
	Username string `koanf:"username"` // "": no log-in
	Password Secret `koanf:"password"`
	From     string `koanf:"from"`  // sender that a message without its own gets: an address, or Name <address>
	Hello    string `koanf:"hello"` // our name for EHLO; "": the address that the connection comes from

	roots *x509.CertPool // of tests; nil: the system's
}

// protection is the way that is in force.
func (s *SMTPSettings) protection() string {
	_, port, err := net.SplitHostPort(s.Address)
	switch {
	case s.TLS != "":
		return s.TLS
	case err == nil && port == "465":
		return tlsImplicit
	}
	return tlsStart
}

// Validate implements Settings.
func (s *SMTPSettings) Validate(c Common) []ledger.FieldError {
	out := c.faults()
	add := func(field, detail string) { out = append(out, ledger.FieldError{Field: field, Detail: detail}) }
	host, port, err := net.SplitHostPort(s.Address)
	n, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || portErr != nil || n == 0 || host == "" || strings.ContainsFunc(host, notGraphic):
		add("address", "must be host:port, such as mail.example.test:587")
	case s.protection() == tlsNone && !privateHost(host):
		add("tls", "none is for private addresses and names without a dot only: the mail would be readable on its way")
	}
	switch s.protection() {
	case tlsImplicit, tlsStart:
	case tlsNone:
		if s.Username != "" {
			add("tls", "must not be none beside a username: the password would be readable on its way")
		}
	default:
		add("tls", "must be implicit, starttls or none")
	}
	if (s.Username == "") != (s.Password == "") {
		add("password", "goes with username: give both or none")
	}
	if strings.ContainsFunc(s.Username+string(s.Password), func(r rune) bool { return r < ' ' }) {
		add("password", "and username must not contain control characters")
	}
	if _, err := parseSender(s.From); err != nil {
		add("from", mailFromFault)
	}
	if strings.ContainsFunc(s.Hello, notGraphic) {
		add("hello", "must be a domain name, or an address in square brackets")
	}
	if c.BaseURL != "" {
		add("base_url", "must be left out: address says where the server is")
	}
	if c.RepeatWindow != 0 {
		add("repeat_window", "must be left out: mail servers honour no key")
	}
	return out
}

// notGraphic reports whether a character cannot stand in a host's name or on a command line of SMTP.
func notGraphic(r rune) bool { return r <= ' ' || r > '~' }

// New implements Settings.
func (s *SMTPSettings) New(_ string, c Common) (ledger.Provider, error) {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		return nil, err
	}
	from, err := parseSender(s.From)
	if err != nil {
		return nil, err
	}
	p := &smtp{
		settings: *s, from: from, dial: c.Dial, account: fingerprint("smtp", s.Address, s.Username),
		tls: &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, RootCAs: s.roots},
	}
	p.settings.TLS = s.protection()
	switch {
	case p.dial != nil:
	case p.settings.TLS == tlsNone: // whatever a name leads to
		p.dial = addressGuard{private: reachable, only: true}.dialer()
	default:
		p.dial = (&net.Dialer{}).DialContext
	}
	for _, secret := range []string{string(s.Password), plainToken(s.Username, s.Password), encode64(string(s.Password))} {
		if s.Password != "" {
			p.secrets = append(p.secrets, []byte(secret))
		}
	}
	return p, nil
}

// reachable are the addresses to which mail may go in plain text.
var reachable = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")

// smtp hands each message to a mail server on a connection of its own: a reply that comes late can then be taken for no
// other message's.
type smtp struct {
	settings SMTPSettings
	from     mail.Address
	tls      *tls.Config
	dial     DialFunc
	account  [8]byte
	secrets  [][]byte // blotted out of stored answers
}

// Account implements ledger.Provider.
func (p *smtp) Account() [8]byte { return p.account }

// Patience implements ledger.Patient.
func (p *smtp) Patience() time.Duration { return dotTime }

// Check implements ledger.Checker.
func (p *smtp) Check(e ledger.Event) error {
	_, err := p.read(e.Message, e.Recipient)
	return err
}
