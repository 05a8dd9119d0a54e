package providers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	twilioBaseURL  = "https://api.twilio.com" // another edge or region: https://api.EDGE.REGION.twilio.com
	twilioText     = 1600                     // code points of Body
	twilioValidity = 36_000 * time.Second     // the longest ValidityPeriod, which is its default too
)

// twilioRetries asks for up to five tries of each report, whatever stops one, within the 15 s that Twilio gives to all of them; it
// would try once more after a failed connection only. A fragment goes to no server and into no signature
// (twilio.com/docs/usage/webhooks/webhooks-connection-overrides).
const twilioRetries = "#rc=5&rp=all"

// The forms of ids, as the API's description has them.
var (
	twilioAccount = regexp.MustCompile(`^AC[0-9a-fA-F]{32}$`)
	twilioKey     = regexp.MustCompile(`^SK[0-9a-fA-F]{32}$`)
	twilioService = regexp.MustCompile(`^MG[0-9a-fA-F]{32}$`)
	twilioContent = regexp.MustCompile(`^HX[0-9a-fA-F]{32}$`)
)

// TwilioSettings configure the type "twilio": SMS by POST /2010-04-01/Accounts/{AccountSid}/Messages.json.
type TwilioSettings struct {
	AccountSID          string            `koanf:"account_sid"`
	AuthToken           Secret            `koanf:"auth_token"`  // signs in where there is no API key; checks the signature of receipts
	APIKeySID           string            `koanf:"api_key_sid"` // with its secret in place of the auth token
	APIKeySecret        Secret            `koanf:"api_key_secret"`
	From                string            `koanf:"from"`                  // sender of messages that bring none
	MessagingServiceSID string            `koanf:"messaging_service_sid"` // chooses the sender where from is empty
	SharedKeys          map[string]Secret `koanf:"shared_keys"`           // by id: what Webhooks Rules sign receipts with
	MaxSegments         int               `koanf:"max_segments"`          // parts of one SMS; 0: as many as 1,600 characters take
}

// Validate implements Settings.
func (s *TwilioSettings) Validate(c Common) []ledger.FieldError {
	out := c.faults()
	add := func(field, detail string) {
		if detail != "" {
			out = append(out, ledger.FieldError{Field: field, Detail: detail})
		}
	}
	if c.RepeatWindow > 0 {
		add("repeat_window", "must be 0s: Twilio takes no key that a repeat could go under")
	}
	if !twilioAccount.MatchString(s.AccountSID) {
		add("account_sid", "must be AC and 32 hex digits")
	}
	byKey := s.APIKeySID != "" || s.APIKeySecret != ""
	switch {
	case !byKey && s.AuthToken == "":
		add("auth_token", "is missing: give it, or api_key_sid and api_key_secret")
	case byKey && !twilioKey.MatchString(s.APIKeySID):
		add("api_key_sid", "must be SK and 32 hex digits")
	case byKey && s.APIKeySecret == "":
		add("api_key_secret", "is missing: it goes with api_key_sid")
	}
	add("auth_token", basicFault(s.AuthToken))
	add("api_key_secret", basicFault(s.APIKeySecret))
	if s.From == "" && s.MessagingServiceSID == "" {
		add("from", "is missing: give it, or messaging_service_sid")
	}
	if s.From != "" {
		add("from", senderFault(s.From))
	}
	if s.MessagingServiceSID != "" && !twilioService.MatchString(s.MessagingServiceSID) {
		add("messaging_service_sid", "must be MG and 32 hex digits")
	}
	for id, key := range s.SharedKeys {
		if id == "" || key == "" {
			add("shared_keys", "must have an id and a key in each line")
		}
	}
	add("max_segments", segmentsFault(s.MaxSegments))
	return out
}

// basicFault says what is wrong with a secret that goes into a header.
func basicFault(s Secret) string {
	if strings.ContainsFunc(string(s), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "must be printable ASCII without blanks"
	}
	return ""
}

