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
	const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, c := range []struct {
		base, method, path, accept string
		status                     int
	}{
		{keyed, "GET", "/", browser, 302}, {keyless, "GET", "/?x=1", browser, 302}, {keyless, "GET", "/", "Accept: */*", 404}, {keyed, "GET", "/", "Accept: application/json", 401},
		{keyless, "POST", "/", browser, 404}, {keyless, "GET", "/v1", browser, 404}, {serve(t, newStub(), Settings{}), "GET", "/", browser, 404},
	} {
		got := do(t, c.method, c.base+c.path, "", c.accept)
		if got.status != c.status || c.status == 302 && got.header.Get("Location") != "/console/" {
			t.Errorf("%s %s, %s: %d to %q", c.method, c.path, c.accept, got.status, got.header.Get("Location"))
		}
	}
	if got := do(t, "GET", serve(t, newStub(), Settings{})+"/console", ""); got.status != 404 {
		t.Errorf("without a console: %d", got.status)
	}
}
