package providers

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
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

// record is called with each request that taken and refuses post; nil: nobody wants to know. The mutants do.
var record func(a ledger.Reporter, r ledger.Posted)

// taken posts a request and wants it taken.
func taken(t testing.TB, p ledger.Reporter, r ledger.Posted) []ledger.Receipt {
	t.Helper()
	if record != nil {
		record(p, r)
	}
	out, err := p.Receipts(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Body)
	}
	return out
}

// testRow is what testReference names.
var testRow = uuid.MustParse(testReference[:36])
