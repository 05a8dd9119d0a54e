package providers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// F34: secrets, recipients and content in errors, codes and stored answers. Each failure goes through %v, %+v, %#v
// and slog, as careless code would print it.
func TestSend_NothingPrivateInResults(t *testing.T) {
	echo := `{"ok":false,"error":{"code":"` + testNumber[1:] + `","message":"` + testKey + ` ` + testNumber + `"}}`
	echoed := listen(t, afterRequest(make(chan served, 64), write("HTTP/1.1 401 No\r\nContent-Length: "+itoa(len(echo))+"\r\n\r\n"+echo)))
	garbage := listen(t, afterRequest(make(chan served, 64), write(testKey+" "+testNumber+"\r\n\r\n")))
	header := listen(t, afterRequest(make(chan served, 64), write("HTTP/1.1 200 OK\r\nContent-Length: "+testKey+"\r\n\r\n")))
	reset := listen(t, afterRequest(make(chan served, 64), func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }))
	silent := listen(t, afterRequest(make(chan served, 64), func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }))
	untrusted := httptest.NewUnstartedServer(nil)
	untrusted.Config.ErrorLog = discard
	untrusted.StartTLS()
	defer untrusted.Close()

	for name, base := range map[string]string{
		"echo": "http://" + echoed, "garbage": "http://" + garbage, "bad header": "http://" + header,
		"reset": "http://" + reset, "silent": "http://" + silent, "untrusted": untrusted.URL,
		"no host": "https://canary-host.invalid", "refused": "http://127.0.0.1:1",
	} {
		eachProvider(t, func(t *testing.T, k kit) {
			c := Common{BaseURL: base}
			p := k.make(t, c)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			r := p.Send(ctx, k.request(t, p, base))
			if r.Outcome == ledger.Accepted || r.Error == "" && r.Status == 0 {
				t.Fatalf("%s: the case proves nothing: %+v", name, r)
			}
			answer := string(r.Answer)
			r.Answer = nil // has a column of its own, and only the secret must be missing
			shown := shownBy(r)
			for _, canary := range []string{testKey, testNumber, testNumber[1:], testAddress, testDevice, testText, testSecret, "127.0.0.1", "canary-host", "/hook"} {
				if strings.Contains(shown, canary) {
					t.Errorf("%s: %q is in %s", name, canary, shown)
				}
			}
			if k.name != "webhook" && strings.Contains(answer, testKey) {
				t.Errorf("%s: the secret is in the stored answer", name)
			}
		})
	}
}

// shownBy prints a value in the ways that end in logs.
func shownBy(v any) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %+v %#v %s %q", v, v, v, v, v)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", v)
	return b.String()
}

func TestSecret_NeverShows(t *testing.T) {
	s := Secret(testKey)
	settings := InfraiSettings{APIKey: s}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	shown := shownBy(s) + shownBy(settings) + shownBy(&settings) + string(text) + fmt.Sprintf("%d %x %t %T", s, s, s, s) + fmt.Sprint(fmt.Errorf("e: %v", s))
	if strings.Contains(shown, testKey) || strings.Contains(shown, fmt.Sprintf("%x", testKey)) || !strings.Contains(shown, "***") {
		t.Errorf("shown: %s", shown)
	}
	if string(s) != testKey {
		t.Error("the value is lost")
	}
}

// Faults in settings name keys and never quote a secret.
func TestValidate_NeverQuotesSecrets(t *testing.T) {
	for _, s := range []Settings{
		&InfraiSettings{APIKey: testKey + " with blanks"},
		&WebhookSettings{Secret: testKey + "="},
		&SendGridSettings{APIKey: testKey + " with blanks"},
		&ResendSettings{APIKey: testKey + " with blanks", WebhookSecret: testKey + "="},
		&FCMSettings{Credentials: `{"type":"service_account","project_id":"p","client_email":"e","private_key":"` + testKey + `"}`},
		&FCMSettings{Credentials: testKey},
	} {
		faults := s.Validate(Common{BaseURL: "https://user:" + testKey + "@x.example.test/"})
		if len(faults) < 2 || strings.Contains(shownBy(faults), testKey) {
			t.Errorf("%T: %v", s, faults)
		}
	}
}
