package api

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sendonce/ledger"
)

// atPublicURL are the settings of a service that providers reach.
var atPublicURL = Settings{Keys: testKeys, PublicURL: "https://notify.example.test/sendonce"}

// A provider's request reaches its adapter as it came, whatever its type; nothing of it is read before the signature is. (F29)
func TestReceipts_ArriveAsTheyCame(t *testing.T) {
	const body = "{\"a\":1.0, \"a\":\"\\/\xff\"}\r\n"
	for _, c := range []struct {
		path, url, reference string
	}{
		{"/v1/receipts/sms_main", "/v1/receipts/sms_main", ""},
		{"/v1/receipts/sms_main/r-1?b=2&a=%7e+x", "/v1/receipts/sms_main/r-1?b=2&a=%7e+x", "r-1"},
		{"/v1/receipts/sms_main/r%2D1?", "/v1/receipts/sms_main/r%2D1?", "r%2D1"},
	} {
		for _, header := range []string{"Content-Type: application/x-www-form-urlencoded", "Content-Type: text/plain", "Content-Type: ", "Content-Encoding: gzip"} {
			s := newStub()
			base := serve(t, s, atPublicURL)
			got := do(t, "POST", base+c.path, body, header, "Host: notify.example.test", "X-Signature: abc")
			if got.status != http.StatusNoContent || len(got.body) != 0 || len(s.posted) != 1 {
				t.Fatalf("%s with %s: %d %s", c.path, header, got.status, got.body)
			}
			p := s.posted[0]
			if p.URL != atPublicURL.PublicURL+c.url || p.Reference != c.reference || string(p.Body) != body || fmt.Sprint(p.Header["X-Signature"]) != "[abc]" {
				t.Errorf("%s: %+v with %q", c.path, p, p.Body)
			}
		}
	}
}

// The signature is the right: a provider brings no key, and a key is no signature. Hosts and origins are not its own, and only
// this route lets them in.
func TestReceipts_NeedNoKeyAndNoOrigin(t *testing.T) {
	s := newStub()
	base := serve(t, s, atPublicURL)
	foreign := []string{"Host: notify.example.test", "Origin: https://provider.example.test", "Sec-Fetch-Site: cross-site"}
	if got := do(t, "POST", base+"/v1/receipts/sms_main", "x", foreign...); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, path := range []string{"/v1/notifications", "/v1/receipts", "/v1/receipts/"} {
		if got := do(t, "POST", base+path, "{}", foreign...); got.status != 403 && got.status != 401 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := do(t, "GET", base+"/v1/receipts/sms_main", ""); got.status != 405 && got.status != 401 {
		t.Errorf("GET: %d", got.status)
	}
	if got := do(t, "POST", serve(t, s, Settings{})+"/v1/receipts/sms_main", "x"); got.problem(t).Code != codeNoPublicURL || got.header.Get("Retry-After") == "" {
		t.Errorf("without a public URL: %d %s", got.status, got.body)
	}
	if len(s.posted) != 1 {
		t.Errorf("%d requests were taken", len(s.posted))
	}
}

// A fault of ours is never a 4xx, which would make a provider give up, and a wrong request never a 5xx, which would make it come
// again for ever. (F28)
func TestReceipts_Answers(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{ledger.ErrNoReporter, 404, codeNoReceipts}, {ledger.ErrUnverified, 403, codeUnverified}, {ledger.ErrUnsigned, 503, codeUnsigned}, {ledger.ErrUnreadable, 400, codeUnreadable},
		{ledger.ErrUnavailable, 503, codeStorageUnavailable}, {ledger.ErrUnknown, 503, codeStorageUnknown}, {ledger.ErrOverload, 429, codeOverload},
		{io.ErrUnexpectedEOF, 500, codeInternal},
	} {
		s := newStub()
		s.err = fmt.Errorf("SECRETCANARY1: %w", c.err)
		got := answerOf(t, New(s, atPublicURL, quiet()), "POST", "/v1/receipts/sms_main/r-1", "x")
		if p := got.problem(t); got.status != c.status || p.Code != c.code || bytes.Contains(got.body, []byte("SECRET")) {
			t.Errorf("%v: %d %s", c.err, got.status, got.body)
		}
		if retry := got.header.Get("Retry-After"); (retry != "") != (c.status == 429 || c.status == 503) {
			t.Errorf("%v: Retry-After %q", c.err, retry)
		}
	}
}

