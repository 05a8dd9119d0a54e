package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	resendBaseURL = "https://api.resend.com"
	resendWindow  = 24 * time.Hour // how long Resend keeps a key
	resendTag     = 256            // characters of a tag
	resendVarName = 50             // characters of a template variable's name
)

// ResendSettings configure the type "resend": e-mail by POST /emails.
type ResendSettings struct {
	APIKey        Secret `koanf:"api_key"`
	From          string `koanf:"from"`           // sender of messages that bring none; "": each must bring one
	WebhookSecret Secret `koanf:"webhook_secret"` // checks the signature of receipts; "": none can be checked
}

// Validate implements Settings.
func (s *ResendSettings) Validate(c Common) []ledger.FieldError {
	out := c.faults()
	add := func(field, detail string) {
		if detail != "" {
			out = append(out, ledger.FieldError{Field: field, Detail: detail})
		}
	}
	if c.RepeatWindow > resendWindow {
		add("repeat_window", "must be at most 24h: Resend forgets a key then, and a repeat would be a second mail")
	}
	add("api_key", bearerFault(s.APIKey))
	if s.From != "" {
		if _, err := parseSender(s.From); err != nil {
			add("from", mailFromFault)
		}
	}
	if s.WebhookSecret != "" {
		if _, err := parseSecrets(string(s.WebhookSecret)); err != nil {
			add("webhook_secret", err.Error())
		}
	}
	return out
}

// New implements Settings.
func (s *ResendSettings) New(_ string, c Common) (ledger.Provider, error) {
	base := strings.TrimRight(c.BaseURL, "/")
	if base == "" {
		base = resendBaseURL
	}
	from, err := configuredSender(s.From)
	if err != nil {
		return nil, err
	}
	var keys [][]byte // none: no receipt is believed
	if s.WebhookSecret != "" {
		if keys, err = parseSecrets(string(s.WebhookSecret)); err != nil {
			return nil, fmt.Errorf("webhook_secret: %w", err)
		}
	}
	return &resend{
		settings: *s, webhookKeys: keys, from: from, url: base + "/emails", window: c.RepeatWindow, lookUps: c.lookUps(resendLookUps),
		account: fingerprint("resend", base, string(s.APIKey)), sender: newSender(c.Dial, max(c.Workers, 1), s.APIKey),
	}, nil
}

// resend sends one mail to one recipient under the wire key: within the window a repeat of the same bytes is answered as the
// first request was and sends nothing.
type resend struct {
	settings ResendSettings
	from     mail.Address
	url      string
	window   time.Duration
	lookUps  ledger.LookUps
	account  [8]byte
	sender   *sender

	webhookKeys [][]byte // that receipts are signed with
}

// Account implements ledger.Provider: another key may belong to another team, which has other memories.
func (p *resend) Account() [8]byte { return p.account }

// RepeatWindow implements ledger.Repeater.
func (p *resend) RepeatWindow() time.Duration { return p.window }

// SendsTemplates implements ledger.Templater.
func (p *resend) SendsTemplates() bool { return true }

// Check implements ledger.Checker.
func (p *resend) Check(e ledger.Event) error {
	_, err := p.read(e.Message, e.Recipient)
	return err
}

// read reads a message and refuses what Resend is known to refuse.
func (p *resend) read(message []byte, recipient string) (mailMessage, error) {
	m, err := readMail(message, recipient, p.from)
	if err != nil || m.Template == nil || m.Template.Variables == nil {
		return m, err
	}
	var variables map[string]json.RawMessage
	if readJSON(m.Template.Variables, &variables) != nil {
		return m, ledger.Invalid("message.template.variables", "must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if detail := resendVariableFault(name, variables[name]); detail != "" {
			return m, ledger.Invalid("message.template.variables", "%s", detail)
		}
	}
	return m, nil
}

// resendReserved are the names that Resend fills in itself.
var resendReserved = map[string]bool{"FIRST_NAME": true, "LAST_NAME": true, "EMAIL": true, "UNSUBSCRIBE_URL": true}

// resendVariableFault says what is wrong with a variable of a template.
func resendVariableFault(name string, value json.RawMessage) string {
	switch {
	case name == "" || len(name) > resendVarName || strings.Trim(name, wordChars) != "":
		return "must have names of 1 to 50 ASCII letters, digits and _"
	case resendReserved[name]:
		return "must not have the name " + name + ", which Resend keeps to itself"
	case value[0] != '"' && value[0] != '-' && (value[0] < '0' || value[0] > '9'):
		return "must have texts and numbers as values"
	}
	return ""
}

// Build implements ledger.Provider.
func (p *resend) Build(o ledger.Order) (ledger.Request, error) {
	m, err := p.read(o.Message, o.Recipient)
	body := o.Stored
	if body == nil { // else these bytes leave, whatever became of the settings since
		if err != nil {
			return nil, err
		}
		if body, err = canonicalJSON(p.mail(o, m)); err != nil {
			return nil, err
		}
	}
	header := http.Header{}
	header.Set("Authorization", "Bearer "+string(p.settings.APIKey))
	header.Set("Content-Type", "application/json")
	header.Set("Idempotency-Key", o.WireKey)
	return &request{url: p.url, header: header, body: body, at: o.At, ownSender: m.own}, nil
}

// The fields stand in the order of their names.
type resendMail struct {
	From     string            `json:"from"`
	Headers  map[string]string `json:"headers,omitempty"`
	HTML     string            `json:"html,omitempty"`
	ReplyTo  string            `json:"reply_to,omitempty"`
	Subject  string            `json:"subject,omitempty"`
	Tags     []resendPair      `json:"tags"`
	Template *resendTemplate   `json:"template,omitempty"`
	Text     string            `json:"text,omitempty"`
	To       []string          `json:"to"`
}

type resendPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type resendTemplate struct {
	ID        string          `json:"id"`
	Variables json.RawMessage `json:"variables,omitempty"`
}

func (p *resend) mail(o ledger.Order, m mailMessage) resendMail {
	out := resendMail{
		From: friendly(m.sender), Headers: m.Headers, HTML: m.HTML, ReplyTo: m.ReplyTo, Subject: m.Subject,
		Tags: []resendPair{{"reference", o.Reference()}}, Text: m.Text, To: []string{m.to},
	}
	if len(o.WireKey) <= resendTag && strings.Trim(o.WireKey, wordChars+"-") == "" { // all that a tag may hold
		out.Tags = append(out.Tags, resendPair{"dedupe_key", o.WireKey})
	}
	if m.Template != nil {
		out.Template = &resendTemplate{m.Template.ID, m.Template.Variables}
	}
	return out
}

// Send implements ledger.Provider.
func (p *resend) Send(ctx context.Context, r ledger.Request) ledger.Result {
	x := p.sender.post(ctx, r.(*request))
	return readResend(&x)
}
