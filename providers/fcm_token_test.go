package providers

import (
	"bufio"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// google is FCM and its token endpoint on loopback. Requests go to tokens and messages, which count them.
type google struct {
	base     string
	tokens   chan served
	messages chan served
}

// startGoogle serves a token endpoint that does as token says, and FCM, which answers with the given answers, the last for ever.
func startGoogle(t *testing.T, token func(net.Conn), answers ...answer) *google {
	t.Helper()
	g := &google{tokens: make(chan served, 256), messages: make(chan served, 256)}
	var mu sync.Mutex
	g.base = "http://" + listen(t, func(conn net.Conn) {
		req, err := readRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		if req.URL.Path == "/token" {
			g.tokens <- req
			token(conn)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		g.messages <- req
		_, _ = io.WriteString(conn, answers[0].raw())
		if len(answers) > 1 {
			answers = answers[1:]
		}
	})
	return g
}

// provider is an adapter that has no token yet.
func (g *google) provider(t *testing.T) *fcm {
	t.Helper()
	return build(t, &FCMSettings{Credentials: testAccount(t, g.base+"/token")}, Common{BaseURL: g.base}).(*fcm)
}

// sendPush hands one message over.
func sendPush(t *testing.T, p *fcm) ledger.Result {
	t.Helper()
	return sendPushWithin(t, p, 10*time.Second)
}

func sendPushWithin(t *testing.T, p *fcm, timeout time.Duration) ledger.Result {
	t.Helper()
	r, err := p.Build(pushOrder(`{"body":"` + testText + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	return p.Send(ctx, r)
}

// grant answers with a token, the next one each time.
func grant(tokens ...string) func(net.Conn) {
	var mu sync.Mutex
	return func(conn net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		write(answer{200, `{"access_token":"` + tokens[0] + `","expires_in":3599,"token_type":"Bearer"}`}.raw())(conn)
		if len(tokens) > 1 {
			tokens = tokens[1:]
		}
	}
}

var pushed = answer{200, `{"name":"projects/shop-1/messages/1"}`}

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

// readAssertion checks the signature of a JSON Web Token (RFC 7515, RS256) and reads its claims.
func readAssertion(t *testing.T, token string, claims any) {
	t.Helper()
	block, _ := pem.Decode([]byte(testRSAKey()))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || rsa.VerifyPKCS1v15(&key.(*rsa.PrivateKey).PublicKey, crypto.SHA256, sum[:], signature) != nil {
		t.Errorf("not signed with the key: %v", err)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, claims) != nil {
		t.Errorf("claims %q, %v", text, err)
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
	p := build(t, &FCMSettings{Credentials: testAccount(t, "http://127.0.0.1:1/token")}, Common{}).(*fcm)
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
