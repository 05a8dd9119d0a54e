package providers

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"sendonce/ledger"
)

// resendCodes are the names of Resend's errors, some with the status in front or the field behind, where they mean
// something else then.
var resendCodes = CodeTable{
	Source: "resend.com/docs/api-reference/errors and resend.com/docs/dashboard/emails/idempotency-keys",
	Codes: []Code{
		{Code: "validation_error", Outcome: ledger.Rejected, Means: "a field of the mail, or a template, is refused"},
		{Code: "401 validation_error", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the API key is not valid"},
		{Code: "403 validation_error", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true,
			Means: "the from's domain is not verified, or the account may write to its owner only"},
		{Code: "validation_error from", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the from is refused, says the text"},
		{Code: "invalid_from_address", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the from is refused"},
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

// resendAnswer is every answer's form: {"id"} of a yes, {"statusCode", "name", "message"} of an error. "error" is how Resend's
// libraries hand on an error.
type resendAnswer struct {
	ID         json.RawMessage `json:"id"`
	Name       json.RawMessage `json:"name"`
	Message    json.RawMessage `json:"message"`
	StatusCode json.RawMessage `json:"statusCode"`
	Error      json.RawMessage `json:"error"`
}

// readResend says what an answer means. A 200 is a yes, also where its body is lost.
func readResend(x *exchange) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	a := readAnswer[resendAnswer](x)
	name, message := textOf(a.Name), textOf(a.Message)
	code := plainCode(name)
	yes, made, refused := x.status == http.StatusOK, anyGiven(a.ID), name != "" && message != ""
	switch {
	case yes:
		return x.accepted(a.ID, code, a.Name, a.Message, a.StatusCode, a.Error)
	case !yes && made:
		return x.contradicts(code)
	case !yes && !made && refused && x.status >= 400:
		return x.named(&resendCodes, code, resendNames(x.status, name, message)...)
	case !yes && !made && refused && x.status < 400: // a redirect
		return x.refusal(own, code)
	case !yes && !made && !refused:
		return x.illegible()
	}
	return x.unlisted()
}

// resendNames are the rows that an error may be found under, the most particular first. Where one name means several things
// its text alone tells.
func resendNames(status int, name, message string) []string {
	var names []string
	switch {
	case name == "validation_error" && message == "API key is invalid":
		name = "invalid_api_key"
	case name == "validation_error" && strings.Contains(message, "`from`"):
		names = []string{"validation_error from"}
	}
	return append([]string{strconv.Itoa(status) + " " + name}, append(names, name)...)
}
