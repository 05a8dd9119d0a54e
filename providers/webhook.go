package providers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"sendonce/ledger"
)

// WebhookSettings configure the type "webhook": signed POSTs as Standard Webhooks describes them.
type WebhookSettings struct {
	Secret       Secret   `koanf:"secret"`        // several, separated by blanks, while receivers change over
	URLs         []string `koanf:"urls"`          // prefixes of the targets; https:// alone is any public host
	AllowPrivate []string `koanf:"allow_private"` // CIDRs of addresses that are not public and may be called, also by http://
	Dedupes      bool     `koanf:"dedupes"`       // the receivers drop a second message with the same webhook-id
}

// Validate implements Settings.
func (s *WebhookSettings) Validate(c Common) []ledger.FieldError {
	out := c.faults()
	add := func(field, detail string) { out = append(out, ledger.FieldError{Field: field, Detail: detail}) }
	if _, err := parseSecrets(string(s.Secret)); err != nil {
		add("secret", err.Error())
	}
	if len(s.URLs) == 0 {
		add("urls", "must name at least one prefix such as https://crm.example.test/")
	}
	for i, u := range s.URLs {
		prefix, detail := parsePrefix(u)
		if detail == "" && prefix.scheme == "http" && len(s.AllowPrivate) == 0 {
			detail = "http:// is only for addresses in allow_private"
		}
		if detail != "" {
			add(fmt.Sprintf("urls[%d]", i), detail)
		}
	}
	_, faults := parsePrivate(s.AllowPrivate)
	out = append(out, faults...)
	if c.BaseURL != "" {
		add("base_url", "must be left out: the recipient is the URL")
	}
	if s.Dedupes != (c.RepeatWindow > 0) {
		add("repeat_window", "goes with dedupes: true and says how long the receivers remember an id")
	}
	return out
}

// New implements Settings.
func (s *WebhookSettings) New(_ string, c Common) (ledger.Provider, error) {
	keys, err := parseSecrets(string(s.Secret))
	if err != nil {
		return nil, err
	}
	p := &webhook{keys: keys}
	for _, u := range s.URLs {
		prefix, detail := parsePrefix(u)
		if detail != "" {
			return nil, fmt.Errorf("a prefix in urls %s", detail)
		}
		p.prefixes = append(p.prefixes, prefix)
	}
	private, faults := parsePrivate(s.AllowPrivate)
	if faults != nil {
		return nil, fmt.Errorf("allow_private %s", faults[0].Detail)
	}
	p.private = private
	if s.Dedupes {
		p.window = c.RepeatWindow
	}
	p.senders = map[string]*sender{}
	for _, scheme := range []string{"http", "https"} {
		dial := c.Dial
		if dial == nil {
			dial = p.guard(scheme).dialer()
		}
		p.senders[scheme] = newSender(dial, 0, words(s.Secret)...) // no reuse: answers carry no id
	}
	return p, nil
}

type webhook struct {
	keys     [][]byte
	prefixes []target
	private  []netip.Prefix
	window   time.Duration
	senders  map[string]*sender // by scheme: their guards differ
}

func (p *webhook) guard(scheme string) addressGuard {
	return addressGuard{private: p.private, only: scheme == "http"}
}

// Account implements ledger.Provider. The account is the receiver, and that is the row's own recipient, which
// never changes: neither a new secret nor another prefix makes a repeat reach somebody else.
func (p *webhook) Account() [8]byte { return fingerprint("webhook", "", "") }

// RepeatWindow implements ledger.Repeater.
func (p *webhook) RepeatWindow() time.Duration { return p.window }

// Accepts implements ledger.Accepter.
func (p *webhook) Accepts(recipient string) int {
	t, detail := parseTarget(recipient)
	longest := 0
	if detail == "" {
		for _, prefix := range p.prefixes {
			longest = max(longest, prefix.covers(t))
		}
	}
	return longest
}

