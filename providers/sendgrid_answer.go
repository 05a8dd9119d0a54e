package providers

import (
	"encoding/json"
	"net/http"
	"strconv"

	"sendonce/ledger"
)

// sendGridCodes: SendGrid has no codes, so its statuses stand here, some together with the field that an error names or with
// its text.
var sendGridCodes = CodeTable{
	Source: "twilio.com/docs/sendgrid/api-reference/mail-send/errors; SendGrid's support page about 4xx errors; the OpenAPI " +
		"document of twilio/sendgrid-oai",
	Codes: []Code{
		{Code: "400", Outcome: ledger.Rejected, Means: "a field of the mail is refused; the attempt's code names it"},
		{Code: "400 from", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the from is refused"},
		{Code: "401", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the API key is unknown or deleted, or may not send"},
		{Code: "401 " + sendGridNoCredits, Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the plan's credits are used up"},
		{Code: "403", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "this key or account may not do this, or is blocked for a while"},
		{Code: "403 from", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the from is no verified sender"},
		{Code: "404", Outcome: ledger.Rejected, Means: "there is no such thing, such as a template"},
		{Code: "405", Outcome: ledger.Rejected, Means: "the method is refused"},
		{Code: "413", Outcome: ledger.Rejected, Means: "the mail is too large; the answer may be a page of HTML"},
		{Code: "415", Outcome: ledger.Rejected, Means: "the form of the request is refused"},
		{Code: "429", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "too many requests; X-RateLimit-Reset says until when"},
		{Code: "500", Outcome: ledger.Ambiguous, Means: "an error at SendGrid; nothing says that the mail was not taken"},
		{Code: "503", Outcome: ledger.Ambiguous, Means: "not available; nothing says that the mail was not taken"},
	},
}

const sendGridNoCredits = "Maximum credits exceeded"

// Codes implements Coder.
func (*SendGridSettings) Codes() CodeTable { return sendGridCodes }

// sendGridAnswer is every error's form: {"errors": [{"message", "field", "help"}]}.
type sendGridAnswer struct {
	Errors json.RawMessage `json:"errors"`
}

type sendGridError struct {
	Message string  `json:"message"`
	Field   *string `json:"field"`
}

// readSendGrid says what an answer means. A 202 is a yes whatever its body, which is empty as a rule; its id stands in the header.
// Under another 2xx a body is somebody else's page, unless that header is SendGrid's. With errors it is yes and no in one answer.
func readSendGrid(x *exchange) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	a := readAnswer[sendGridAnswer](x)
	var errors []sendGridError
	refused := given(a.Errors) && x.readPart(a.Errors, &errors) == nil && len(errors) > 0 && errors[0].Message != ""
	yes := x.status >= 200 && x.status <= 299
	switch {
	case yes:
		return x.sendGridYes(given(a.Errors))
	case !yes && refused:
		return x.sendGridRefusal(x.sendGridError(errors[0]))
	case !yes && !refused:
		return x.sendGridRefusal(x.illegible())
	}
	return x.unlisted()
}

// sendGridYes reads a 2xx.
func (x *exchange) sendGridYes(errors bool) ledger.Result {
	r := x.unlisted()
	id, blank := messageID(x.header.Get("X-Message-Id")), !x.whole || x.empty() || x.status == http.StatusAccepted
	legible := !errors && !x.twice
	switch {
	case legible && id != "":
		return accepted(r, id)
	case legible && id == "" && blank:
		return accepted(r)
	case x.twice, legible && id == "" && !blank:
		r.Reason = ledger.ReasonUnreadableAnswer
	}
	return r
}

// sendGridError reads an error in SendGrid's own form. The name beside a sender's address is not the sender.
func (x *exchange) sendGridError(first sendGridError) ledger.Result {
	field := ""
	if first.Field != nil && *first.Field != "null" {
		field = *first.Field
	}
	about := field
	if about == "from.email" {
		about = "from"
	}
	status := strconv.Itoa(x.status)
	return x.named(&sendGridCodes, plainCode(field), status+" "+first.Message, status+" "+about, status)
}

// sendGridRefusal adds when a throttled account may go on, which SendGrid says in a header of its own.
func (x *exchange) sendGridRefusal(r ledger.Result) ledger.Result {
	if r.Fault == ledger.FaultThrottled && r.RetryAfter == 0 {
		r.RetryAfter = x.untilUnix("X-RateLimit-Reset")
	}
	return r
}
