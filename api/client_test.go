package api

import (
	"bytes"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
)

// The keys of the tests: one for each role, and two that are bound to a source.
var testKeys = []AccessKey{
	keyOf("sender", nil, RoleSend), keyOf("reader", nil, RoleRead), keyOf("operator", nil, RoleOperate),
	keyOf("shop", new("shop"), RoleSend, RoleOperate), keyOf("billing", new("billing"), RoleSend, RoleOperate),
}

// keyOf is a key whose text is its name behind "key-".
func keyOf(name string, source *string, r ...Role) AccessKey {
	return AccessKey{Name: name, SHA256: sha256.Sum256([]byte("key-" + name)), Roles: r, Source: source}
}

// serve starts the API over a stub. The log must stay free of errors unless a test reads it itself.
func serve(t testing.TB, s *stub, set Settings) string {
	t.Helper()
	var log bytes.Buffer
	srv := httptest.NewServer(New(s, set, slog.New(slog.NewTextHandler(&log, nil))).Handler())
	t.Cleanup(func() {
		srv.Close()
		if strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("logged: %s", log.String())
		}
	})
	return srv.URL
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// problem reads the answer as a problem.
func (a answer) problem(t testing.TB) Problem {
	t.Helper()
	var p Problem
	if err := jsonv2.Unmarshal(a.body, &p, jsonv2.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("not a problem: %v: %s", err, a.body)
	}
	if a.header.Get("Content-Type") != "application/problem+json" || p.Status != a.status {
		t.Errorf("problem %d with type %q in an answer %d", p.Status, a.header.Get("Content-Type"), a.status)
	}
	return p
}

// do sends a request; header lines are "Name: value". A body gets application/json unless a line says otherwise.
func do(t testing.TB, method, url, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		if name == "Content-Type" {
			req.Header.Del(name)
		}
		req.Header.Add(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, b}
}

// bearer is the header line of one of testKeys.
func bearer(name string) string { return "Authorization: Bearer key-" + name }

// answerOf answers one request without a network.
func answerOf(t *testing.T, a *API, method, path, body string, header ...string) answer {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.Bytes()}
}
