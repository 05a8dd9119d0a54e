package providers

import (
	"encoding/json"
	"net/http"
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
	Name  json.RawMessage `json:"name"`
	Error json.RawMessage `json:"error"`
}

type fcmError struct {
	Status  string `json:"status"`
	Details []struct {
		Type      string `json:"@type"`
		ErrorCode string `json:"errorCode"`
	} `json:"details"`
}

// error is the error that an answer carries; its zero value: none, or none in FCM's form.
func (a *fcmAnswer) error(x *exchange) (e fcmError) {
	if !given(a.Error) || x.readPart(a.Error, &e) != nil {
		return fcmError{}
	}
	return e
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
	a := readAnswer[fcmAnswer](x)
	e := a.error(x)
	yes, made, refused := x.status == http.StatusOK, anyGiven(a.Name), e.Status != ""
	switch {
	case yes:
		return x.accepted(a.Name, e.code(), a.Error)
	case !yes && made:
		return x.contradicts(e.code())
	case !yes && !made:
		return x.unaccepted(&fcmCodes, refused, e.code())
	}
	return x.unlisted()
}
