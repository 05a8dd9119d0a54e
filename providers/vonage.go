package providers

import (
	"cmp"
	"crypto/rsa"
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"sendonce/ledger"
)

// The two APIs of Vonage that send SMS.
const (
	vonageSMSAPI      = "sms"
	vonageMessagesAPI = "messages"
)

const (
	vonageSMSURL      = "https://rest.nexmo.com"
	vonageMessagesURL = "https://api.nexmo.com" // another region: https://api-eu.nexmo.com

	// Code points of a text (developer.vonage.com/api/sms, /api/messages).
	vonageSMSText      = 3200
	vonageMessagesText = 1000
)

// VonageSettings configure the type "vonage": SMS by the SMS API (POST /sms/json) or by the Messages API (POST /v1/messages).
type VonageSettings struct {
	API             string `koanf:"api"` // sms or messages
	APIKey          string `koanf:"api_key"`
	APISecret       Secret `koanf:"api_secret"`
	ApplicationID   string `koanf:"application_id"`   // messages: signs in with the private key in place of the secret
	PrivateKey      Secret `koanf:"private_key"`      // PEM
	From            string `koanf:"from"`             // sender of messages that bring none
	ReportsURL      string `koanf:"reports_url"`      // of the Reports API; "": base_url, else the type's own
	SignatureSecret Secret `koanf:"signature_secret"` // checks the signature of receipts
	SignatureMethod string `koanf:"signature_method"` // sms: md5hash, md5, sha1, sha256 or sha512; "": whichever of them
	MaxSegments     int    `koanf:"max_segments"`     // parts of one SMS; 0: as many as the API's longest text takes
}

// Validate implements Settings.
func (s *VonageSettings) Validate(c Common) []ledger.FieldError {
	out := c.faults()
	add := func(field, detail string) {
		if detail != "" {
			out = append(out, ledger.FieldError{Field: field, Detail: detail})
		}
	}
	if c.RepeatWindow > 0 {
		add("repeat_window", "must be 0s: Vonage takes no key that a repeat could go under")
	}
	switch s.API {
	case vonageSMSAPI:
		if s.ApplicationID != "" || s.PrivateKey != "" {
			add("api", "must be messages for application_id and private_key: the SMS API takes api_key and api_secret")
		}
	case vonageMessagesAPI:
	default:
		add("api", "must be sms or messages")
	}
	byKey := s.API == vonageMessagesAPI && (s.ApplicationID != "" || s.PrivateKey != "")
	add("api_key", s.pair(s.APIKey, s.APISecret != "" || !byKey, "api_secret"))
	add("api_secret", s.pair(string(s.APISecret), !byKey, "api_key"))
	if byKey {
		add("application_id", s.pair(s.ApplicationID, true, "private_key"))
		if _, err := s.key(); err != nil {
			add("private_key", "must be the application's RSA key in PEM: it begins with -----BEGIN PRIVATE KEY-----")
		}
	}
	if s.From == "" {
		add("from", "is missing: Vonage has no sender of its own")
	} else {
		add("from", senderFault(s.From))
	}
	if s.ReportsURL != "" {
		add("reports_url", baseURLFault(s.ReportsURL))
	}
	add("signature_secret", basicFault(s.SignatureSecret))
	if _, known := vonageMethods[s.SignatureMethod]; s.SignatureMethod != "" && (!known || s.API == vonageMessagesAPI) {
		add("signature_method", "must be md5hash, md5, sha1, sha256 or sha512, and goes with api: sms alone")
	}
	add("max_segments", segmentsFault(s.MaxSegments))
	return out
}

// pair says what is wrong with one of two settings that go together.
func (s *VonageSettings) pair(value string, needed bool, other string) string {
	if value == "" && needed {
		return fmt.Sprintf("is missing: it goes with %s", other)
	}
	return basicFault(Secret(value))
}

// key reads the private key.
func (s *VonageSettings) key() (*rsa.PrivateKey, error) {
	return jwt.ParseRSAPrivateKeyFromPEM([]byte(s.PrivateKey))
}

// New implements Settings.
func (s *VonageSettings) New(_ string, c Common) (ledger.Provider, error) {
	base := strings.TrimRight(c.BaseURL, "/")
	common := vonage{settings: *s, callback: c.CallbackURL, rules: smsRules{vonageSMSText, s.MaxSegments}}
	common.reports = strings.TrimRight(cmp.Or(s.ReportsURL, c.BaseURL, vonageMessagesURL), "/") + "/v2/reports/records"
	if s.APIKey != "" && s.APISecret != "" { // no other way in
		common.lookUps = c.lookUps(vonageLookUps)
	}
	if s.API != vonageMessagesAPI {
		if base == "" {
			base = vonageSMSURL
		}
		common.url, common.account = base+"/sms/json", fingerprint("vonage", base, s.APIKey)
		common.sender = vonageSender(c, s.APISecret, Secret(strings.TrimPrefix(basic(s.APIKey, s.APISecret), "Basic ")))
		return &vonageSMS{common}, nil
	}
	if base == "" {
		base = vonageMessagesURL
	}
	common.rules.characters = vonageMessagesText
	p := &vonageMessages{vonage: common, authorization: basic(s.APIKey, s.APISecret)}
	account := s.APIKey
	if s.PrivateKey != "" {
		key, err := s.key()
		if err != nil {
			return nil, fmt.Errorf("private_key is no RSA key in PEM")
		}
		p.key, p.authorization, account = key, "", s.ApplicationID
	}
	p.url, p.account = base+"/v1/messages", fingerprint("vonage", base, account)
	p.sender = vonageSender(c, s.APISecret, Secret(strings.TrimPrefix(p.authorization, "Basic ")))
	return p, nil
}

// vonageSender makes a connection for each request: a look-up settles a lost answer late, and not for sure.
func vonageSender(c Common, secrets ...Secret) *sender { return newSender(c.Dial, 0, secrets...) }

// vonage is what both APIs share.
type vonage struct {
	settings VonageSettings
	url      string
	reports  string // records of the Reports API
	lookUps  ledger.LookUps
	callback string
	rules    smsRules
	account  [8]byte
	sender   *sender
}

// Account implements ledger.Provider: a new secret is the same account.
func (p *vonage) Account() [8]byte { return p.account }

// Segments implements ledger.Segmenter.
func (p *vonage) Segments(message []byte) ledger.Segments { return textSegments(message) }

// Check implements ledger.Checker.
func (p *vonage) Check(e ledger.Event) error {
	_, err := p.rules.read(e.Message)
	return err
}

// number writes a phone number as Vonage takes it, without the plus sign; a name stays.
func (p *vonage) number(s string) string { return strings.TrimPrefix(s, "+") }
