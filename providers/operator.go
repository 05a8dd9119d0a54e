package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// OperatorSettings configure where alerts go: a signed POST as Standard Webhooks describes it. Without a URL there is none.
type OperatorSettings struct {
	URL          string   `koanf:"url"`
	Secret       Secret   `koanf:"secret"`        // as of the type webhook
	AllowPrivate []string `koanf:"allow_private"` // as of the type webhook
}

// Validate names each faulty key and says what is right.
func (s *OperatorSettings) Validate() []ledger.FieldError {
	var out []ledger.FieldError
	add := func(field, detail string) { out = append(out, ledger.FieldError{Field: field, Detail: detail}) }
	if s.URL == "" {
		if s.Secret != "" || len(s.AllowPrivate) > 0 {
			add("url", "is missing: without it nobody is told")
		}
		return out
	}
	private, faults := parsePrivate(s.AllowPrivate)
	out = append(out, faults...)
	t, detail := parseTarget(s.URL)
	switch ip, literal := t.literal(); {
	case detail != "":
		add("url", detail)
	case faults != nil:
	case t.scheme == "http" && len(private) == 0:
		add("url", "must begin with https://; http:// is only for addresses in allow_private")
	case literal && !(addressGuard{private: private, only: t.scheme == "http"}).allows(ip):
		add("url", "leads to an address that is not public: name it in allow_private")
	}
	if _, err := parseSecrets(string(s.Secret)); err != nil {
		add("secret", err.Error())
	}
	return out
}

// New makes the operator of valid settings; nil where there is no URL. Links in alerts begin with publicURL; "" leaves them out.
func (s *OperatorSettings) New(publicURL string) (ledger.Operator, error) {
	if s.URL == "" {
		return nil, nil
	}
	keys, err := parseSecrets(string(s.Secret))
	if err != nil {
		return nil, fmt.Errorf("operator.secret: %w", err)
	}
	t, detail := parseTarget(s.URL)
	if detail != "" {
		return nil, fmt.Errorf("operator.url %s", detail)
	}
	private, _ := parsePrivate(s.AllowPrivate)
	guard := addressGuard{private: private, only: t.scheme == "http"}
	return &operator{url: s.URL, keys: keys, publicURL: publicURL, sender: newSender(guard.dialer(), 0, words(s.Secret)...)}, nil
}

type operator struct {
	url       string
	keys      [][]byte
	publicURL string
	sender    *sender
}

// Tell implements ledger.Operator. Any 2xx is taken; a redirect is not followed and counts as a failure.
func (o *operator) Tell(ctx context.Context, a ledger.Alert, at time.Time) error {
	body, err := json.Marshal(o.body(&a))
	if err != nil {
		return fmt.Errorf("encoding an alert: %w", err)
	}
	id := webhookID(a.ID)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	header.Set("webhook-signature", sign(o.keys, id, at, body))
	x := o.sender.post(ctx, &request{url: o.url, header: header, body: body, at: at})
	switch {
	case x.status >= 200 && x.status <= 299:
		return nil
	case x.status != 0:
		return fmt.Errorf("it answered %d", x.status)
	}
	return fmt.Errorf("%s", plainError(x.phase, x.err))
}

// alertBody is what is posted: the same fields for every kind, null where there is nothing.
type alertBody struct {
	Type      string    `json:"type"`
	Timestamp string    `json:"timestamp"`
	Data      alertData `json:"data"`
}

type alertData struct {
	Kind    ledger.AlertKind `json:"kind"`
	Count   int64            `json:"count"`
	AtLeast bool             `json:"at_least"`
	URL     *string          `json:"url"`
	First   []alertSubject   `json:"first"`
}

type alertSubject struct {
	ID       *string `json:"id"`
	Channel  *string `json:"channel"`
	Provider string  `json:"provider"`
	State    string  `json:"state"`
	Reason   *string `json:"reason"`
	By       *string `json:"by"`
	Since    string  `json:"since"`
	URL      *string `json:"url"`
}

// alertLinks lead to what an alert of a kind is about.
var alertLinks = map[ledger.AlertKind]string{
	ledger.AlertGate: "/v1/providers", ledger.AlertDuplicate: "/v1/stats",
	ledger.AlertWaiting: "/v1/notifications?state=ambiguous", ledger.AlertExhausted: "/v1/notifications?state=failed",
}

func (o *operator) body(a *ledger.Alert) alertBody {
	data := alertData{Kind: a.Kind, Count: a.Count, AtLeast: a.AtLeast, URL: o.link(alertLinks[a.Kind]), First: make([]alertSubject, len(a.Subjects))}
	for i, s := range a.Subjects {
		subject := alertSubject{
			Channel: textOrNull(string(s.Channel)), Provider: s.Provider, State: s.State, Reason: textOrNull(s.Reason),
			By: textOrNull(s.By), Since: alertTime(s.Since), URL: o.link("/v1/providers"),
		}
		if s.ID != uuid.Nil {
			subject.ID, subject.URL = textOrNull(s.ID.String()), o.link("/v1/notifications/"+s.ID.String())
		}
		data.First[i] = subject
	}
	return alertBody{Type: "sendonce." + string(a.Kind), Timestamp: alertTime(a.At), Data: data}
}

// link is a page of ours, where the configuration says how we are reached.
func (o *operator) link(path string) *string {
	if o.publicURL == "" {
		return nil
	}
	return textOrNull(o.publicURL + path)
}

func alertTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
