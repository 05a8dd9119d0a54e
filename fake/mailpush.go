package fake

import (
	"net/http"
	"strings"
)

// noAs is how a provider says no in words.
type noAs struct {
	status int
	name   string
}

// sendGrid answers a yes with an empty body; its id is a header.
var sendGrid = &dialect{
	speaks:   func(path string) bool { return path == "/v3/mail/send" },
	text:     wholeBody,
	details:  sendGridDetails,
	idHeader: "X-Message-Id",
	yes:      func(string) (int, any) { return http.StatusAccepted, nil },
	no: func(b Behaviour) (int, any) {
		no := map[Behaviour]noAs{
			AcceptError: {500, "internal server error"}, Throttle: {429, "too many requests"}, Unauthorized: {401, "authorization required"},
			NoCredit: {401, "Maximum credits exceeded"}, Refuse: {400, "Does not contain a valid address."}, Unavailable: {503, "not available"},
		}[b]
		return no.status, map[string]any{"errors": []any{map[string]any{"message": no.name, "field": nil, "help": nil}}}
	},
}

// resend honours Idempotency-Key, with HonourKeys.
var resend = &dialect{
	speaks: func(path string) bool { return path == "/emails" },
	text:   wholeBody, details: resendDetails,
	key: "Idempotency-Key",
	yes: func(id string) (int, any) { return http.StatusOK, map[string]any{"id": id} },
	no: func(b Behaviour) (int, any) {
		no := map[Behaviour]noAs{
			AcceptError: {500, "application_error"}, Throttle: {429, "rate_limit_exceeded"}, Unauthorized: {401, "missing_api_key"},
			NoCredit: {429, "daily_quota_exceeded"}, Refuse: {422, "validation_error"}, Unavailable: {503, "service_unavailable"},
		}[b]
		return no.status, map[string]any{"statusCode": no.status, "name": no.name, "message": "the fake was told to"}
	},
}

// fcm takes any access token; TokenPath grants them.
var fcm = &dialect{
	speaks: func(path string) bool {
		return strings.HasPrefix(path, "/v1/projects/") && strings.HasSuffix(path, "/messages:send")
	},
	text: wholeBody,
	yes: func(id string) (int, any) {
		return http.StatusOK, map[string]any{"name": "projects/fake/messages/" + id}
	},
	no: func(b Behaviour) (int, any) {
		no := map[Behaviour]noAs{
			AcceptError: {500, "INTERNAL"}, Throttle: {429, "QUOTA_EXCEEDED"}, Unauthorized: {401, "UNAUTHENTICATED"},
			NoCredit: {403, "PERMISSION_DENIED"}, Refuse: {404, "UNREGISTERED"}, Unavailable: {503, "UNAVAILABLE"},
			Defer: {401, "THIRD_PARTY_AUTH_ERROR"},
		}[b]
		detail := map[string]any{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": no.name}
		return no.status, map[string]any{"error": map[string]any{
			"code": no.status, "message": "the fake was told to", "status": no.name, "details": []any{detail},
		}}
	},
}

// TokenPath is where access tokens for FCM are granted. A grant is no message: it is neither counted nor does it misbehave.
const TokenPath = "/token"

func grantToken(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]any{"access_token": "fake-token", "expires_in": 3599, "token_type": "Bearer"})
}

// wholeBody looks for the token anywhere in a body.
func wholeBody(body []byte) (string, error) { return string(body), nil }
