package fake

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// twilioErrors come with what was not delivered.
var twilioErrors = map[string]string{"undelivered": "30003", "failed": "30008"}

// twilioReceipt is a status callback: a form, signed with the account's token or with a shared key.
func (p *Provider) twilioReceipt(to string, reports []*report, _ time.Time) (*http.Request, error) {
	r, keys := reports[0], p.options.Receipts.Keys
	form := url.Values{
		"MessageSid": {r.m.ID}, "SmsSid": {r.m.ID}, "MessageStatus": {r.word}, "SmsStatus": {r.word},
		"To": {r.m.to}, "AccountSid": {r.m.account}, "ApiVersion": {"2010-04-01"},
	}
	if r.m.from != "" {
		form.Set("From", r.m.from)
	}
	if r.m.service != "" {
		form.Set("MessagingServiceSid", r.m.service)
	}
	if code := twilioErrors[r.word]; code != "" {
		form.Set("ErrorCode", code)
	}
	request, err := http.NewRequest(http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	request.Header.Set("User-Agent", "TwilioProxy/1.1")
	request.Header.Set("I-Twilio-Idempotency-Token", r.event)
	if keys.TwilioKeyID != "" && r.m.number%2 == 0 {
		request.Header.Set("X-Twilio-Webhooks-Signature-Settings", "key="+keys.TwilioKeyID+",algorithm=HMAC_SHA256")
		request.Header.Set("X-Twilio-Signature", signTwilio(sha256.New, keys.TwilioSharedKey, to, form))
		return request, nil
	}
	request.Header.Set("X-Twilio-Signature", signTwilio(sha1.New, cmp.Or(keys.TwilioToken, r.m.password), to, form))
	return request, nil
}

// vonageErrors come with what was not delivered by the SMS API.
var vonageErrors = map[string]string{"failed": "6", "expired": "5", "rejected": "7", "unknown": "1"}

// vonageSMSReceipt is a delivery receipt of the SMS API: a form with its signature among the parameters.
func (p *Provider) vonageSMSReceipt(to string, reports []*report, now time.Time) (*http.Request, error) {
	r, keys := reports[0], p.options.Receipts.Keys
	params := map[string]string{
		"msisdn": r.m.to, "to": r.m.from, "network-code": "23410", "messageId": r.m.ID, "price": "0.03330000", "status": r.word,
		"scts": r.at.UTC().Format("0601021504"), "err-code": cmp.Or(vonageErrors[r.word], "0"), "api-key": r.m.account,
		"message-timestamp": now.UTC().Format(time.DateTime), "timestamp": strconv.FormatInt(now.Unix(), 10), "nonce": p.eventID(),
	}
	if r.m.reference != "" {
		params["client-ref"] = r.m.reference
	}
	params["sig"] = signVonageSMS(cmp.Or(keys.VonageMethod, "sha256"), cmp.Or(keys.VonageSecret, VonageSecret), params)
	form := url.Values{}
	for name, value := range params {
		form.Set(name, value)
	}
	request, err := http.NewRequest(http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return request, nil
}

// vonageMessagesReceipt is a status of the Messages API: JSON under a token that knows its hash.
func (p *Provider) vonageMessagesReceipt(to string, reports []*report, now time.Time) (*http.Request, error) {
	r := reports[0]
	status := map[string]any{
		"message_uuid": r.m.ID, "to": r.m.to, "from": r.m.from, "timestamp": r.at.UTC().Format("2006-01-02T15:04:05.000Z"),
		"status": r.word, "channel": "sms", "usage": map[string]string{"currency": "EUR", "price": "0.0333"},
	}
	if r.m.reference != "" {
		status["client_ref"] = r.m.reference
	}
	if r.word == "undeliverable" || r.word == "rejected" {
		status["error"] = map[string]string{
			"type": "https://developer.vonage.com/api-errors/messages#1300", "title": "1300", "detail": "Not part of the provider network", "instance": r.m.ID,
		}
	}
	body, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	claims := fmt.Sprintf(`"iat":%d,"jti":%q,"iss":"Vonage","api_key":%q`, now.Unix(), p.eventID(), r.m.account)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", signVonageJWT(cmp.Or(p.options.Receipts.Keys.VonageSecret, VonageSecret), claims, body))
	return request, nil
}
