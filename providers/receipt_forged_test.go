package providers

import (
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sendonce/ledger"
)

// Whoever has a signed call-back of Twilio could move what stands at a boundary of the signed text: nothing parts it.
func TestTwilioReceipts_BoundariesCannotBeMoved(t *testing.T) {
	p := posterOf(t, "twilio")
	a := p.make(t, true)
	const twelve = "01939c7e-0000-7000-8000-000000000001-12"
	r := p.good
	r.reference = twelve
	good := p.post(r, testTime)
	if got := taken(t, a, good); got[0].Number != 12 {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"2=&", "%32=&", "2&", "2AccountSid=" + testAccountSID + "&"} {
		moved := good
		moved.Reference, moved.URL = twelve[:38], receiptsURL+"/"+twelve[:38]
		moved.Body = []byte(name + string(good.Body))
		if strings.HasPrefix(name, "2A") {
			moved.Body = []byte(strings.Replace(string(good.Body), "AccountSid=", "2AccountSid=", 1))
		}
		refuses(t, a, moved, "a digit of the reference moved into the name "+name)
	}
	// A part of a value that becomes a name, and a name that becomes a part of a value: the message and its state stay what they are.
	for _, change := range [][2]string{{"MessageStatus=delivered&SmsSid=", "MessageStatus=deliveredSms&Sid="}, {"MessageStatus=delivered", "MessageStatusde=livered"}, {"MessageSid=SM", "MessageSidSM="}} {
		moved := good
		moved.Body = []byte(strings.Replace(string(good.Body), change[0], change[1], 1))
		for _, r := range taken(t, a, moved) {
			if r.Kind != unlistedWord || r.MessageID != p.good.id {
				t.Errorf("%v: %+v", change, r)
			}
		}
	}
	// The signature over a JSON body's URL is no signature over a form, nor the other way round.
	j := posterOf(t, "twilio_json")
	signed := j.post(j.good, testTime)
	_, query, _ := strings.Cut(signed.URL, "?")
	signed.URL, signed.Body = receiptsURL+"/"+testReference, []byte(url.QueryEscape("?"+query)+"=")
	if got, err := a.Receipts(signed); err == nil && len(got) != 0 {
		t.Errorf("a URL made a form: %+v", got)
	}
	hash := fmt.Sprintf("?bodySHA256=%x", sha256.Sum256(good.Body))
	good.URL += hash
	refuses(t, a, good, "a hash in the URL of a form's signature")
}

func TestTwilioReceipts_SettingsOfTheSignature(t *testing.T) {
	p := posterOf(t, "twilio")
	a := p.make(t, true)
	body := p.body(p.good)
	post := func(secret string, hash crypto.Hash, settings ...string) ledger.Posted {
		r := posted(testTime, testReference, "", body, twilioSignature, signTwilio(secret, hash, receiptsURL+"/"+testReference, body))
		if settings != nil {
			r.Header[twilioSettings] = settings
		}
		return r
	}
	const shared = "shared " + testKey
	key := "key=" + testSharedKeyID
	for _, r := range []ledger.Posted{
		post(testKey, crypto.SHA1), post(shared, crypto.SHA1, key+",algorithm=HMAC_SHA1"),
		post(shared, crypto.SHA256, key+",algorithm=HMAC_SHA256"), post(shared, crypto.SHA256, " algorithm=HMAC_SHA256 , "+key),
	} {
		if got := taken(t, a, r); len(got) != 1 {
			t.Errorf("%v: %+v", r.Header, got)
		}
	}
	for _, r := range []ledger.Posted{
		post(testKey, crypto.SHA256), post(shared, crypto.SHA1), post(shared, crypto.SHA256),
		post(testKey, crypto.SHA1, key+",algorithm=HMAC_SHA1"), post(testKey, crypto.SHA256, key+",algorithm=HMAC_SHA256"),
		post(shared, crypto.SHA1, key+",algorithm=HMAC_SHA256"), post(shared, crypto.SHA256, key+",algorithm=HMAC_SHA1"),
		post(shared, crypto.SHA256, key+",algorithm=HMAC_SHA512"), post(shared, crypto.SHA256, key+",algorithm=hmac_sha256"),
		post(shared, crypto.SHA1, key), post(shared, crypto.SHA256, "algorithm=HMAC_SHA256"), post("", crypto.SHA256, "key=other,algorithm=HMAC_SHA256"),
		post(testKey, crypto.SHA1, ""), post(testKey, crypto.SHA1, "algorithm=HMAC_SHA1"), post("", crypto.SHA1, "key=,algorithm=HMAC_SHA1"),
		post(shared, crypto.SHA256, key+",algorithm=HMAC_SHA256,version=2"), post(shared, crypto.SHA256, key+","+key+",algorithm=HMAC_SHA256"),
		post(shared, crypto.SHA256, key+",algorithm=HMAC_SHA256", key+",algorithm=HMAC_SHA256"),
	} {
		refuses(t, a, r, fmt.Sprint(r.Header))
	}
}

