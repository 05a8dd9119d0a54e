package providers

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"net/mail"
	"strings"
	"unicode/utf8"

	"sendonce/ledger"
)

const (
	sendGridBaseURL  = "https://api.sendgrid.com" // EU subusers: https://api.eu.sendgrid.com
	sendGridCategory = 255                        // code points of a category's name
)

// SendGridSettings configure the type "sendgrid": e-mail by POST /v3/mail/send.
type SendGridSettings struct {
	APIKey           Secret `koanf:"api_key"`
	From             string `koanf:"from"`               // sender of messages that bring none; "": each must bring one
	Category         string `koanf:"category"`           // that all mails are counted under at SendGrid
	WebhookPublicKey string `koanf:"webhook_public_key"` // checks the signature of receipts; "": none is signed
}

// Validate implements Settings.
func (s *SendGridSettings) Validate(c Common) []ledger.FieldError {
	out := c.faults()
	add := func(field, detail string) {
		if detail != "" {
			out = append(out, ledger.FieldError{Field: field, Detail: detail})
		}
	}
	if c.RepeatWindow > 0 {
		add("repeat_window", "must be 0s: SendGrid takes no key that a repeat could go under")
	}
	add("api_key", bearerFault(s.APIKey))
	if s.From != "" {
		add("from", sendGridFromFault(s.From))
	}
	if n := utf8.RuneCountInString(s.Category); n == 0 || n > sendGridCategory {
		add("category", "must be 1 to 255 characters long")
	}
	if s.WebhookPublicKey != "" && parseP256(s.WebhookPublicKey) == nil {
		add("webhook_public_key", "must be the verification key as SendGrid shows it: an ECDSA public key in base64")
	}
	return out
}

// sendGridFromFault says what is wrong with the sender in the settings.
func sendGridFromFault(from string) string {
	switch a, err := parseSender(from); {
	case err != nil:
		return mailFromFault
	case !isASCII(a.Address):
		return "must be ASCII before the @: SendGrid takes no other sender"
	}
	return ""
}

// New implements Settings.
func (s *SendGridSettings) New(_ string, c Common) (ledger.Provider, error) {
	base := strings.TrimRight(c.BaseURL, "/")
	if base == "" {
		base = sendGridBaseURL
	}
	from, err := configuredSender(s.From)
	if err != nil {
		return nil, err
	}
	return &sendGrid{
		settings: *s, from: from, publicKey: parseP256(s.WebhookPublicKey), url: base + "/v3/mail/send", logs: base + "/v3/logs", lookUps: c.lookUps(sendGridLookUps),
		account: fingerprint("sendgrid", base, string(s.APIKey)),
		// Each request has a connection of its own: a look-up settles a lost answer late, and not for sure.
		sender: newSender(c.Dial, 0, s.APIKey),
	}, nil
}

// sendGrid sends one personalization with one recipient: those who stand in one list see each other.
type sendGrid struct {
	settings SendGridSettings
	from     mail.Address
	url      string
	logs     string // of the Email Logs
	lookUps  ledger.LookUps
	account  [8]byte
	sender   *sender

	publicKey *ecdsa.PublicKey // that events are checked with; nil: none is believed
}

// Account implements ledger.Provider.
func (p *sendGrid) Account() [8]byte { return p.account }

// SendsTemplates implements ledger.Templater.
func (p *sendGrid) SendsTemplates() bool { return true }

// Check implements ledger.Checker.
func (p *sendGrid) Check(e ledger.Event) error {
	_, err := p.read(e.Message, e.Recipient)
	return err
}

// read reads a message and refuses what SendGrid is known to refuse. The ledger itself refuses the headers that SendGrid
// keeps to itself; our custom_args are far below their 10,000 bytes.
func (p *sendGrid) read(message []byte, recipient string) (mailMessage, error) {
	m, err := readMail(message, recipient, p.from)
	switch {
	case err != nil:
		return m, err
	case !isASCII(m.sender.Address):
		return m, ledger.Invalid("message.from", "must be ASCII before the @: SendGrid takes no other sender")
	case m.Template != nil && !strings.HasPrefix(m.Template.ID, "d-"):
		return m, ledger.Invalid("message.template.id", "must be the id of a dynamic template, which begins with d-")
	}
	return m, nil
}

// Build implements ledger.Provider.
func (p *sendGrid) Build(o ledger.Order) (ledger.Request, error) {
	m, err := p.read(o.Message, o.Recipient)
	if err != nil {
		return nil, err
	}
	body, err := canonicalJSON(p.mail(o, m))
	if err != nil {
		return nil, err
	}
	header := authorized("Bearer " + string(p.settings.APIKey))
	header.Set("Content-Type", "application/json")
	return &request{url: p.url, header: header, body: body, at: o.At, ownSender: m.own}, nil
}

// The fields stand in the order of their names.
type sendGridMail struct {
	Categories       []string           `json:"categories"`
	Content          []sendGridContent  `json:"content,omitempty"`
	From             sendGridAddress    `json:"from"`
	Headers          map[string]string  `json:"headers,omitempty"`
	Personalizations []sendGridEnvelope `json:"personalizations"`
	ReplyTo          *sendGridAddress   `json:"reply_to,omitempty"`
	Subject          string             `json:"subject,omitempty"`
	TemplateID       string             `json:"template_id,omitempty"`
}

type sendGridContent struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type sendGridAddress struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"`
}

type sendGridEnvelope struct {
	CustomArgs   sendGridArgs      `json:"custom_args"`
	TemplateData json.RawMessage   `json:"dynamic_template_data,omitempty"`
	To           []sendGridAddress `json:"to"`
}

// sendGridArgs come back in every event about the mail, and in the log that a look-up reads.
type sendGridArgs struct {
	DedupeKey string `json:"dedupe_key"`
	Reference string `json:"reference"`
}

func (p *sendGrid) mail(o ledger.Order, m mailMessage) sendGridMail {
	envelope := sendGridEnvelope{
		CustomArgs: sendGridArgs{DedupeKey: o.WireKey, Reference: o.Reference()},
		To:         []sendGridAddress{{Email: m.to}},
	}
	out := sendGridMail{
		Categories: []string{p.settings.Category}, From: sendGridAddress{m.sender.Address, m.sender.Name},
		Headers: m.Headers, Subject: m.Subject,
	}
	if m.ReplyTo != "" {
		out.ReplyTo = &sendGridAddress{Email: m.ReplyTo}
	}
	if m.Template != nil {
		out.TemplateID, envelope.TemplateData = m.Template.ID, m.Template.Variables
	}
	if m.Text != "" { // SendGrid wants text before HTML
		out.Content = append(out.Content, sendGridContent{"text/plain", m.Text})
	}
	if m.HTML != "" {
		out.Content = append(out.Content, sendGridContent{"text/html", m.HTML})
	}
	out.Personalizations = []sendGridEnvelope{envelope}
	return out
}

// Send implements ledger.Provider.
func (p *sendGrid) Send(ctx context.Context, r ledger.Request) ledger.Result {
	x := p.sender.post(ctx, r.(*request))
	return readSendGrid(&x)
}
