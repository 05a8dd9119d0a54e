package providers

import (
	"cmp"
	"context"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sendonce/ledger"
)

// vonageTokenLife is how long a request's token is valid: long enough for clocks that differ by minutes.
const vonageTokenLife = 15 * time.Minute

// vonageMessages is the Messages API, channel SMS.
type vonageMessages struct {
	vonage
	key           *rsa.PrivateKey // nil: by API key and secret
	authorization string          // then
}

// The fields stand in the order of their names.
type vonageMessage struct {
	Channel        string            `json:"channel"`
	ClientRef      string            `json:"client_ref"`
	From           string            `json:"from"`
	MessageType    string            `json:"message_type"`
	SMS            *vonageSMSOptions `json:"sms,omitempty"`
	Text           string            `json:"text"`
	To             string            `json:"to"`
	TTL            int64             `json:"ttl,omitempty"` // seconds; the SMS API counts milliseconds
	WebhookURL     string            `json:"webhook_url,omitempty"`
	WebhookVersion string            `json:"webhook_version,omitempty"`
}

type vonageSMSOptions struct {
	EncodingType string `json:"encoding_type"`
}

// Build implements ledger.Provider.
func (p *vonageMessages) Build(o ledger.Order) (ledger.Request, error) {
	m, err := p.rules.read(o.Message)
	if err != nil {
		return nil, err
	}
	out := vonageMessage{
		Channel: "sms", ClientRef: o.Reference(), MessageType: "text", Text: m.Text,
		From: p.number(cmp.Or(m.From, p.settings.From)), To: p.number(o.Recipient),
	}
	if !isGSM(m.Text) {
		out.SMS = &vonageSMSOptions{EncodingType: "unicode"}
	}
	if p.callback != "" {
		out.WebhookURL, out.WebhookVersion = p.callback+"/"+o.Reference(), "v1"
	}
	if left, ok := validity(o, vonageMinTTL, vonageMaxTTL); ok {
		out.TTL = int64(left / time.Second)
	}
	body, err := canonicalJSON(out)
	if err != nil {
		return nil, err
	}
	authorization := p.authorization
	if p.key != nil {
		token, err := p.token(o)
		if err != nil {
			return nil, err
		}
		authorization = "Bearer " + token
	}
	header := authorized(authorization)
	header.Set("Content-Type", "application/json")
	return &request{url: p.url, header: header, body: body, at: o.At, ownSender: m.From != ""}, nil
}

// token signs a request with the application's key. Each attempt has a reference of its own, so each token has an id of its own.
func (p *vonageMessages) token(o ledger.Order) (string, error) {
	token, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{
		"application_id": p.settings.ApplicationID, "jti": o.Reference(),
		"iat": o.At.Unix(), "exp": o.At.Add(vonageTokenLife).Unix(),
	}).SignedString(p.key)
	if err != nil {
		return "", fmt.Errorf("signing the request: %w", err)
	}
	return token, nil
}

// Send implements ledger.Provider.
func (p *vonageMessages) Send(ctx context.Context, r ledger.Request) ledger.Result {
	x := p.sender.post(ctx, r.(*request))
	return readVonageMessages(&x)
}

// vonageProblem is the form of errors (RFC 7807), and the id of a message that was accepted.
type vonageProblem struct {
	MessageUUID json.RawMessage `json:"message_uuid"`
	Type        json.RawMessage `json:"type"`
	Title       json.RawMessage `json:"title"`
	Detail      json.RawMessage `json:"detail"`
}

// refuses reports whether an answer is an error in Vonage's own form. Many gateways answer in the form of RFC 7807; only
// Vonage's types lead to its list of errors. Without an Authorization header its 401 has no type.
func (a *vonageProblem) refuses(status int) bool {
	kind := textOf(a.Type)
	typed := strings.Contains(kind, "/api-errors") || kind == "" && status == http.StatusUnauthorized && textOf(a.Detail) != ""
	return textOf(a.Title) != "" && typed
}

// code is the part of a problem's type that names the error: …/api-errors/messages#1120, …/api-errors#unauthorized.
func (a *vonageProblem) code() string {
	_, code, _ := strings.Cut(textOf(a.Type), "#")
	return plainCode(code)
}

// readVonageMessages says what an answer means. A 202 is a yes, also where its body is lost.
func readVonageMessages(x *exchange) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	a := readAnswer[vonageProblem](x)
	yes, made := x.status == http.StatusAccepted, anyGiven(a.MessageUUID)
	switch {
	case yes:
		return x.accepted(a.MessageUUID, a.code(), a.Type, a.Title, a.Detail)
	case !yes && made:
		return x.contradicts(a.code())
	case !yes && !made:
		return x.unaccepted(&vonageCodes, a.refuses(x.status), a.code())
	}
	return x.unlisted()
}