func TestReceipts_LargeBodies(t *testing.T) {
	s := newStub()
	a := New(s, Settings{Keys: testKeys, PublicURL: "https://notify.example.test", Limits: Limits{Body: 1000, Receipts: 3000}}, quiet())
	post := func(n int) answer { return answerOf(t, a, "POST", "/v1/receipts/mail", strings.Repeat("x", n)) }
	for _, c := range []struct{ bytes, status int }{{0, 204}, {1000, 204}, {3000, 204}, {3001, 413}} {
		if got := post(c.bytes); got.status != c.status {
			t.Errorf("%d bytes: %d %s", c.bytes, got.status, got.body)
		}
	}
	for range largeAtOnce {
		a.large <- struct{}{}
	}
	if got := post(2000); got.status != 429 || got.header.Get("Retry-After") == "" {
		t.Errorf("while as many as may be are read: %d", got.status)
	}
	if got := post(1000); got.status != 204 {
		t.Errorf("a small one meanwhile: %d", got.status)
	}
	if len(s.posted) != 4 {
		t.Errorf("%d requests were taken", len(s.posted))
	}
}

// A place is for what has come of a body, not for what it announces or may become: slow ones keep nobody out.
func TestReceipts_SlowBodiesKeepNobodyOut(t *testing.T) {
	s := newStub()
	a := New(s, Settings{Keys: testKeys, PublicURL: "https://notify.example.test", Limits: Limits{Body: 1000, Receipts: 3000}}, quiet())
	server := httptest.NewServer(a.Handler())
	defer server.Close()
	post := func(n int) int {
		body := struct{ io.Reader }{strings.NewReader(strings.Repeat("x", n))} // of no announced length
		resp, err := http.Post(server.URL+"/v1/receipts/mail", "text/plain", body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for _, head := range []string{"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", "Content-Length: 2500\r\n\r\nx"} {
		for range largeAtOnce {
			c, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := io.WriteString(c, "POST /v1/receipts/mail HTTP/1.1\r\nHost: a\r\n"+head); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct{ bytes, status int }{{500, 204}, {1000, 204}, {2500, 204}, {3001, 413}} {
		if got := post(c.bytes); got != c.status {
			t.Errorf("%d bytes beside slow ones: %d", c.bytes, got)
		}
	}
	if n := len(a.large); n != 0 {
		t.Fatalf("%d places are taken", n)
	}
	for range largeAtOnce {
		a.large <- struct{}{}
	}
	for _, c := range []struct{ bytes, status int }{{1000, 204}, {1001, 429}, {2500, 429}} {
		if got := post(c.bytes); got != c.status {
			t.Errorf("%d bytes while as many as may be are read: %d", c.bytes, got)
		}
	}
}

// Whoever posts without a right cannot fill the disk, and what he wrote is in no line. (F39)
func TestReceipts_RefusalsAreLoggedButBounded(t *testing.T) {
	var log bytes.Buffer
	s := newStub()
	a := New(s, atPublicURL, slog.New(slog.NewTextHandler(&log, nil)))
	for i := range 1000 {
		s.err = []error{ledger.ErrUnverified, ledger.ErrUnreadable, ledger.ErrNoReporter}[i%3]
		name := "sms_main"
		if i%3 == 2 {
			name = "OTP-424242"
		}
		answerOf(t, a, "POST", "/v1/receipts/"+name+"/OTP-424242?x=OTP-424242", "OTP-424242")
	}
	lines := strings.Count(log.String(), "\n")
	if lines < 1 || lines > 10 || !strings.Contains(log.String(), "provider=sms_main") || strings.Contains(log.String(), "424242") {
		t.Errorf("%d lines: %s", lines, log.String())
	}
}
