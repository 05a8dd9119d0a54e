package api

import (
	"io"
	"net/http"
	"testing"
)

// The console asks for a login itself, and stands behind every other guard of the API.
func TestConsole_BehindTheGuards(t *testing.T) {
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method+" "+r.URL.Path) })
	keyless := serve(t, newStub(), Settings{Console: pages})
	keyed := serve(t, newStub(), Settings{Console: pages, Keys: testKeys})
	for _, c := range []struct {
		base, method, path string
		header             []string
		status             int
	}{
		{keyless, "GET", "/console", nil, 200},
		{keyless, "GET", "/console/notifications/1", nil, 200},
		{keyed, "GET", "/console/notifications", nil, 200},
		{keyed, "POST", "/console/login", []string{"Sec-Fetch-Site: same-origin"}, 200},
		{keyless, "GET", "/console", []string{"Host: evil.example.test"}, 421},
		{keyless, "GET", "/console", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{keyed, "POST", "/console/login", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{keyed, "DELETE", "/console", []string{bearer("operator")}, 405},
	} {
		got := do(t, c.method, c.base+c.path, "", c.header...)
		if got.status != c.status || c.status == 200 && string(got.body) != c.method+" "+c.path {
			t.Errorf("%s %s %v: %d %s", c.method, c.path, c.header, got.status, got.body)
		}
	}
	if got := do(t, "GET", serve(t, newStub(), Settings{})+"/console", ""); got.status != 404 {
		t.Errorf("without a console: %d", got.status)
	}
}
