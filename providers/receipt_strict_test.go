package providers

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"testing"

	"sendonce/ledger"
)

// Anybody can sign with an empty secret: it is none.
func TestReceipts_AnEmptySecretSignsNothing(t *testing.T) {
	p := posterOf(t, "vonage_messages")
	body := p.body(p.good)
	claims := fmt.Sprintf(`{"iat":%d,"payload_hash":"%x","api_key":"abcd1234"}`, testTime.Unix(), sha256.Sum256(body))
	refuses(t, p.make(t, false), posted(testTime, "", "", body, "Authorization", "Bearer "+signJWT(`{"alg":"HS256"}`, claims, "")), "a token")

	p = posterOf(t, "vonage")
	form, _ := url.ParseQuery(string(p.post(p.good, testTime).Body))
	refuses(t, p.make(t, false), ledger.Posted{Body: []byte(withSig(form, "")), At: testTime}, "a receipt of the SMS API")

	p = posterOf(t, "twilio")
	body = p.body(p.good)
	for _, a := range []ledger.Reporter{p.make(t, true), p.make(t, false)} {
		r := posted(testTime, testReference, "", body, twilioSignature, signTwilio("", crypto.SHA256, receiptsURL+"/"+testReference, body))
		r.Header[twilioSettings] = []string{"key=nobody,algorithm=HMAC_SHA256"}
		refuses(t, a, r, "a shared key that is not there")
	}
	r := posted(testTime, testReference, "", body, twilioSignature, signTwilio("", crypto.SHA1, receiptsURL+"/"+testReference, body))
	refuses(t, p.make(t, false), r, "no auth token")
}

// withSig is a form with the signature that it gets under a secret.
func withSig(form url.Values, secret string) string {
	params := map[string]string{}
	for name := range form {
		params[name] = form.Get(name)
	}
	form.Set("sig", fmt.Sprintf("%x", vonageSign("sha256", Secret(secret), vonageText(params))))
	return form.Encode()
}

// What is signed has one way to be written: a time with zeros in front or beyond all years, an id with a dot, a parameter that
// stands twice are refused although the signature over them is right.
func TestReceipts_OneWayToWrite(t *testing.T) {
	p := posterOf(t, "vonage")
	a := p.make(t, true)
	for _, stamp := range []string{"0%d", "+%d", "%d.0", "%d000000000"} {
		form, _ := url.ParseQuery(string(p.post(p.good, testTime).Body))
		form.Set("timestamp", fmt.Sprintf(stamp, testTime.Unix()))
		refuses(t, a, ledger.Posted{Body: []byte(withSig(form, testSignature)), At: testTime}, stamp)
	}
	r := p.post(p.good, testTime)
	r.Body = append(bytes.Clone(r.Body), "&status="+p.good.word...)
	refuses(t, a, r, "the same parameter twice")

	p = posterOf(t, "resend")
	a = p.make(t, true)
	key, _ := base64.StdEncoding.DecodeString(testSecret[len("whsec_"):])
	body := p.body(p.good)
	for _, id := range []string{"", "msg.1", "msg_1"} {
		for _, stamp := range []string{"%d", "0%d", "+%d"} {
			stamp = fmt.Sprintf(stamp, testTime.Unix())
			mac := hmac.New(sha256.New, key)
			fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
			r := posted(testTime, "", "", body, svixID, id, svixTimestamp, stamp, svixSignature, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
			if id == "msg_1" && stamp[0] == '1' {
				taken(t, a, r)
			} else {
				refuses(t, a, r, id+" at "+stamp)
			}
		}
	}
}

// Whoever posts is known only once the parameters are signed for: what no receipt is as large as is refused unread.
func TestVonageReceipts_LargeOnesAreNotRead(t *testing.T) {
	a := makeVonage("sms")(t, true)
	names, pairs := fmt.Appendf(nil, `{"timestamp":"%d","sig":"00"`, testTime.Unix()), fmt.Appendf(nil, "timestamp=%d&sig=00", testTime.Unix())
	for i := range 50_000 {
		names, pairs = fmt.Appendf(names, `,"%x":1`, i), fmt.Appendf(pairs, "&%x=", i)
	}
	for _, body := range [][]byte{append(names, '}'), pairs, bytes.Repeat([]byte("["), 1<<20)} {
		if n := testing.AllocsPerRun(1, func() { _, _ = a.Receipts(ledger.Posted{Body: body, At: testTime}) }); n > 20 {
			t.Errorf("%.0f allocations for %d bytes that nobody signed", n, len(body))
		}
	}
}
