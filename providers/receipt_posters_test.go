package providers

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

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
