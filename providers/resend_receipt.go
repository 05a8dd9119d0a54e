package providers

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"sendonce/ledger"
)

// The headers of Resend's webhooks, which are Svix's: the scheme of Standard Webhooks under names of its own.
const (
	svixID        = "Svix-Id"
	svixTimestamp = "Svix-Timestamp"
	svixSignature = "Svix-Signature"
)

// resendWords are the events of a mail. Whatever the event, a mail that has an id was accepted by the API.
var resendWords = Words{
	Source: "resend.com/docs/webhooks/event-types",
	List: []Word{
		{"email.scheduled", ledger.Queued, "taken, to be sent later"},
		{"email.sent", ledger.Queued, "taken, to be handed to the recipient's server"},
		{"email.delivery_delayed", ledger.Delayed, "the recipient's server said: later"},
		{"email.failed", ledger.Undelivered, "taken, and could not be sent"},
		{"email.suppressed", ledger.Undelivered, "taken, and not sent: the address is suppressed"},
		{"email.delivered", ledger.Delivered, "the recipient's server took it"},
		{"email.bounced", ledger.Bounced, "the recipient's server refused it for good; the code says why"},
		{"email.complained", ledger.Complained, "the recipient called it spam"},
		{"email.opened", ledger.NoDelivery, "opened"},
		{"email.clicked", ledger.NoDelivery, "a link in it was followed"},
	},
}

// resendInbound is the event of a mail that came in: no mail of ours.
const resendInbound = "email.received"

// Words implements Reporting.
func (*ResendSettings) Words() Words { return resendWords }

// TakesReceipts implements ledger.Reporter.
func (p *resend) TakesReceipts() bool { return len(p.webhookKeys) > 0 }

// Receipts implements ledger.Reporter: one event of one mail.
func (p *resend) Receipts(r ledger.Posted) ([]ledger.Receipt, error) {
	id, timestamp, signatures := headerOnce(&r, svixID), headerOnce(&r, svixTimestamp), headerOnce(&r, svixSignature)
	if verified(p.webhookKeys, id, timestamp, r.Body, signatures, r.At) {
		return readResendEvent(id, r.Body)
	}
	return nil, ledger.ErrUnverified
}

type resendEvent struct {
	Type      json.RawMessage `json:"type"`
	CreatedAt json.RawMessage `json:"created_at"` // of the event
	Data      json.RawMessage `json:"data"`
}

type resendEventMail struct {
	ID         json.RawMessage `json:"email_id"`
	Tags       json.RawMessage `json:"tags"`
	Bounce     json.RawMessage `json:"bounce"`
	Failed     json.RawMessage `json:"failed"`
	Suppressed json.RawMessage `json:"suppressed"`
}

// readResendEvent reads one event; none comes of one that is about no mail of ours.
func readResendEvent(id string, body []byte) ([]ledger.Receipt, error) {
	var e *resendEvent
	if readReport(body, &e) != nil || e == nil {
		return nil, ledger.ErrUnreadable
	}
	var mail resendEventMail
	word := textOf(e.Type)
	if readReport(e.Data, &mail) == nil && word != resendInbound {
		r, ok := resendWords.receipt(reportText{
			reference: resendTagOf(mail.Tags, "reference"), messageID: textOf(mail.ID), word: word, code: resendWhy(&mail),
			at: reportTime(textOf(e.CreatedAt), time.RFC3339), event: id, fact: reportKey(textOf(mail.ID), word, textOf(e.CreatedAt)), body: body,
		})
		if ok {
			return []ledger.Receipt{r}, nil
		}
	}
	return nil, nil
}

// resendTagOf is the value of a tag: events have an object of them, requests a list of pairs.
func resendTagOf(tags json.RawMessage, name string) string {
	var byName map[string]json.RawMessage
	if readReport(tags, &byName) == nil {
		return textOf(byName[name])
	}
	var pairs []resendPair
	if readReport(tags, &pairs) == nil {
		for _, p := range pairs {
			if p.Name == name {
				return p.Value
			}
		}
	}
	return ""
}

// resendWhy names why a mail did not arrive: Permanent/General of a bounce, reached_daily_quota of a failure, previous_bounce of a
// mail that was suppressed.
func resendWhy(mail *resendEventMail) string {
	var why struct {
		Type    json.RawMessage `json:"type"`
		SubType json.RawMessage `json:"subType"`
		Reason  json.RawMessage `json:"reason"`
	}
	for _, part := range []json.RawMessage{mail.Bounce, mail.Failed, mail.Suppressed} {
		if given(part) && readReport(part, &why) == nil {
			return cmp.Or(textOf(why.Reason), strings.Trim(textOf(why.Type)+"/"+textOf(why.SubType), "/"))
		}
	}
	return ""
}