// Check implements ledger.Checker. It asks no name server: what a name leads to is for the dialer to see.
func (p *webhook) Check(e ledger.Event) error {
	t, detail := parseTarget(e.Recipient)
	if detail != "" {
		return ledger.Invalid("recipient", "%s", detail)
	}
	if t.scheme == "http" && len(p.private) == 0 {
		return ledger.Invalid("recipient", "must begin with https://")
	}
	if ip, ok := t.literal(); ok && !p.guard(t.scheme).allows(ip) {
		return ledger.Invalid("recipient", "must not lead to this address")
	}
	if p.Accepts(e.Recipient) == 0 {
		return ledger.Invalid("recipient", "is under none of the configured URLs")
	}
	_, err := webhookData(e.Message)
	return err
}

// webhookData returns the data of a message as it was written.
func webhookData(message []byte) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil || fields == nil {
		return nil, ledger.Invalid("message", "must be an object such as {\"data\": …}")
	}
	if given(fields["template"]) {
		return nil, ledger.Invalid("message.template", "a webhook has no templates: give data")
	}
	data, ok := fields["data"]
	if !ok {
		return nil, ledger.Invalid("message.data", "is needed")
	}
	return data, nil
}

// Build implements ledger.Provider. Each attempt is signed anew with its own time; the id stays.
func (p *webhook) Build(o ledger.Order) (ledger.Request, error) {
	body := o.Stored
	if body == nil {
		var err error
		if body, err = webhookBody(o); err != nil {
			return nil, err
		}
	}
	id := webhookID(o.WireKey)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", strconv.FormatInt(o.At.Unix(), 10))
	header.Set("webhook-signature", sign(p.keys, id, o.At, body))
	return &request{url: o.Recipient, header: header, body: body, at: o.At}, nil
}

// webhookBody puts the payload together by hand: an encoder would rewrite the caller's data.
func webhookBody(o ledger.Order) ([]byte, error) {
	data, err := webhookData(o.Message)
	if err != nil {
		return nil, err
	}
	kind, at := o.EventType, o.OccurredAt
	if kind == "" {
		kind = "notification"
	}
	if at.IsZero() {
		at = o.ClaimedAt
	}
	name, err := json.Marshal(kind)
	if err != nil {
		return nil, fmt.Errorf("encoding the type: %w", err)
	}
	body := append([]byte(`{"type":`), name...)
	body = append(body, `,"timestamp":"`+at.UTC().Format("2006-01-02T15:04:05.000Z07:00")+`","data":`...)
	return append(append(body, data...), '}'), nil
}

// Send implements ledger.Provider.
func (p *webhook) Send(ctx context.Context, r ledger.Request) ledger.Result {
	req := r.(*request)
	t, detail := parseTarget(req.url)
	if detail != "" {
		return ledger.Result{Outcome: ledger.Rejected, Phase: ledger.NotWritten, Code: "address_refused", Error: "not sent: bad URL"}
	}
	x := p.senders[t.scheme].post(ctx, req)
	return readWebhook(&x)
}

// readWebhook says what a receiver's answer means. Each deferral is the row's own: other receivers of the same
// provider have nothing to do with it.
func readWebhook(x *exchange) ledger.Result {
	r, unanswered := x.unanswered()
	if unanswered {
		r.Fault = ledger.NoFault
		if errors.Is(x.err, errAddressRefused) {
			r.Outcome, r.Code = ledger.Rejected, "address_refused"
		}
		return r
	}
	// A gateway speaks for a receiver that may have taken the message.
	gateway := x.status == http.StatusBadGateway || x.status == http.StatusGatewayTimeout
	refusal := x.status >= 400 && x.status <= 599 && x.status != http.StatusGone && !gateway
	r.Reason = ledger.ReasonUnlistedAnswer
	switch {
	case x.status >= 200 && x.status < 300: // the status alone decides, its body may be lost
		r.Outcome, r.Reason = ledger.Accepted, ""
	case x.status == http.StatusGone, x.status >= 300 && x.status < 400:
		r.Outcome, r.Reason = ledger.Rejected, ""
	case refusal && !x.cut:
		r.Outcome, r.Reason = ledger.Deferred, ""
	case refusal:
		r.Reason = ledger.ReasonUnreadableAnswer
	}
	return r
}
