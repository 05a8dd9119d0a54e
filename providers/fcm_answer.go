package providers

import (
	"strings"
	"time"

	"sendonce/ledger"
)

// fcmCodes are FCM's error codes, the statuses of Google's APIs that stand where there is none, and the answers of the token
// endpoint, with "token" in front.
var fcmCodes = CodeTable{
	Source: "firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode and /docs/cloud-messaging/error-codes; for UNAVAILABLE " +
		"firebase/firebase-admin-node#1248; for tokens RFC 6749 section 5.2",
	Codes: []Code{
		{Code: "INVALID_ARGUMENT", Outcome: ledger.Rejected, Means: "the registration token is none"},
		{Code: fcmBadRequest, Outcome: ledger.Rejected, Means: "a field of the message is refused"},
		{Code: "UNREGISTERED", Outcome: ledger.Rejected, Means: "the registration token is dead: delete it"},
		{Code: "SENDER_ID_MISMATCH", Outcome: ledger.Rejected, Means: "the registration token belongs to another project"},
		{Code: "NOT_FOUND", Outcome: ledger.Rejected, Means: "there is no such device or project"},
		{Code: "THIRD_PARTY_AUTH_ERROR", Outcome: ledger.Deferred,
			Means: "the project's key for APNs or web push is wrong; other devices are reached, so the gate stays open"},
		{Code: "UNAUTHENTICATED", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the access token is not accepted"},
		{Code: "PERMISSION_DENIED", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the service account may not send for this project"},
		{Code: "QUOTA_EXCEEDED", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "too many messages; a minute is waited at least"},
		{Code: "RESOURCE_EXHAUSTED", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "too many messages; a minute is waited at least"},
		{Code: "UNAVAILABLE", Outcome: ledger.Ambiguous, Means: "503: messages were delivered all the same"},
		{Code: "INTERNAL", Outcome: ledger.Ambiguous, Means: "an error at FCM; nothing says that the message was not taken"},
		{Code: "UNSPECIFIED_ERROR", Outcome: ledger.Ambiguous, Means: "FCM says no more than that"},

		{Code: "token 429", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "too many access tokens were asked for"},
		{Code: "token 4xx", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "no access token: the key was deleted, or this machine's clock is wrong"},
		{Code: "token 5xx", Outcome: ledger.Deferred, Fault: ledger.FaultUnreachable, Means: "no access token for now"},
	},
}

// fcmBadRequest is INVALID_ARGUMENT about our payload: the same word stands for a bad registration token, and only the details
// tell the two apart.
const fcmBadRequest = "INVALID_ARGUMENT/BadRequest"

// fcmQuotaWait is the least that FCM wants to be left alone after QUOTA_EXCEEDED.
const fcmQuotaWait = time.Minute

// Codes implements Coder.
func (*FCMSettings) Codes() CodeTable { return fcmCodes }

// fcmAnswer is every answer's form: {"name"} of a yes, {"error": {"code", "message", "status", "details"}} of an error.
type fcmAnswer struct {
	Name  string    `json:"name"`
	Error *fcmError `json:"error"`
}

type fcmError struct {
	Status  string `json:"status"`
	Details []struct {
		Type      string `json:"@type"`
		ErrorCode string `json:"errorCode"`
	} `json:"details"`
}

// code is what an error says: FCM's own code where there is one, since the status misleads (UNREGISTERED comes with several).
func (e *fcmError) code() string {
	code := e.Status
	for _, d := range e.Details {
		switch {
		case strings.HasSuffix(d.Type, "/google.firebase.fcm.v1.FcmError") && d.ErrorCode != "":
			return plainCode(d.ErrorCode)
		case strings.HasSuffix(d.Type, "/google.rpc.BadRequest") && e.Status == "INVALID_ARGUMENT":
			code = fcmBadRequest
		}
	}
	return plainCode(code)
}

// readFCM says what an answer means. A 200 is a yes, also where its body is lost.
func readFCM(x *exchange) ledger.Result {
	r := readFCMAnswer(x)
	if r.Fault == ledger.FaultThrottled {
		r.RetryAfter = max(r.RetryAfter, fcmQuotaWait)
	}
	return r
}

func readFCMAnswer(x *exchange) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	var a fcmAnswer
	if !x.whole || readJSON(x.body, &a) != nil {
		a = fcmAnswer{}
	}
	refused := a.Error != nil && a.Error.Status != ""
	switch {
	case x.status == 200 && a.Error == nil:
		return acceptedAs(x.result(), a.Name)
	case refused && x.status >= 400:
		return x.coded(&fcmCodes, a.Error.code())
	case refused && x.status < 400: // yes and no in one answer, or a redirect
		return x.refusal(own, a.Error.code())
	case !refused:
		return x.illegible()
	}
	return x.unlisted()
}
