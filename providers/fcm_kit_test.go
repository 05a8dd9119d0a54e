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
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

// readAssertion checks the signature of a JSON Web Token (RFC 7515, RS256) and reads its claims.
func readAssertion(t *testing.T, token string, claims any) {
	t.Helper()
	block, _ := pem.Decode([]byte(fake.PrivateKey()))
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
	return build(t, &FCMSettings{Credentials: Secret(fake.ServiceAccount(g.base + "/token"))}, Common{BaseURL: g.base}).(*fcm)
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

// pushed is a yes of FCM.
var pushed = answer{200, `{"name":"projects/shop-1/messages/1"}`}
