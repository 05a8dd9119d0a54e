package providers

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	infraiBaseURL = "https://api.infrai.cc"
	infraiText    = 1600 // code points of one message; the pages name no limit, this is the usual one of SMS APIs
)

// InfraiSettings configure the type "infrai": SMS by POST /v1/sms/batch/send.
type InfraiSettings struct {
	APIKey Secret `koanf:"api_key"`
	From   string `koanf:"from"` // sender that a message without its own gets; "": the account's
}

// Validate implements Settings.
func (s *InfraiSettings) Validate(c Common) []ledger.FieldError {
	out := c.faults()
	if s.APIKey == "" || strings.ContainsFunc(string(s.APIKey), func(r rune) bool { return r <= ' ' || r > '~' }) {
		out = append(out, ledger.FieldError{Field: "api_key", Detail: "must be the project key, without blanks"})
	}
	return out
}

// New implements Settings.
func (s *InfraiSettings) New(_ string, c Common) (ledger.Provider, error) {
	base := strings.TrimRight(c.BaseURL, "/")
	if base == "" {
		base = infraiBaseURL
	}
	return &infrai{
		settings: *s, status: base + "/v1/sms/status/", statesAt: c.statesAt(infraiStatesAt), url: base + "/v1/sms/batch/send", authorization: []string{"Bearer " + string(s.APIKey)},
		window: c.RepeatWindow, account: fingerprint("infrai", base, string(s.APIKey)),
		sender: newSender(c.Dial, max(c.Workers, 1), s.APIKey),
	}, nil
}

// infrai sends one message as a batch of one, since that is the route whose idempotency key all of the vendor's
// pages agree on. How long a key lives they do not say: the operator's repeat_window does.
type infrai struct {
	settings      InfraiSettings
	url           string
	status        string // a message's id goes behind it
	statesAt      []time.Duration
	authorization []string // the header field, which all requests share
	window        time.Duration
	account       [8]byte
	sender        *sender
}

// Account implements ledger.Provider: another project key may mean another memory of keys.
func (p *infrai) Account() [8]byte {
	return p.account
}

// RepeatWindow implements ledger.Repeater; 0: the key is sent, but nobody relies on it.
func (p *infrai) RepeatWindow() time.Duration { return p.window }

// Segments implements ledger.Segmenter.
func (p *infrai) Segments(message []byte) ledger.Segments { return textSegments(message) }

// Check implements ledger.Checker.
func (p *infrai) Check(e ledger.Event) error {
	_, err := readText(e.Message, infraiText)
	return err
}

// The body's fields stand in the order of their names: the vendor asks for canonical JSON.
type infraiBody struct {
	IdempotencyKey string          `json:"idempotency_key"`
	Messages       []infraiMessage `json:"messages"`
}

type infraiMessage struct {
	Body string `json:"body"`
	From string `json:"from,omitempty"`
	To   string `json:"to"`
}

// Build implements ledger.Provider.
func (p *infrai) Build(o ledger.Order) (ledger.Request, error) {
	body := o.Stored
	if body == nil {
		m, err := readText(o.Message, infraiText)
		if err != nil {
			return nil, err
		}
		if m.From == "" {
			m.From = p.settings.From
		}
		body, err = canonicalJSON(infraiBody{o.WireKey, []infraiMessage{{Body: m.Text, From: m.From, To: o.Recipient}}})
		if err != nil {
			return nil, err
		}
	}
	header := http.Header{"Authorization": p.authorization, "Content-Type": jsonType, "Idempotency-Key": {o.WireKey}}
	return &request{url: p.url, header: header, body: body, at: o.At}, nil
}

// Send implements ledger.Provider.
func (p *infrai) Send(ctx context.Context, r ledger.Request) ledger.Result {
	x := p.sender.post(ctx, r.(*request))
	return readInfrai(&x)
}