// New implements Settings.
func (s *TwilioSettings) New(_ string, c Common) (ledger.Provider, error) {
	base := strings.TrimRight(c.BaseURL, "/")
	if base == "" {
		base = twilioBaseURL
	}
	user, password := s.AccountSID, s.AuthToken
	if s.APIKeySID != "" {
		user, password = s.APIKeySID, s.APIKeySecret
	}
	authorization := basic(user, password)
	return &twilio{
		settings: *s, url: base + "/2010-04-01/Accounts/" + s.AccountSID + "/Messages.json", authorization: authorization,
		callback: c.CallbackURL, rules: smsRules{twilioText, s.MaxSegments}, account: fingerprint("twilio", base, s.AccountSID),
		lookUps: c.lookUps(twilioLookUps),
		// Each request has a connection of its own: a look-up settles a lost answer late, and not for sure.
		sender: newSender(c.Dial, 0, s.AuthToken, s.APIKeySecret, Secret(strings.TrimPrefix(authorization, "Basic "))),
	}, nil
}

// basic is an Authorization header.
func basic(user string, password Secret) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+string(password)))
}

// twilio sends one message to one recipient: there is no batch, and nothing that a repeat could go under.
type twilio struct {
	settings      TwilioSettings
	url           string
	authorization string
	callback      string
	lookUps       ledger.LookUps
	rules         smsRules
	account       [8]byte
	sender        *sender
}

// Account implements ledger.Provider: a new token is the same account.
func (p *twilio) Account() [8]byte { return p.account }

// SendsTemplates implements ledger.Templater.
func (p *twilio) SendsTemplates() bool { return true }

// Segments implements ledger.Segmenter. A Messaging Service with smart encoding may need fewer parts.
func (p *twilio) Segments(message []byte) ledger.Segments { return textSegments(message) }

// Check implements ledger.Checker.
func (p *twilio) Check(e ledger.Event) error {
	_, err := p.read(e.Message)
	return err
}

// twilioMessage is a message with either a text or a content template.
type twilioMessage struct {
	textMessage
	contentSID string
	variables  string // a JSON object; "": none
}

// read reads a message and refuses what Twilio is known to refuse.
func (p *twilio) read(message []byte) (m twilioMessage, err error) {
	var t struct {
		ID        string          `json:"id"`
		Variables json.RawMessage `json:"variables"`
	}
	if readJSON(message, &m.textMessage) != nil || !given(m.Template) {
		m.textMessage, err = p.rules.read(message)
		return m, err
	}
	if readJSON(m.Template, &t) != nil || !twilioContent.MatchString(t.ID) {
		return m, ledger.Invalid("message.template.id", "must be the id of a content template: HX and 32 hex digits")
	}
	m.contentSID = t.ID
	if given(t.Variables) {
		var compact bytes.Buffer
		if json.Compact(&compact, t.Variables) != nil || compact.Bytes()[0] != '{' {
			return m, ledger.Invalid("message.template.variables", "must be an object")
		}
		m.variables = compact.String()
	}
	return m, p.rules.check(m.textMessage)
}

// Build implements ledger.Provider.
func (p *twilio) Build(o ledger.Order) (ledger.Request, error) {
	m, err := p.read(o.Message)
	if err != nil {
		return nil, err
	}
	form := url.Values{}
	add := func(name, value string) {
		if value != "" {
			form.Set(name, value)
		}
	}
	add("To", o.Recipient)
	add("From", cmp.Or(m.From, p.settings.From))
	add("MessagingServiceSid", p.settings.MessagingServiceSID) // beside a From: one of its pool
	add("Body", m.Text)
	add("ContentSid", m.contentSID)
	add("ContentVariables", m.variables)
	if p.callback != "" {
		add("StatusCallback", p.callback+"/"+o.Reference()+twilioRetries)
	}
	if left, ok := validity(o, time.Second, twilioValidity); ok {
		add("ValidityPeriod", strconv.FormatInt(int64(left/time.Second), 10))
	}
	header := authorized(p.authorization)
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	return &request{url: p.url, header: header, body: []byte(form.Encode()), at: o.At, ownSender: m.From != ""}, nil
}

// Send implements ledger.Provider.
func (p *twilio) Send(ctx context.Context, r ledger.Request) ledger.Result {
	x := p.sender.post(ctx, r.(*request))
	return readTwilio(&x)
}
