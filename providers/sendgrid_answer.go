package providers

import (
	"strconv"
	"strings"

	"sendonce/ledger"
)

// sendGridCodes: SendGrid has no codes, so its statuses stand here, some together with the field that an error names or with
// its text. "own 403 from" is about a sender that the message chose itself.
var sendGridCodes = CodeTable{
	Source: "twilio.com/docs/sendgrid/api-reference/mail-send/errors; SendGrid's support page about 4xx errors; the OpenAPI " +
		"document of twilio/sendgrid-oai",
	Codes: []Code{
		{Code: "400", Outcome: ledger.Rejected, Means: "a field of the mail is refused; the attempt's code names it"},
		{Code: "401", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the API key is unknown or deleted, or may not send"},
		{Code: "401 " + sendGridNoCredits, Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the plan's credits are used up"},
		{Code: "403", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "this key or account may not do this, or is blocked for a while"},
		{Code: "403 from", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the configured from is no verified sender"},
		{Code: "own 403 from", Outcome: ledger.Rejected, Means: "the message's own from is no verified sender"},
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
	Errors []struct {
		Message string  `json:"message"`
		Field   *string `json:"field"`
	} `json:"errors"`
}

// readSendGrid says what an answer means. The status alone decides: a 202 has no body, and the page calls every 2xx a success.
func readSendGrid(x *exchange, ownSender bool) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	var a sendGridAnswer
	yes := x.status >= 200 && x.status <= 299
	refused := x.whole && readJSON(x.body, &a) == nil && len(a.Errors) > 0 && a.Errors[0].Message != ""
	switch {
	case yes:
		return acceptedAs(x.result(), x.header.Get("X-Message-Id"))
	case refused:
		return x.sendGridRefusal(x.sendGridError(a, ownSender))
	case !refused:
		return x.sendGridRefusal(x.illegible())
	}
	return x.unlisted()
}

// sendGridError reads an error in SendGrid's own form.
func (x *exchange) sendGridError(a sendGridAnswer, ownSender bool) ledger.Result {
	first, field := a.Errors[0], ""
	if first.Field != nil && *first.Field != "null" {
		field = *first.Field
	}
	root, _, _ := strings.Cut(field, ".")
	status := strconv.Itoa(x.status)
	names := []string{status + " " + first.Message, status + " " + root, status}
	if ownSender {
		names = append([]string{"own " + status + " " + root}, names...)
	}
	return x.named(&sendGridCodes, plainCode(field), names...)
}

// sendGridRefusal adds when a throttled account may go on, which SendGrid says in a header of its own.
func (x *exchange) sendGridRefusal(r ledger.Result) ledger.Result {
	if r.Fault == ledger.FaultThrottled && r.RetryAfter == 0 {
		r.RetryAfter = x.untilUnix("X-RateLimit-Reset")
	}
	return r
}