// Twilio signs an address with its port or without, and is taken either way.
func TestTwilioReceipts_Ports(t *testing.T) {
	p := posterOf(t, "twilio")
	a, body := p.make(t, true), p.body(p.good)
	path := "/v1/receipts/test/" + testReference
	for _, c := range []struct {
		ours, signed string
		ok           bool
	}{
		{"https://a.test", "https://a.test", true}, {"https://a.test", "https://a.test:443", true}, {"https://a.test:443", "https://a.test", true},
		{"https://a.test:8443", "https://a.test", true}, {"https://a.test:8443", "https://a.test:8443", true}, {"http://a.test", "http://a.test:80", true},
		{"http://[::1]", "http://[::1]:80", true}, {"http://[::1]:8080", "http://[::1]", true},
		{"https://a.test", "https://a.test:8443", false}, {"https://a.test:8443", "https://a.test:443", false}, {"https://a.test", "http://a.test", false},
		{"https://a.test", "https://b.test", false}, {"https://A.test", "https://a.test", false},
	} {
		r := posted(testTime, testReference, "", body, twilioSignature, signTwilio(testKey, crypto.SHA1, c.signed+path, body))
		r.URL = c.ours + path
		if c.ok {
			taken(t, a, r)
		} else {
			refuses(t, a, r, c.signed+" for "+c.ours)
		}
	}
}

