package providers

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

// The headers of the signed Event Webhook, and how old a request may be: SendGrid posts for a day what it could not hand over,
// and nothing says that it signs a later try anew.
const (
	sendGridSignature = "X-Twilio-Email-Event-Webhook-Signature"
	sendGridTimestamp = "X-Twilio-Email-Event-Webhook-Timestamp"
	sendGridMaxAge    = 48 * time.Hour
)

// sendGridWords are the events of a mail. Whatever the event, a mail that has an id was accepted by the API.
var sendGridWords = Words{
	Source: "twilio.com/docs/sendgrid/for-developers/tracking-events/event",
	List: []Word{
		{"processed", ledger.Queued, "taken, ready to be handed over"},
		{"deferred", ledger.Delayed, "the recipient's server said: later"},
		{"dropped", ledger.Undelivered, "taken, and not handed over: the address is suppressed, or the content is refused"},
		{"delivered", ledger.Delivered, "the recipient's server took it"},
		{"bounce", ledger.Bounced, "the recipient's server refused it, at once or later; the code says why"},
		{"spamreport", ledger.Complained, "the recipient called it spam"},
		{"open", ledger.NoDelivery, "opened"},
		{"click", ledger.NoDelivery, "a link in it was followed"},
		{"unsubscribe", ledger.NoDelivery, "the recipient wants no more"},
		{"group_unsubscribe", ledger.NoDelivery, "the recipient wants no more of this group"},
		{"group_resubscribe", ledger.NoDelivery, "the recipient wants this group again"},
	},
}

// Words implements Reporting.
func (*SendGridSettings) Words() Words { return sendGridWords }

// parseP256 reads a public key of ECDSA P-256, base64 of its SubjectPublicKeyInfo; nil: it is none.
func parseP256(text string) *ecdsa.PublicKey {
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil
	}
	if public, ok := key.(*ecdsa.PublicKey); ok && public.Curve == elliptic.P256() {
		return public
	}
	return nil
}

// TakesReceipts implements ledger.Reporter.
func (p *sendGrid) TakesReceipts() bool { return p.publicKey != nil }

// Receipts implements ledger.Reporter: events of many mails in one body. What is about no mail is left out, and so is what
// cannot be read beside the rest.
func (p *sendGrid) Receipts(r ledger.Posted) ([]ledger.Receipt, error) {
	if p.publicKey != nil && p.verified(&r) {
		return readSendGridEvents(r.Body)
	}
	return nil, ledger.ErrUnverified
}

// verified reports whether the signature over the time and the body is right and the time is not long past.
func (p *sendGrid) verified(r *ledger.Posted) bool {
	text := headerOnce(r, sendGridTimestamp)
	at, ok := signedTime(text)
	signature, err := base64.StdEncoding.Strict().DecodeString(headerOnce(r, sendGridSignature))
	hash := sha256.New()
	hash.Write([]byte(text))
	hash.Write(r.Body)
	return ok && err == nil && near(at, r.At, sendGridMaxAge, receiptClockSkew) && ecdsa.VerifyASN1(p.publicKey, hash.Sum(nil), signature)
}

// readSendGridEvents reads a list of events, or one alone.
func readSendGridEvents(body []byte) ([]ledger.Receipt, error) {
	var events []json.RawMessage
	if readJSON(body, &events) != nil || events == nil {
		if one := map[string]json.RawMessage(nil); readReport(body, &one) != nil || one == nil {
			return nil, ledger.ErrUnreadable
		}
		events = []json.RawMessage{body}
	}
	var out []ledger.Receipt
	for _, e := range events {
		if r, ok := readSendGridEvent(e); ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// sendGridEvent has the custom_args of the mail among its own fields.
type sendGridEvent struct {
	Event     json.RawMessage `json:"event"`
	EventID   json.RawMessage `json:"sg_event_id"`
	MessageID json.RawMessage `json:"sg_message_id"`
	Reference json.RawMessage `json:"reference"`
	Email     json.RawMessage `json:"email"`
	Timestamp json.RawMessage `json:"timestamp"`
	Attempt   json.RawMessage `json:"attempt"`
	Status    json.RawMessage `json:"status"` // of the SMTP dialogue, such as 5.1.1
	Type      json.RawMessage `json:"type"`   // of a bounce: bounce or blocked
}

// readSendGridEvent reads one event. SendGrid gives an event that it posts again another id at times, so the fact has a key too.
func readSendGridEvent(b []byte) (ledger.Receipt, bool) {
	var e sendGridEvent
	if readReport(b, &e) != nil {
		return ledger.Receipt{}, false
	}
	id, _, _ := strings.Cut(textOf(e.MessageID), ".") // the part that the send's answer had
	code := cmp.Or(plainCode(textOf(e.Status)), textOf(e.Type))
	return sendGridWords.receipt(reportText{
		reference: textOf(e.Reference), messageID: id, word: textOf(e.Event), code: code, at: unixTime(scalar(e.Timestamp)),
		event: textOf(e.EventID), body: b,
		fact: reportKey(textOf(e.MessageID), textOf(e.Event), scalar(e.Timestamp), textOf(e.Email), scalar(e.Attempt)),
	})
}

// unixTime reads seconds, with decimals or without; zero: they are none, or no row can hold them.
func unixTime(s string) time.Time {
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil || !(seconds > 0 && seconds < lastSecond) {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}
