package providers

import (
	"net/http"
	"strconv"

	"sendonce/ledger"
)

// resendCodes are the names of Resend's errors, some with the status or with "own" in front, where they mean something else
// then. "own" is about a sender that the message chose itself.
var resendCodes = CodeTable{
	Source: "resend.com/docs/api-reference/errors and resend.com/docs/dashboard/emails/idempotency-keys",
	Codes: []Code{
		{Code: "validation_error", Outcome: ledger.Rejected, Means: "a field of the mail, or a template, is refused"},
		{Code: "401 validation_error", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the API key is not valid"},
		{Code: "403 validation_error", Outcome: ledger.Deferred, Fault: ledger.FaultAccount,
			Means: "the configured from's domain is not verified, or the account may write to its owner only"},
		{Code: "own 403 validation_error", Outcome: ledger.Rejected, Means: "the domain of the message's own from is not verified"},
		{Code: "invalid_from_address", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the configured from is refused"},
		{Code: "own invalid_from_address", Outcome: ledger.Rejected, Means: "the message's own from is refused"},
		{Code: "missing_required_field", Outcome: ledger.Rejected, Means: "a field is missing"},
		{Code: "invalid_parameter", Outcome: ledger.Rejected, Means: "a value is refused"},
		{Code: "invalid_attachment", Outcome: ledger.Rejected, Means: "an attachment is refused"},
		{Code: "invalid_access", Outcome: ledger.Rejected, Means: "a value is refused"},
		{Code: "invalid_region", Outcome: ledger.Rejected, Means: "a value is refused"},
		{Code: "security_error", Outcome: ledger.Rejected, Means: "the request looks dangerous to Resend (451)"},
		{Code: "not_found", Outcome: ledger.Rejected, Means: "there is no such thing, such as a template"},
		{Code: "method_not_allowed", Outcome: ledger.Rejected, Means: "the method is refused"},

		{Code: "invalid_idempotency_key", Outcome: ledger.Rejected, Means: "the key is not 1 to 256 characters long"},
		{Code: "invalid_idempotent_request", Outcome: ledger.Ambiguous, Means: "the key was used with another body: that mail may have gone out"},
		{Code: "concurrent_idempotent_requests", Outcome: ledger.Ambiguous, Means: "the first request under the key is still at work; a repeat finds out"},

		{Code: "missing_api_key", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "no API key came along"},
		{Code: "restricted_api_key", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the API key may not do this"},
		{Code: "invalid_api_key", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the API key is not valid"},
		{Code: "rate_limit_exceeded", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "too many requests a second"},
		{Code: "daily_quota_exceeded", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the day's mails of the plan are used up"},
		{Code: "monthly_quota_exceeded", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the month's mails of the plan are used up"},

		{Code: "application_error", Outcome: ledger.Ambiguous, Means: "an error at Resend; a repeat finds out"},
		{Code: "internal_server_error", Outcome: ledger.Ambiguous, Means: "an error at Resend; a repeat finds out"},
	},
}

// Codes implements Coder.
func (*ResendSettings) Codes() CodeTable { return resendCodes }

// resendAnswer is every answer's form: {"id"} of a yes, {"statusCode", "name", "message"} of an error.
type resendAnswer struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

// readResend says what an answer means. A 200 is a yes, also where its body is lost.
func readResend(x *exchange, ownSender bool) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	var a resendAnswer
	if !x.whole || readJSON(x.body, &a) != nil {
		a = resendAnswer{}
	}
	refused := a.Name != "" && a.Message != ""
	switch {
	case x.status == http.StatusOK && !refused:
		return acceptedAs(x.result(), a.ID)
	case refused && x.status >= 400:
		return x.named(&resendCodes, plainCode(a.Name), resendNames(x.status, a, ownSender)...)
	case refused && x.status < 400: // yes and no in one answer, or a redirect
		return x.refusal(own, plainCode(a.Name))
	case !refused:
		return x.illegible()
	}
	return x.unlisted()
}

// resendNames are the rows that an error may be found under, the most particular first.
func resendNames(status int, a resendAnswer, ownSender bool) []string {
	name := a.Name
	if name == "validation_error" && a.Message == "API key is invalid" { // under 400 the text alone tells
		name = "invalid_api_key"
	}
	withStatus := strconv.Itoa(status) + " " + name
	names := []string{withStatus, name}
	if ownSender {
		names = append([]string{"own " + withStatus, "own " + name}, names...)
	}
	return names
}
