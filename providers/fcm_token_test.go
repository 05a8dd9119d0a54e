package providers

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

func TestFCMToken_IsAskedForOnceAndSignedAsGoogleWants(t *testing.T) {
	g := startGoogle(t, grant("t1"), pushed)
	p := g.provider(t)
	for range 3 {
		check(t, sendPush(t, p), expected{outcome: ledger.Accepted, id: "projects/shop-1/messages/1"})
	}
	if len(g.tokens) != 1 || len(g.messages) != 3 {
		t.Fatalf("%d tokens for %d messages", len(g.tokens), len(g.messages))
	}
	if auth := (<-g.messages).Header.Get("Authorization"); auth != "Bearer t1" {
		t.Errorf("the message goes with %q", auth)
	}
	req := <-g.tokens
	form, err := url.ParseQuery(string(req.body))
	if err != nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Fatalf("%s %v, %v", req.Method, req.Header, err)
	}
	if got := form.Get("grant_type"); got != "urn:ietf:params:oauth:grant-type:jwt-bearer" || req.Header.Get("User-Agent") != "sendonce" {
		t.Errorf("grant type %q, headers %v", got, req.Header)
	}
	var claims struct {
		Iss, Aud, Scope string
		Iat, Exp        int64
	}
	readAssertion(t, form.Get("assertion"), &claims)
	if claims.Iss != "push@shop-1.iam.example.test" || claims.Aud != g.base+"/token" || claims.Scope != fcmScope || claims.Exp-claims.Iat > 3600 {
		t.Errorf("claims %+v", claims)
	}
}

func TestFCMToken_ManyWorkersAskOnce(t *testing.T) {
	release := make(chan struct{})
	g := startGoogle(t, func(conn net.Conn) { <-release; grant("t1")(conn) }, pushed)
	p := g.provider(t)
	const workers = 32
	results := make(chan ledger.Result, workers)
	for range workers {
		go func() { results <- sendPush(t, p) }()
	}
	token := <-g.tokens // the others come before or after the answer: nobody asks again
	g.tokens <- token
	close(release)
	for range workers {
		if r := <-results; r.Outcome != ledger.Accepted {
			t.Errorf("%+v", r)
		}
	}
	if len(g.tokens) != 1 || len(g.messages) != workers {
		t.Errorf("%d tokens for %d messages", len(g.tokens), len(g.messages))
	}
}

