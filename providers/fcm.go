package providers

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2/jwt"

	"sendonce/ledger"
)

const (
	fcmBaseURL  = "https://fcm.googleapis.com"
	fcmTokenURL = "https://oauth2.googleapis.com/token" // where a credentials file names none
	fcmScope    = "https://www.googleapis.com/auth/firebase.messaging"
)

// FCMSettings configure the type "fcm": push messages by Firebase Cloud Messaging's HTTP v1 API.
type FCMSettings struct {
	Credentials Secret `koanf:"credentials"` // the JSON of a service account's key; mostly given as credentials_file
}

// serviceAccount is what counts in the credentials.
type serviceAccount struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	ClientEmail  string `json:"client_email"`
	PrivateKey   string `json:"private_key"`
	PrivateKeyID string `json:"private_key_id"`
	TokenURI     string `json:"token_uri"`
}

// Validate implements Settings.
func (s *FCMSettings) Validate(c Common) []ledger.FieldError {
	out := c.faults()
	if c.RepeatWindow > 0 {
		out = append(out, ledger.FieldError{Field: "repeat_window", Detail: "must be 0s: FCM takes no key that a repeat could go under"})
	}
	if _, fault := s.account(); fault != "" {
		out = append(out, ledger.FieldError{Field: "credentials", Detail: fault})
	}
	return out
}

// account reads the credentials; fault says what is wrong without a word of them.
func (s *FCMSettings) account() (a serviceAccount, fault string) {
	switch {
	case s.Credentials == "":
		return a, "must be the JSON of a service account's key; credentials_file names the file that Google gave you"
	case readJSON([]byte(s.Credentials), &a) != nil:
		return a, "must be JSON: the file of a service account's key as Google gave it"
	case a.Type != "service_account":
		return a, `must have "type": "service_account": other keys of Google cannot send`
	case a.ProjectID == "":
		return a, "must have a project_id"
	case a.ClientEmail == "":
		return a, "must have a client_email"
	case !isRSAKey(a.PrivateKey):
		return a, "must have a private_key: an RSA key in PEM"
	}
	if a.TokenURI == "" {
		a.TokenURI = fcmTokenURL
	}
	if baseURLFault(a.TokenURI) != "" {
		return a, "must have a token_uri that begins with https://"
	}
	return a, ""
}

// isRSAKey reports whether text is a private RSA key as service accounts have them.
func isRSAKey(text string) bool {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return false
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		_, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		return err == nil
	}
	_, ok := key.(*rsa.PrivateKey)
	return ok
}

// New implements Settings.
func (s *FCMSettings) New(_ string, c Common) (ledger.Provider, error) {
	a, fault := s.account()
	if fault != "" {
		return nil, ledger.Invalid("credentials", "%s", fault)
	}
	base := strings.TrimRight(c.BaseURL, "/")
	if base == "" {
		base = fcmBaseURL
	}
	p := &fcm{
		url:     base + "/v1/projects/" + url.PathEscape(a.ProjectID) + "/messages:send",
		account: fingerprint("fcm", base, a.ProjectID+"\x00"+a.ClientEmail),
		sender:  newSender(c.Dial, 0, Secret(a.PrivateKey)), // a lost answer cannot be settled: no connection is shared
	}
	p.tokens = &tokenSource{sender: p.sender, config: jwt.Config{
		Email: a.ClientEmail, PrivateKey: []byte(a.PrivateKey), PrivateKeyID: a.PrivateKeyID, Scopes: []string{fcmScope}, TokenURL: a.TokenURI,
	}}
	return p, nil
}

// fcm sends one message to one device. FCM dedupes nothing and shows no message again, so a lost answer stays unknown; what
// the adapter does is to make a copy replace the first wherever the device allows it.
type fcm struct {
	url     string
	account [8]byte
	sender  *sender
	tokens  *tokenSource
}

// Account implements ledger.Provider.
func (p *fcm) Account() [8]byte { return p.account }

// Check implements ledger.Checker.
func (p *fcm) Check(e ledger.Event) error {
	_, err := readPush(e.Message, e.Recipient, max(len(e.DedupeKey), longestKey))
	return err
}

// Build implements ledger.Provider. The access token is no part of the request: Send fetches it.
func (p *fcm) Build(o ledger.Order) (ledger.Request, error) {
	m, err := readPush(o.Message, o.Recipient, len(o.WireKey))
	if err != nil {
		return nil, err
	}
	body, err := canonicalJSON(fcmBody{fcmOf(o, m)})
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	return &request{url: p.url, header: header, body: body, at: o.At}, nil
}

// Send implements ledger.Provider. Without a token nothing of the message leaves.
func (p *fcm) Send(ctx context.Context, r ledger.Request) ledger.Result {
	req := *r.(*request)
	token, failed := p.tokens.get(ctx, req.at)
	if token == "" {
		return failed
	}
	req.header = req.header.Clone()
	req.header.Set("Authorization", "Bearer "+token)
	x := p.sender.post(ctx, &req)
	x.secrets = append([][]byte{[]byte(token)}, x.secrets...)
	result := readFCM(&x)
	if result.Fault == ledger.FaultCredentials {
		p.tokens.forget(token)
	}
	return result
}
