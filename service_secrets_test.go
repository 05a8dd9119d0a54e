package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sendonce/cli"
	"sendonce/fake"
)

// The canaries: nothing of these may stand where it does not belong.
const (
	canaryKey    = "SECRETCANARY1"
	canarySecret = "whsec_Q0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FO"
	canaryAccess = "ACCESSCANARY2"
	canaryNumber = "+15550100009"
	canaryText   = "OTP 424242"
	canaryQuery  = "TOKENCANARY3"
)

// secret are canaries that nobody may ever see; private ones belong to the row alone.
var (
	secret  = []string{canaryKey, canarySecret, strings.TrimPrefix(canarySecret, "whsec_"), canaryAccess}
	private = []string{canaryNumber, canaryNumber[1:], "424242", canaryQuery}
)

// echo answers a request with everything that was in it, as a page for developers does, and a webhook also with the secret
// that its receiver shares.
func echo(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		_ = r.Write(&b)
		if r.Header.Get("webhook-id") != "" {
			b.WriteString("the signature must be made with " + canarySecret)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"ok":false,"error":{"code":%q,"message":"no"},"data":%q}`, canaryNumber, b.String())
	})
}

// F34: whatever goes wrong, secrets show nowhere, and recipients and contents only in their own columns: not in the log at its
// finest level, not in errors, not in answers that refuse, not in the printed configuration.
func TestSecrets_F34_CanariesThroughTheWholeService(t *testing.T) {
	var std bytes.Buffer // where net/http writes by itself; serve silences it
	log.SetOutput(&std)
	defer log.SetOutput(os.Stderr)

	refused := httptest.NewServer(nil)
	refused.Close()
	untrusted := httptest.NewUnstartedServer(echo(200))
	untrusted.Config.ErrorLog = log.New(&std, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	hang := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer silent.Close()
	defer close(hang)
	unauthorized, broken, throttled := httptest.NewServer(echo(401)), httptest.NewServer(echo(500)), httptest.NewServer(echo(429))
	defer unauthorized.Close()
	defer broken.Close()
	defer throttled.Close()
	garbage := listenRaw(t, canaryKey+" "+canaryNumber+" "+canaryText+"\r\n\r\n", "")

	bearer := "Authorization: Bearer " + canaryAccess
	for name, base := range map[string]string{
		"dial": refused.URL, "TLS": untrusted.URL, "time-out": silent.URL, "401": unauthorized.URL, "500": broken.URL, "429": throttled.URL,
		"garbage": garbage, "no such host": "https://nowhere.invalid", "accepted": "",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, fake.Options{WellBehaved: true}, "api_key: example-key", "api_key: "+canaryKey, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", canarySecret,
				"timeout: 30s", "timeout: 300ms", "allow_private:", "allow_private_off:", "providers:\n", `auth: {keys: [{name: shop, sha256: "`+sumOf(canaryAccess)+`", roles: [send, operate]}]}
log: {level: debug}
providers:
`, "allow_private_off:", "allow_private:", "near_duplicate: {action: \"off\"}\n", "")
			if base != "" {
				p.change("base_url: "+strings.TrimSuffix(p.hook, "/hook/"), "base_url: "+base,
					`urls: ["`+p.hook+`"]`, `urls: ["`+p.hook+`", "`+base+`/"]`)
			} else {
				base = strings.TrimSuffix(p.hook, "/")
			}
			r := p.start()
			sms := event(`"event_id":"evt_1","recipient":"` + canaryNumber + `","message":{"text":"` + canaryText + `"}`)
			hook := event(`"event_id":"evt_2","channel":"webhook","recipient":"` + base + `/x?token=` + canaryQuery + `","message":{"data":"` + canaryText + `"}`)
			var rows []answer
			for _, a := range []answer{r.settled(sms, bearer), r.settled(hook, bearer), r.post(strings.Replace(sms, "evt_1", "evt_3", 1), bearer)} {
				if a.status != 202 {
					t.Fatalf("%d %s", a.status, a.body)
				}
				rows = append(rows, a)
			}
			ask := func(method, path, body string, header ...string) {
				a := r.do(method, path, body, header...)
				if a.status < 400 {
					t.Errorf("%s %s is not refused: %d", method, path, a.status)
				}
				absent(t, "the answer to "+path, a.body, append(secret, private...)...)
			}
			ask("POST", "/v1/notifications", sms, "Authorization: Bearer "+canaryKey)
			ask("POST", "/v1/notifications", sms[:len(sms)-5], bearer)
			ask("POST", "/v1/notifications", strings.Replace(sms, canaryNumber, "00"+canaryNumber[1:], 1), bearer)
			ask("POST", "/v1/notifications", strings.Replace(sms, `"text"`, `"other"`, 1), bearer)
			ask("GET", "/v1/notifications/"+canaryQuery, "", bearer)
			ask("GET", "/v1/"+canaryQuery+"?"+canaryNumber, "", bearer)
			for _, row := range rows {
				full := r.do(http.MethodGet, "/v1/notifications/"+row.ID, "", bearer)
				absent(t, "the row", full.body, secret...)
				for _, a := range full.Attempts {
					absent(t, "an attempt's error or code", a.Error+" "+a.Code, append(secret, private...)...)
					absent(t, "an attempt's error", a.Error, "127.0.0.1", "nowhere.invalid", "http")
				}
			}
			r.stop()
			absent(t, "the log", p.book.String(), append(secret, private...)...)
			if p.book.lines(`"msg":"attempt"`) < 2 {
				t.Errorf("the log has too little to prove anything:\n%s", p.book)
			}
			absent(t, "the printed configuration", p.printed(), secret...)
			p.check()
		})
	}
	absent(t, "what net/http wrote", std.String(), secret...)
}

// printed is what `sendonce config` shows.
func (p *place) printed() string {
	p.t.Helper()
	p.load()
	var out, err bytes.Buffer
	code := cli.Run(context.Background(), []string{"config", "--config", filepath.Join(p.dir, "sendonce.yaml")}, nil, cli.Streams{Out: &out, Err: &err}, cli.Service{})
	if code != 0 || !strings.Contains(out.String(), "api_key") {
		p.t.Errorf("config: exit code %d, %s%s", code, out.String(), err.String())
	}
	return out.String() + err.String()
}

// absent demands that a text has none of the canaries.
func absent(t *testing.T, where, text string, canaries ...string) {
	t.Helper()
	for _, canary := range canaries {
		for line := range strings.Lines(text) {
			if strings.Contains(line, canary) {
				t.Errorf("%s has %s: %.300s", where, canary, line)
			}
		}
	}
}