// Without a token nothing of the message leaves: it is deferred, by the provider's fault, and the token is asked for once.
func TestFCMToken_FailureIsNotWritten(t *testing.T) {
	oauth := func(status int, code string) func(net.Conn) {
		return write(answer{status, `{"error":"` + code + `","error_description":"` + testNumber + `"}`}.raw())
	}
	elsewhere := make(chan served, 8)
	portal := listen(t, afterRequest(elsewhere, grant("t1")))
	for name, c := range map[string]struct {
		token func(net.Conn)
		want  expected
		says  string
	}{
		"the key was deleted":     {oauth(400, "invalid_grant"), expected{fault: ledger.FaultCredentials, code: "invalid_grant"}, "refused with 400 invalid_grant"},
		"no such client":          {oauth(401, "invalid_client"), expected{fault: ledger.FaultCredentials, code: "invalid_client"}, "refused with 401 invalid_client"},
		"too many":                {write("HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"), expected{fault: ledger.FaultThrottled, retry: 7 * time.Second}, "refused with 429"},
		"an error":                {write(answer{500, "oops"}.raw()), expected{fault: ledger.FaultUnreachable}, "refused with 500"},
		"not available":           {oauth(503, "temporarily_unavailable"), expected{fault: ledger.FaultUnreachable, code: "temporarily_unavailable"}, "refused with 503 temporarily_unavailable"},
		"a captive portal":        {write(answer{200, "<html>Sign in</html>"}.raw()), expected{fault: ledger.FaultUnexpectedReply}, "an odd answer with 200"},
		"somebody else's 403":     {write(answer{403, "<html>No</html>"}.raw()), expected{fault: ledger.FaultUnexpectedReply}, "an odd answer with 403"},
		"a redirect":              {write("HTTP/1.1 307 Go\r\nLocation: http://" + portal + "/token\r\nContent-Length: 0\r\n\r\n"), expected{fault: ledger.FaultUnexpectedReply}, "an odd answer with 307"},
		"no token":                {write(answer{200, `{"expires_in":3599}`}.raw()), expected{fault: ledger.FaultUnexpectedReply}, "an odd answer with 200"},
		"a token that is none":    {grant(`a\r\nX: b`), expected{fault: ledger.FaultUnexpectedReply}, "an odd answer with 200"},
		"a token without an end":  {forever("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("z", 4096)), expected{fault: ledger.FaultUnexpectedReply}, "an odd answer with 200"},
		"an answer cut":           {write("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"access_token\":\"t1\""), expected{fault: ledger.FaultUnreachable}, "connection closed"},
		"closes without a word":   {func(net.Conn) {}, expected{fault: ledger.FaultUnreachable}, "connection closed"},
		"silent to the deadline":  {func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }, expected{fault: ledger.FaultUnreachable}, "time-out"},
		"switches protocols":      {write("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), expected{fault: ledger.FaultUnexpectedReply}, "an odd answer with 101"},
		"an endless row of hints": {forever("", "HTTP/1.1 102 Processing\r\nX-A: b\r\n\r\n"), expected{fault: ledger.FaultUnreachable}, "connection broken or answer unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			g := startGoogle(t, c.token, pushed)
			timeout := 10 * time.Second
			if c.says == "time-out" {
				timeout = 200 * time.Millisecond
			}
			r := sendPushWithin(t, g.provider(t), timeout)
			c.want.outcome = ledger.Deferred
			check(t, r, c.want)
			if r.Phase != ledger.NotWritten || r.Error != "not sent: no access token: "+c.says || r.Answer != nil {
				t.Errorf("phase %s, error %q, answer %q", r.Phase, r.Error, r.Answer)
			}
			if len(g.tokens) != 1 || len(g.messages) != 0 || len(elsewhere) != 0 {
				t.Errorf("%d requests for a token, %d followed, %d messages", len(g.tokens), len(elsewhere), len(g.messages))
			}
			if shown := shownBy(r); strings.Contains(shown, testNumber) || strings.Contains(shown, "PRIVATE KEY") {
				t.Errorf("private text in %s", shown)
			}
		})
	}
}

func TestFCMToken_NobodyListens(t *testing.T) {
	p := build(t, &FCMSettings{Credentials: Secret(fake.ServiceAccount("http://127.0.0.1:1/token"))}, Common{}).(*fcm)
	r := sendPush(t, p)
	check(t, r, expected{outcome: ledger.Deferred, fault: ledger.FaultUnreachable})
	if r.Phase != ledger.NotWritten || r.Error != "not sent: no access token: connection refused" {
		t.Errorf("phase %s, error %q", r.Phase, r.Error)
	}
}

// A worker that waits for another's fetch keeps its own deadline, and a fetch that failed is not asked for again by those who
// waited for it.
func TestFCMToken_WaitersHaveTheirOwnDeadline(t *testing.T) {
	release := make(chan struct{})
	g := startGoogle(t, func(conn net.Conn) { <-release }, pushed)
	p := g.provider(t)
	leader := make(chan ledger.Result, 1)
	go func() { leader <- sendPush(t, p) }()
	<-g.tokens
	r, err := p.Build(pushOrder(`{"body":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	waited := p.Send(gone, r)
	check(t, waited, expected{outcome: ledger.Deferred, fault: ledger.FaultUnreachable})
	if waited.Error != "not sent: no access token: cancelled" {
		t.Errorf("error %q", waited.Error)
	}
	close(release)
	check(t, <-leader, expected{outcome: ledger.Deferred, fault: ledger.FaultUnreachable})
	if len(g.tokens) != 0 || len(g.messages) != 0 {
		t.Errorf("%d more requests for a token, %d messages", len(g.tokens), len(g.messages))
	}
}

// A token that FCM does not accept is forgotten, so that the next message fetches a new one. One that is accepted while the
// project's key for Apple is wrong is kept.
func TestFCMToken_IsForgottenWhenRefused(t *testing.T) {
	unauthenticated := answer{401, `{"error":{"code":401,"message":"m","status":"UNAUTHENTICATED"}}`}
	g := startGoogle(t, grant("t1", "t2"), unauthenticated, pushed)
	p := g.provider(t)
	check(t, sendPush(t, p), expected{outcome: ledger.Deferred, fault: ledger.FaultCredentials, code: "UNAUTHENTICATED"})
	check(t, sendPush(t, p), expected{outcome: ledger.Accepted, id: "projects/shop-1/messages/1"})
	if first, second := <-g.messages, <-g.messages; first.Header.Get("Authorization") != "Bearer t1" || second.Header.Get("Authorization") != "Bearer t2" {
		t.Errorf("%v, then %v", first.Header, second.Header)
	}

	apple := answer{401, `{"error":{"code":401,"message":"m","status":"UNAUTHENTICATED","details":[` +
		`{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"THIRD_PARTY_AUTH_ERROR"}]}}`}
	g = startGoogle(t, grant("t1", "t2"), apple, pushed)
	p = g.provider(t)
	check(t, sendPush(t, p), expected{outcome: ledger.Deferred, code: "THIRD_PARTY_AUTH_ERROR"})
	check(t, sendPush(t, p), expected{outcome: ledger.Accepted, id: "projects/shop-1/messages/1"})
	if len(g.tokens) != 1 {
		t.Errorf("%d tokens", len(g.tokens))
	}
}

// FCM's 503 may follow a delivery: it is one request, and unknown.
func TestFCM_503IsNotSentAgain(t *testing.T) {
	g := startGoogle(t, grant("t1"), answer{503, `{"error":{"code":503,"message":"m","status":"UNAVAILABLE","details":[` +
		`{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNAVAILABLE"}]}}`})
	check(t, sendPush(t, g.provider(t)), expected{reason: ledger.ReasonUnlistedAnswer, code: "UNAVAILABLE"})
	if len(g.messages) != 1 {
		t.Errorf("%d messages left", len(g.messages))
	}
}

func TestFCM_AgainstTheFake(t *testing.T) {
	p := fake.New(fake.Options{WellBehaved: true})
	base, err := p.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	adapter := build(t, &FCMSettings{Credentials: Secret(fake.ServiceAccount(base + fake.TokenPath))}, Common{BaseURL: base}).(*fcm)
	check(t, sendPush(t, adapter), expected{outcome: ledger.Accepted, id: "projects/fake/messages/msg_fake_000001"})
	if p.Requests() != 1 {
		t.Errorf("%d requests", p.Requests())
	}
}
