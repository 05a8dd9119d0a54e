package providers

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"sendonce/ledger"
)

// twilioMessageSID is the form of a message's id, as the API's description has it.
var twilioMessageSID = regexp.MustCompile(`^(SM|MM)[0-9a-fA-F]{32}$`)

// twilioWords are the states of a message. Whatever its state, a message that has an id was accepted by the API.
var twilioWords = Words{
	Source: "twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks and the API's description (message_enum_status)",
	List: []Word{
		{"accepted", ledger.Queued, "taken; the Messaging Service has to choose a sender"},
		{"scheduled", ledger.Queued, "taken, to be sent later"},
		{"queued", ledger.Queued, "taken, waits to be sent"},
		{"sending", ledger.Queued, "on its way to the carrier"},
		{"sent", ledger.PassedOn, "the carrier took it"},
		{"partially_delivered", ledger.PassedOn, "some of its parts arrived"},
		{"undelivered", ledger.Undelivered, "did not arrive; the code says why"},
		{"failed", ledger.Undelivered, "taken, and could not be sent; the code says why"},
		{"canceled", ledger.Undelivered, "taken, and called back before it was sent"},
		{"delivered", ledger.Delivered, "arrived, says the carrier"},
		{"read", ledger.NoDelivery, "opened"},
	},
}

// Words implements Reporting.
func (*TwilioSettings) Words() Words { return twilioWords }

// TakesReceipts implements ledger.Reporter. The URL is signed, so there has to be one.
func (p *twilio) TakesReceipts() bool {
	return p.callback != "" && (p.settings.AuthToken != "" || len(p.settings.SharedKeys) > 0)
}

// Receipts implements ledger.Reporter: a status call-back, as a form or as JSON. Twilio signs no time.
func (p *twilio) Receipts(r ledger.Posted) ([]ledger.Receipt, error) {
	signature := headerOnce(&r, twilioSignature)
	if secret, with, ok := p.signing(&r); ok && signature != "" {
		hash := bodyHash(r.URL)
		form, isForm := twilioForm(r.Body)
		switch {
		case hash != "" && hashes(r.Body, hash) && twilioSigns(secret, with, r.URL, nil, signature):
			return p.readJSON(&r)
		case hash == "" && isForm && twilioSigns(secret, with, r.URL, form, signature):
			return p.receipts(&r, form.Get), nil
		}
	}
	return nil, ledger.ErrUnverified
}

// readJSON reads a call-back whose body is JSON.
func (p *twilio) readJSON(r *ledger.Posted) ([]ledger.Receipt, error) {
	var fields map[string]json.RawMessage
	if readReport(r.Body, &fields) != nil || fields == nil {
		return nil, ledger.ErrUnreadable
	}
	return p.receipts(r, func(name string) string { return scalar(fields[name]) }), nil
}

// receipts makes a receipt of a call-back about a message of this account; none of anything else, such as a message that came in.
func (p *twilio) receipts(r *ledger.Posted, get func(name string) string) []ledger.Receipt {
	sid, word := get("MessageSid"), get("MessageStatus")
	out, usable := twilioWords.receipt(reportText{
		reference: signedReference(r), messageID: sid, word: word, code: zeroIsNone(get("ErrorCode")), fact: sid + ":" + reportWord(word), body: r.Body,
	})
	if usable && twilioMessageSID.MatchString(sid) && strings.EqualFold(get("AccountSid"), p.settings.AccountSID) {
		return []ledger.Receipt{out}
	}
	return nil
}

// signedReference is the reference in the path of a URL that is signed.
func signedReference(r *ledger.Posted) string {
	u, err := url.Parse(r.URL)
	if err == nil && r.Reference != "" && strings.HasSuffix(u.EscapedPath(), "/"+r.Reference) {
		return r.Reference
	}
	return ""
}

// zeroIsNone leaves out the code that means no error.
func zeroIsNone(code string) string {
	if code == "0" {
		return ""
	}
	return code
}
