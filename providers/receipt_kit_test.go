package providers

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

const (
	testReference   = "01939c7e-0000-7000-8000-000000000001-2"
	receiptsURL     = "https://notify.example.test/v1/receipts/test"
	testSignature   = "cPYQXRTvyi4z7kkiRZiqlbtNlW3fHGp0fJcPXBWlOqHmRHcVpY"
	testSharedKeyID = "webhooks_sharedkey_1"
)

// report is what a provider has to tell about one message.
type report struct {
	reference, id, word string
}

// poster posts reports as one provider does. What it signs with shares no code with the adapters.
type poster struct {
	name    string
	make    func(t testing.TB, secret bool) ledger.Reporter
	body    func(r report) []byte
	sign    func(body []byte, reference string, at time.Time) ledger.Posted
	good    report
	want    ledger.Delivery // of good
	raw     bool            // the bytes of the body are signed, not what they say
	inURL   bool            // the URL is signed, and the reference is believed there alone
	past    time.Duration   // how old a request may be; 0: it has no time
	headers []string        // that carry the signature
}

// post is a signed request.
func (p poster) post(r report, at time.Time) ledger.Posted {
	reference := ""
	if p.inURL {
		reference = r.reference
	}
	return p.sign(p.body(r), reference, at)
}

var posters = []poster{
	{
		name: "twilio", make: makeTwilio, body: twilioFormBody, inURL: true, headers: []string{"X-Twilio-Signature"},
		good: report{testReference, "SM0123456789abcdef0123456789abcdef", "delivered"}, want: ledger.Delivered,
		sign: func(body []byte, reference string, at time.Time) ledger.Posted {
			return posted(at, reference, "", body, "X-Twilio-Signature", signTwilio(testKey, crypto.SHA1, receiptsURL+"/"+reference, body))
		},
	},
	{
		name: "twilio_shared", make: makeTwilio, body: twilioFormBody, inURL: true, headers: []string{"X-Twilio-Signature", "X-Twilio-Webhooks-Signature-Settings"},
		good: report{testReference, "SM0123456789abcdef0123456789abcdef", "delivered"}, want: ledger.Delivered,
		sign: func(body []byte, reference string, at time.Time) ledger.Posted {
			return posted(at, reference, "", body,
				"X-Twilio-Signature", signTwilio("shared "+testKey, crypto.SHA256, receiptsURL+"/"+reference, body),
				"X-Twilio-Webhooks-Signature-Settings", "key="+testSharedKeyID+",algorithm=HMAC_SHA256")
		},
	},
	{
		name: "twilio_json", make: makeTwilio, inURL: true, raw: true, headers: []string{"X-Twilio-Signature"},
		good: report{testReference, "SM0123456789abcdef0123456789abcdef", "delivered"}, want: ledger.Delivered,
		body: func(r report) []byte {
			return fmt.Appendf(nil, `{"MessageSid":%q,"MessageStatus":%q,"AccountSid":%q,"ErrorCode":null}`, r.id, r.word, testAccountSID)
		},
		sign: func(body []byte, reference string, at time.Time) ledger.Posted {
			query := fmt.Sprintf("?bodySHA256=%x", sha256.Sum256(body))
			return posted(at, reference, query, body, "X-Twilio-Signature", signTwilio(testKey, crypto.SHA1, receiptsURL+"/"+reference+query, nil))
		},
	},
	{
		name: "sendgrid", raw: true, past: 48 * time.Hour, headers: []string{"X-Twilio-Email-Event-Webhook-Signature", "X-Twilio-Email-Event-Webhook-Timestamp"},
		good: report{testReference, "14c5d75ce93.dfd.64b469", "bounce"}, want: ledger.Bounced,
		make: func(t testing.TB, secret bool) ledger.Reporter {
			s := SendGridSettings{APIKey: testKey, Category: "c", WebhookPublicKey: eventKeyText(t)}
			if !secret {
				s.WebhookPublicKey = ""
			}
			return adapter(t, &s)
		},
		body: func(r report) []byte { return []byte("[" + sendGridEventOf(r, "ev_1") + "]\r\n") },
		sign: func(body []byte, reference string, at time.Time) ledger.Posted {
			stamp := fmt.Sprint(at.Unix())
			digest := sha256.Sum256(append([]byte(stamp), body...))
			signature, err := ecdsa.SignASN1(rand.Reader, eventKeyPair, digest[:])
			if err != nil {
				panic(err)
			}
			return posted(at, reference, "", body, "X-Twilio-Email-Event-Webhook-Signature", base64.StdEncoding.EncodeToString(signature),
				"X-Twilio-Email-Event-Webhook-Timestamp", stamp)
		},
	},
	{
		name: "vonage", past: 5 * time.Minute, make: makeVonage("sms"), body: vonageReceiptForm,
		good: report{testReference, "0A0000001234567B", "delivered"}, want: ledger.Delivered,
		sign: func(body []byte, reference string, at time.Time) ledger.Posted {
			form, _ := url.ParseQuery(string(body))
			form.Set("timestamp", fmt.Sprint(at.Unix()))
			params := map[string]string{}
			for name := range form {
				params[name] = form.Get(name)
			}
			digest := md5.Sum([]byte(vonageText(params) + testSignature))
			form.Set("sig", hex.EncodeToString(digest[:]))
			return posted(at, reference, "", []byte(form.Encode()))
		},
	},
	{
		name: "vonage_json", past: 5 * time.Minute, make: makeVonage("sms"), body: vonageReceiptJSON,
		good: report{testReference, "0A0000001234567B", "delivered"}, want: ledger.Delivered,
		sign: func(body []byte, reference string, at time.Time) ledger.Posted {
			params := map[string]string{}
			if json.Unmarshal(body, &params) != nil || params == nil {
				return posted(at, reference, "", body)
			}
			params["timestamp"] = fmt.Sprint(at.Unix())
			mac := hmac.New(sha512.New, []byte(testSignature))
			mac.Write([]byte(vonageText(params)))
			params["sig"] = strings.ToUpper(hex.EncodeToString(mac.Sum(nil)))
			signed, _ := json.Marshal(params)
			return posted(at, reference, "", signed)
		},
	},
	{
		name: "vonage_messages", raw: true, past: 5 * time.Minute, make: makeVonage("messages"), headers: []string{"Authorization"},
		good: report{testReference, "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab", "delivered"}, want: ledger.Delivered,
		body: func(r report) []byte {
			return fmt.Appendf(nil, `{"message_uuid":%q,"to":"447700900000","from":"AcmeShip","timestamp":"2026-11-30T09:59:00.000Z","status":%q,"client_ref":%q,"channel":"sms"}`,
				r.id, r.word, r.reference)
		},
		sign: func(body []byte, reference string, at time.Time) ledger.Posted {
			claims := fmt.Sprintf(`{"iat":%d,"jti":"j1","iss":"Vonage","payload_hash":"%x","api_key":"abcd1234"}`, at.Unix(), sha256.Sum256(body))
			return posted(at, reference, "", body, "Authorization", "Bearer "+signJWT(`{"alg":"HS256","typ":"JWT"}`, claims, testSignature))
		},
	},
	{
		name: "resend", raw: true, past: 5 * time.Minute, headers: []string{"Svix-Id", "Svix-Timestamp", "Svix-Signature"},
		good: report{testReference, "56761188-7520-42d8-8898-ff6fc54ce618", "email.complained"}, want: ledger.Complained,
		make: func(t testing.TB, secret bool) ledger.Reporter {
			s := ResendSettings{APIKey: testKey, WebhookSecret: testSecret}
			if !secret {
				s.WebhookSecret = ""
			}
			return adapter(t, &s)
		},
		body: func(r report) []byte {
			return fmt.Appendf(nil, `{"type":%q,"created_at":"2026-11-30T09:59:00.126Z","data":{"email_id":%q,"from":"Shop <shop@example.test>","to":[%q],"subject":%q,"tags":{"reference":%q}}}`,
				r.word, r.id, testAddress, testText, r.reference)
		},
		sign: func(body []byte, reference string, at time.Time) ledger.Posted {
			key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(testSecret, "whsec_"))
			mac := hmac.New(sha256.New, key)
			fmt.Fprintf(mac, "msg_1.%d.%s", at.Unix(), body)
			return posted(at, reference, "", body, "Svix-Id", "msg_1", "Svix-Timestamp", fmt.Sprint(at.Unix()),
				"Svix-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		},
	},
}

// eachPoster runs a case on the requests of every provider.
func eachPoster(t *testing.T, run func(t *testing.T, p poster)) {
	for _, p := range posters {
		t.Run(p.name, func(t *testing.T) { run(t, p) })
	}
}

// posted is a request to the route of the receipts; header has names and values in turn.
func posted(at time.Time, reference, query string, body []byte, header ...string) ledger.Posted {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return ledger.Posted{URL: receiptsURL + "/" + reference + query, Header: h, Body: body, Reference: reference, At: at}
}

func adapter(t testing.TB, s Settings) ledger.Reporter {
	t.Helper()
	c := Common{CallbackURL: receiptsURL}
	if faults := s.Validate(c); len(faults) > 0 {
		t.Fatalf("faults in the settings: %v", faults)
	}
	p, err := s.New("test", c)
	if err != nil {
		t.Fatal(err)
	}
	return p.(ledger.Reporter)
}

func makeTwilio(t testing.TB, secret bool) ledger.Reporter {
	s := TwilioSettings{
		AccountSID: testAccountSID, AuthToken: testKey, From: "+15005550006", SharedKeys: map[string]Secret{testSharedKeyID: "shared " + testKey},
	}
	if !secret {
		s.AuthToken, s.SharedKeys = "", nil
		s.APIKeySID, s.APIKeySecret = "SK00000000000000000000000000000000", testKey
	}
	return adapter(t, &s)
}

func makeVonage(api string) func(t testing.TB, secret bool) ledger.Reporter {
	return func(t testing.TB, secret bool) ledger.Reporter {
		s := VonageSettings{API: api, APIKey: "abcd1234", APISecret: testKey, From: "AcmeShip", SignatureSecret: testSignature}
		if !secret {
			s.SignatureSecret = ""
		}
		return adapter(t, &s)
	}
}

func twilioFormBody(r report) []byte {
	return []byte(url.Values{
		"MessageSid": {r.id}, "SmsSid": {r.id}, "MessageStatus": {r.word}, "SmsStatus": {r.word}, "To": {testNumber}, "From": {"+15005550006"},
		"AccountSid": {testAccountSID}, "ApiVersion": {"2010-04-01"},
	}.Encode())
}

// signTwilio signs an address and the parameters of a form as Twilio's page on the security of webhooks says.
func signTwilio(secret string, hash crypto.Hash, address string, body []byte) string {
	form, _ := url.ParseQuery(string(body))
	text := address
	var names []string
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		seen := map[string]bool{}
		values := form[name]
		slices.Sort(values)
		for _, value := range values {
			if !seen[value] {
				text += name + value
			}
			seen[value] = true
		}
	}
	mac := hmac.New(hash.New, []byte(secret))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// eventKeyPair signs events as SendGrid does.
var eventKeyPair = func() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}()

