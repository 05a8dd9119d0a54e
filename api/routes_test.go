package api

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// bodies has a valid body for every route that reads one of our own. A route without an entry fails the tests.
var bodies = map[string]string{
	"POST /v1/notifications": `{"event_id":"evt_1","event_type":"order.shipped","source":"shop","user_id":"u_17","channel":"sms",` +
		`"recipient":"+14155550142","message":{"text":"Hello.","from":"Acme"},"provider":"infrai_main","lane":"normal",` +
		`"send_at":"2026-11-30T12:00:00Z","expires_at":"2026-12-01T12:00:00Z","occurred_at":"2026-11-30T11:59:00Z","metadata":{"order":"A-1"},"dedupe_key":"k1"}`,
	"POST /v1/notifications/batch": `{"notifications":[{"event_id":"evt_1","source":"shop","channel":"webhook","recipient":"https://crm.example.test/",` +
		`"message":{"data":{"skus":["a"]}},"metadata":{"order":{"id":"A-1"}}}]}`,
	"POST /v1/notifications/:id/confirm": `{"reason":"seen at the provider","by":"ada","message_id":"m-1"}`,
	"POST /v1/notifications/:id/release": `{"reason":"surely not sent","by":"ada","expires_at":"2026-12-01T12:00:00Z"}`,
	"POST /v1/notifications/:id/abandon": `{"reason":"too late","by":"ada"}`,
	"POST /v1/notifications/:id/hold":    `{"reason":"wait","by":"ada"}`,
	"POST /v1/notifications/:id/unhold":  `{"reason":"go on","by":"ada"}`,
	"POST /v1/notifications/:id/cancel":  `{"reason":"order withdrawn","by":"ada"}`,
	"POST /v1/notifications/:id/resend":  `{"reason":"asked for it","by":"ada","accept_duplicate":true}`,
	"POST /v1/settlements":               `{"action":"cancel","filter":{"state":"claimed","source":"shop"},"reason":"campaign stopped","by":"ada","expected_count":2,"dry_run":false}`,
	"POST /v1/providers/:name/pause":     `{"reason":"invoice open"}`,
	"POST /v1/providers/:name/resume":    `{"reason":"paid"}`,
}

// foreignBodies are the routes whose bodies others define, in whatever type they come: adapters read them behind the signature.
var foreignBodies = map[string]bool{"POST /v1/receipts/:provider": true, "POST /v1/receipts/:provider/:reference": true}

// freeParts are the objects in bodies whose member names are the caller's own.
var freeParts = map[string]bool{"metadata": true, "notifications[0].metadata": true, "notifications[0].metadata.order": true, "notifications[0].message.data": true}

// urlOf fills a path template.
func urlOf(base, path string) string {
	return base + strings.NewReplacer(":id", rowA.String(), ":name", "infrai_main", ":code", "internal",
		":provider", "infrai_main", ":reference", rowA.String()+"-1").Replace(path)
}

// quiet is a logger for tests that don't read the log.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// A route that was registered past the table would have no role; one with a body that no test knows would
// have no strictness.
func TestRoutes_AllInTheTable(t *testing.T) {
	a := New(newStub(), Settings{}, quiet())
	table := map[string]roles{}
	for _, r := range a.routes() {
		table[r.method+" "+r.path] = r.roles
	}
	if got := len(a.echo.Routes()); got != len(table) {
		t.Errorf("%d routes are registered, %d stand in the table", got, len(table))
	}
	for _, r := range a.echo.Routes() {
		name := r.Method + " " + r.Path
		if table[name] == 0 {
			t.Errorf("%s has no role", name)
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
			t.Errorf("%s: no test knows whether that method has a body", name)
		}
		if _, known := bodies[name]; known == foreignBodies[name] && r.Method == http.MethodPost {
			t.Errorf("%s has no valid body in the tests", name)
		}
	}
	if len(a.public) != 5 || len(a.signed) != 2 {
		t.Errorf("public routes: %v, signed ones: %v", a.public, a.signed)
	}
}