// What another account signs with a shared secret is no report about this one's messages.
func TestReceipts_OfAnotherAccount(t *testing.T) {
	other := "AC" + strings.Repeat("1", 32)
	for _, name := range []string{"twilio", "twilio_shared", "twilio_json"} {
		p := posterOf(t, name)
		for _, change := range [][2]string{{testAccountSID, other}, {"AccountSid", "AccountSit"}, {p.good.id, "CA" + p.good.id[2:]}, {p.good.id, p.good.id + "0"}} {
			body := []byte(strings.ReplaceAll(string(p.body(p.good)), change[0], change[1]))
			if got := taken(t, p.make(t, true), p.sign(body, testReference, testTime)); len(got) != 0 {
				t.Errorf("%s: %v: %+v", name, change, got)
			}
		}
	}
	for _, name := range []string{"vonage", "vonage_json"} {
		p := posterOf(t, name)
		body := []byte(strings.Replace(string(p.body(p.good)), "abcd1234", "abcd1235", 1))
		if got := taken(t, p.make(t, true), p.sign(body, "", testTime)); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// & and = are signed as _, so values that have any of the three are not what was signed.
func TestVonageReceipts_ReplacedLetters(t *testing.T) {
	p := posterOf(t, "vonage")
	a := p.make(t, true)
	for _, id := range []string{"0A_1", "0A&1", "0A=1"} {
		r := p.good
		r.id = id
		if got := taken(t, a, p.post(r, testTime)); len(got) != 0 {
			t.Errorf("%s: %+v", id, got)
		}
	}
	good := p.post(p.good, testTime)
	hidden := good
	hidden.Body = []byte(strings.Replace(string(good.Body), "api-key=abcd1234&client-ref=", "api-key%3Dabcd1234%26client-ref=", 1))
	refuses(t, a, hidden, "two parameters in one name")
	twice := good
	twice.Body = append([]byte("status=failed&"), good.Body...)
	refuses(t, a, twice, "a parameter that stands twice")
	for _, body := range []string{`{"sig":"","timestamp":"1796032800"}`, `{"timestamp":1796032800}`, `{"sig":{},"timestamp":1796032800}`, `{"sig":null}`, "sig=&timestamp=1796032800"} {
		refuses(t, a, ledger.Posted{Body: []byte(body), At: testTime}, body)
	}
}

func TestVonageReceipts_Tokens(t *testing.T) {
	p := posterOf(t, "vonage_messages")
	a, body := p.make(t, true), p.body(p.good)
	hash := fmt.Sprintf("%x", sha256.Sum256(body))
	at := testTime.Unix()
	claims := func(format string, args ...any) string {
		return fmt.Sprintf(`{"payload_hash":%q,"api_key":"abcd1234",`, hash) + fmt.Sprintf(format, args...) + "}"
	}
	const head = `{"alg":"HS256","typ":"JWT"}`
	post := func(value string) ledger.Posted { return posted(testTime, "", "", body, "Authorization", value) }
	for _, good := range []string{
		"Bearer " + signJWT(head, claims(`"iat":%d`, at), testSignature), "bearer " + signJWT(head, claims(`"iat":%d,"exp":%d`, at, at+60), testSignature),
	} {
		if got := taken(t, a, post(good)); len(got) != 1 {
			t.Errorf("%s: %+v", good, got)
		}
	}
	good := signJWT(head, claims(`"iat":%d`, at), testSignature)
	for why, bad := range map[string]string{
		"no scheme":       good,
		"another scheme":  "Basic " + good,
		"no iat":          "Bearer " + signJWT(head, claims(`"jti":"x"`), testSignature),
		"expired":         "Bearer " + signJWT(head, claims(`"iat":%d,"exp":%d`, at, at-301), testSignature),
		"not yet valid":   "Bearer " + signJWT(head, claims(`"iat":%d,"nbf":%d`, at, at+301), testSignature),
		"none":            "Bearer " + signJWT(`{"alg":"none"}`, claims(`"iat":%d`, at), testSignature),
		"RS256":           "Bearer " + signJWT(`{"alg":"RS256"}`, claims(`"iat":%d`, at), testSignature),
		"HS384":           "Bearer " + signJWT(`{"alg":"HS384"}`, claims(`"iat":%d`, at), testSignature),
		"no alg":          "Bearer " + signJWT(`{"typ":"JWT"}`, claims(`"iat":%d`, at), testSignature),
		"no hash":         "Bearer " + signJWT(head, fmt.Sprintf(`{"api_key":"abcd1234","iat":%d}`, at), testSignature),
		"another hash":    "Bearer " + signJWT(head, strings.Replace(claims(`"iat":%d`, at), hash[:4], "0000", 1), testSignature),
		"another account": "Bearer " + signJWT(head, strings.Replace(claims(`"iat":%d`, at), "abcd1234", "abcd1235", 1), testSignature),
		"no account":      "Bearer " + signJWT(head, strings.Replace(claims(`"iat":%d`, at), `"api_key":"abcd1234",`, "", 1), testSignature),
		"the API secret":  "Bearer " + signJWT(head, claims(`"iat":%d`, at), testKey),
		"an empty secret": "Bearer " + signJWT(head, claims(`"iat":%d`, at), ""),
		"no signature":    "Bearer " + good[:strings.LastIndexByte(good, '.')+1],
		"two parts":       "Bearer " + good[:strings.LastIndexByte(good, '.')],
	} {
		refuses(t, a, post(bad), why)
	}
	unsigned := post("")
	unsigned.Header = http.Header{}
	refuses(t, a, unsigned, "unsigned, as Vonage may post after a fault of its own")
	if _, err := a.Receipts(unsigned); !errors.Is(err, ledger.ErrUnsigned) {
		t.Errorf("%v: Vonage would not post it again", err)
	}
	for why, r := range map[string]ledger.Posted{"signed wrongly": post("Bearer x"), "empty": post("")} {
		if _, err := a.Receipts(r); errors.Is(err, ledger.ErrUnsigned) {
			t.Errorf("%s: it would be posted again for ever", why)
		}
	}
}

func TestResendReceipts_Signatures(t *testing.T) {
	p := posterOf(t, "resend")
	good := p.post(p.good, testTime)
	a := p.make(t, true)
	right := good.Header[svixSignature][0]
	for value, ok := range map[string]bool{
		"v1,AAAA " + right: true, right + " v1,AAAA": true, "v1a,AAAA " + right: true, "v2" + right[2:]: false, right[3:]: false, "V1" + right[2:]: false,
		strings.Replace(right, ",", " ", 1): false, "v1," + right: false, "v1,": false, ",": false,
	} {
		r := good
		r.Header = http.Header(good.Header).Clone()
		r.Header[svixSignature] = []string{value}
		if ok {
			taken(t, a, r)
		} else {
			refuses(t, a, r, value)
		}
	}
	both := adapter(t, &ResendSettings{APIKey: testKey, WebhookSecret: Secret("whsec_" + strings.Repeat("QUJD", 8) + " " + testSecret)})
	taken(t, both, good) // while the secret changes
	for _, stamp := range []string{"0" + good.Header[svixTimestamp][0], "+" + good.Header[svixTimestamp][0], "1e9", "-1", " " + good.Header[svixTimestamp][0], "99999999999999999999"} {
		r := good
		r.Header = http.Header(good.Header).Clone()
		r.Header[svixTimestamp] = []string{stamp}
		refuses(t, a, r, "timestamp "+stamp)
	}
}