func eventKeyText(t testing.TB) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&eventKeyPair.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

// sendGridEventOf is one event under an id.
func sendGridEventOf(r report, id string) string {
	return fmt.Sprintf(`{"email":%q,"event":%q,"sg_event_id":%q,"sg_message_id":"%s.filterdrecv-1-2.0","smtp-id":"<x@example.test>","timestamp":1796032740,"reference":%q,"dedupe_key":%q,"reason":"Größe \/ 1.0"}`,
		testAddress, r.word, id, strings.Split(r.id, ".")[0], r.reference, testWire)
}

func vonageReceiptForm(r report) []byte {
	form := url.Values{}
	for name, value := range vonageReceiptOf(r) {
		form.Set(name, value)
	}
	return []byte(form.Encode())
}

func vonageReceiptJSON(r report) []byte {
	text, _ := json.Marshal(vonageReceiptOf(r))
	return text
}

func vonageReceiptOf(r report) map[string]string {
	short := r.reference
	if i := strings.LastIndexByte(short, '-'); i >= 0 {
		short = strings.ReplaceAll(short[:i], "-", "") + short[i:]
	}
	return map[string]string{
		"msisdn": testNumber[1:], "to": "AcmeShip", "network-code": "12345", "messageId": r.id, "price": "0.03330000", "status": r.word,
		"scts": "2611300959", "err-code": "0", "api-key": "abcd1234", "client-ref": short, "message-timestamp": "2026-11-30 09:59:30", "nonce": "n&1=2",
	}
}

// vonageText is what Vonage signs of a receipt.
func vonageText(params map[string]string) (text string) {
	var names []string
	for name := range params {
		if name != "sig" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		text += "&" + name + "=" + strings.Map(func(r rune) rune {
			if r == '&' || r == '=' {
				return '_'
			}
			return r
		}, params[name])
	}
	return text
}

// signJWT signs a token with HMAC-SHA256 (RFC 7515).
func signJWT(header, claims, secret string) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// taken posts a request and wants it taken.
func taken(t testing.TB, p ledger.Reporter, r ledger.Posted) []ledger.Receipt {
	t.Helper()
	out, err := p.Receipts(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Body)
	}
	return out
}

// testRow is what testReference names.
var testRow = uuid.MustParse(testReference[:36])