// Who may do what, for every route and every kind of key.
func TestRoutes_Roles(t *testing.T) {
	const all = "sender reader operator shop"
	allowed := map[string]string{
		"POST /v1/notifications":             "sender shop",
		"POST /v1/notifications/batch":       "sender shop",
		"GET /v1/notifications":              all,
		"GET /v1/notifications/:id":          all,
		"POST /v1/notifications/:id/confirm": "operator shop",
		"POST /v1/notifications/:id/release": "sender operator shop",
		"POST /v1/notifications/:id/abandon": "operator shop",
		"POST /v1/notifications/:id/hold":    "sender operator shop",
		"POST /v1/notifications/:id/unhold":  "sender operator shop",
		"POST /v1/notifications/:id/cancel":  "sender operator shop",
		"POST /v1/notifications/:id/resend":  "operator shop",
		"POST /v1/settlements":               "operator shop",
		"GET /v1/providers":                  all,
		"POST /v1/providers/:name/pause":     "operator",
		"POST /v1/providers/:name/resume":    "operator",
		"GET /v1/keys":                       all,
		"GET /v1/stats":                      "sender reader operator",
		"POST /v1/receipts/:provider":        all + " nobody",
		"GET /healthz":                       all + " nobody",
		"HEAD /healthz":                      all + " nobody",
		"GET /readyz":                        all + " nobody",
		"HEAD /readyz":                       all + " nobody",
		"GET /problems/:code":                all + " nobody",
	}
	allowed["POST /v1/receipts/:provider/:reference"] = allowed["POST /v1/receipts/:provider"]
	s := newStub()
	base := serve(t, s, atPublicURL)
	for _, r := range New(s, Settings{}, quiet()).echo.Routes() {
		name := r.Method + " " + r.Path
		for _, who := range strings.Fields(all + " nobody") {
			before := s.seen()
			got := do(t, r.Method, urlOf(base, r.Path), bodies[name], bearer(who), `If-Match: "3"`)
			may := strings.Contains(" "+allowed[name]+" ", " "+who+" ")
			switch {
			case may && got.status >= 300:
				t.Errorf("%s as %s: %d %s", name, who, got.status, got.body)
			case !may && who == "nobody" && got.status != 401:
				t.Errorf("%s without a known key: %d", name, got.status)
			case !may && who != "nobody" && got.status != 403:
				t.Errorf("%s as %s: %d, want 403", name, who, got.status)
			case !may && s.seen() != before:
				t.Errorf("%s as %s changed something", name, who)
			}
		}
	}
	// What was begun is finished, whether its caller waits for the answer or not. (F04)
	if s.breakable != 0 {
		t.Errorf("%d changes end with their request", s.breakable)
	}
}

// Everything that the router refuses by itself is a problem too, and only with a key.
func TestRoutes_UnknownPathAndMethod(t *testing.T) {
	base := serve(t, newStub(), Settings{Keys: testKeys})
	for _, c := range []struct {
		method, path, code, allow string
		status                    int
	}{
		{"GET", "/", codeNoRoute, "", 404},
		{"GET", "/v1/notification", codeNoRoute, "", 404},
		{"GET", "/v1/notifications/", codeNoRoute, "", 404},
		{"POST", "/v1/notifications/" + rowA.String() + "/explode", codeNoRoute, "", 404},
		{"GET", "/problems/nothing", codeNoRoute, "", 404},
		{"DELETE", "/v1/notifications", codeMethod, "OPTIONS, GET, POST", 405},
		{"GET", "/v1/notifications/" + rowA.String() + "/resend", codeMethod, "OPTIONS, POST", 405},
		{"PUT", "/healthz", codeMethod, "OPTIONS, GET, HEAD", 405},
	} {
		got := do(t, c.method, base+c.path, "", bearer("operator"))
		if p := got.problem(t); got.status != c.status || p.Code != c.code || got.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d %s, Allow %q", c.method, c.path, got.status, p.Code, got.header.Get("Allow"))
		}
		if public := strings.HasPrefix(c.path, "/problems") || c.path == "/healthz"; public {
			continue
		}
		if got := do(t, c.method, base+c.path, ""); got.status != 401 {
			t.Errorf("%s %s without a key: %d", c.method, c.path, got.status)
		}
	}
}
