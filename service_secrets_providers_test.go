package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sendonce/fake"
)

// F34: the canaries of TestSecrets_F34_CanariesThroughTheWholeService, in the settings and messages of every type of provider,
// each of which puts its secret somewhere else: a header, a form, a signature, a log-in.
func TestSecrets_F34_EveryProvider(t *testing.T) {
	refused := httptest.NewServer(nil)
	refused.Close()
	untrusted := httptest.NewUnstartedServer(echo(200))
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	hang := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer silent.Close()
	defer close(hang)
	bases := map[string]string{"dial": refused.URL, "TLS": untrusted.URL, "time-out": silent.URL}
	for _, status := range []int{200, 302, 400, 401, 429, 500} {
		server := httptest.NewServer(grantThen(echo(status)))
		defer server.Close()
		bases[fmt.Sprint(status)] = server.URL
	}
	noToken := httptest.NewServer(echo(401))
	defer noToken.Close()
	bases["no access token"] = noToken.URL

	for name, base := range bases {
		t.Run(name, func(t *testing.T) { newCanaryPlace(t, base).sendToEach() })
	}
}

// newCanaryPlace has a provider of each type but webhook, whose secret and answers are those of the other test; all are at base.
func newCanaryPlace(t *testing.T, base string) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), book: &logBook{}}
	p.config = "listen: 127.0.0.1:0\ndatabase: " + p.dir + "/sendonce.db\nlog: {level: debug}\nproviders:\n"
	change := strings.NewReplacer("example-key", canaryKey, "example-token", canaryKey, "example-secret", canaryKey,
		"CREDENTIALS", serviceAccount(t, base+fake.TokenPath), "HOST", strings.Split(base, "/")[2], "URL", base)
	for _, kind := range mixedTypes {
		settings := kind.settings
		switch kind.name {
		case "hooks":
			continue
		case "smtp":
			settings = `{type: smtp, address: "HOST", tls: implicit, username: shop, password: example-key, from: "shop@example.test"}`
		}
		p.config += "  " + kind.name + ": " + change.Replace(settings) + "\n"
	}
	p.config += `channels:
  sms: {providers: [infrai, twilio, vonage, vonage_messages], timeout: 300ms}
  email: {providers: [sendgrid, resend, smtp], timeout: 300ms}
  push: {providers: [fcm], timeout: 300ms}
storage: {reserve: 1MiB}
`
	p.init()
	return p
}

// sendToEach sends a message to each provider and looks for canaries in all that is left of it.
func (p *place) sendToEach() {
	t := p.t
	t.Helper()
	secrets := append([]string{"example-access", "assertion=", "PRIVATE KEY"}, secret...)
	for _, user := range []string{"AC00000000000000000000000000000000", "abcd1234"} {
		secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(user+":"+canaryKey)))
	}
	privates := append([]string{"canary@customer.example.test", "canary-device"}, private...)
	members := map[string]string{
		"sms":   `"recipient":"` + canaryNumber + `","message":{"text":"` + canaryText + `"}`,
		"email": `"recipient":"canary@customer.example.test","message":{"subject":"Login","text":"` + canaryText + `"}`,
		"push":  `"recipient":"canary-device","message":{"title":"` + canaryText + `"}`,
	}
	r := p.start()
	for _, kind := range mixedTypes {
		if kind.name == "hooks" {
			continue
		}
		a := r.settled(event(fmt.Sprintf(`"event_id":"evt_%s","provider":%q,"channel":%q,`, kind.name, kind.name, kind.channel) + members[kind.channel]))
		full := r.get(a.ID)
		if len(full.Attempts) == 0 {
			t.Fatalf("%s: no attempt: %s", kind.name, full.body)
		}
		absent(t, "the row of "+kind.name, full.body, secrets...)
		for _, at := range full.Attempts {
			absent(t, kind.name+": an attempt's error or code", at.Error+" "+at.Code, append(privates, "127.0.0.1")...)
		}
	}
	r.stop()
	absent(t, "the log", p.book.String(), append(secrets, privates...)...)
	if p.book.lines(`"msg":"attempt"`) < len(mixedTypes)-1 {
		t.Errorf("the log has too little to prove anything:\n%s", p.book)
	}
	absent(t, "the printed configuration", p.printed(), secrets...)
	p.check()
}

// grantThen grants access tokens, and leaves everything else to next.
func grantThen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != fake.TokenPath {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, bytes.NewBufferString(`{"access_token":"example-access","expires_in":3599,"token_type":"Bearer"}`))
	})
}
