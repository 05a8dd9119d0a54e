package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
	"sendonce/providers"
)

func TestOverview_SaysHowThingsStand(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.claim(ledger.Event{EventID: "evt_1"})
	}
	r.claim(ledger.Event{EventID: "evt_2", Provider: "lost"})
	if err := r.ledger.Flush(); err != nil {
		t.Fatal(err)
	}
	v := r.as("reader")
	w := v.get("/")
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	has(t, w, `<a href="/console/waiting">1</a>`, `<a href="/console/notifications?state=ambiguous">1</a>`, `<a href="/console/notifications?state=sent">1</a>`, "in the last hour, 2 in the last day, 2 since the ledger began",
		`href="/console/providers#lost"`, "1 accepted, 2 repeats suppressed, 1 ambiguous, 0 deferred, 0 rejected", "Give providers a <code>price</code>")

	var plots map[string]map[string][]int64
	w = v.get("/history")
	if err := json.Unmarshal(w.Body.Bytes(), &plots); err != nil || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%v: %s", err, w.Body)
	}
	for name, spans := range map[string]int{"hour": 60, "day": 96} {
		p := plots[name]
		last := func(kind string) int64 { return p[kind][spans-1] + p[kind][spans-2] } // the minute may have changed
		if len(p["at"]) != spans || last("accepted") != 1 || last("suppressed") != 2 || last("ambiguous") != 1 || last("rejected") != 0 || last("deferred") != 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestOverview_SaysWhatRepeatsWouldHaveCost(t *testing.T) {
	price, err := ledger.ParsePrice("0.0079 USD")
	if err != nil {
		t.Fatal(err)
	}
	r := newRigWith(t, func(p *ledger.ProviderSettings) { p.Price = price })
	for range 4 {
		r.claim(ledger.Event{EventID: "evt_1"})
	}
	has(t, r.as("reader").get("/"), "0.0237 USD", "would 3 suppressed repeats have cost")
	has(t, r.as("reader").get("/providers"), "3 repeats, which would have cost 0.0237 USD", "0.0079 USD a message")
}

// A key that is bound to a source sees nothing that belongs to all of them.
func TestPages_RolesAreHeld(t *testing.T) {
	r := newRig(t)
	visitors := map[string]*visitor{}
	for name := range identities {
		visitors[name] = r.as(name)
	}
	for _, a := range []struct {
		method, path string
		codes        map[string]int
	}{
		{"GET", "/", map[string]int{"reader": 200, "operator": 200, "shop": 303}},
		{"GET", "/history", map[string]int{"reader": 200, "operator": 200, "shop": 403}},
		{"GET", "/live/overview", map[string]int{"shop": 403}},
		{"GET", "/providers", map[string]int{"reader": 200, "sender": 200, "operator": 200, "shop": 403}},
		{"GET", "/live/providers", map[string]int{"shop": 403}},
		{"POST", "/providers/taken/pause", map[string]int{"reader": 403, "sender": 403, "shop": 403, "operator": 303}},
		{"POST", "/providers/taken/resume", map[string]int{"reader": 403, "sender": 403, "shop": 403, "operator": 303}},
		{"POST", "/providers/nobody/pause", map[string]int{"operator": 404}},
		{"POST", "/providers/nobody/resume", map[string]int{"operator": 404}},
		{"GET", "/mailbox", map[string]int{"reader": 403, "sender": 403, "shop": 403, "operator": 200}},
		{"GET", "/mailbox/mail?provider=taken&message=x", map[string]int{"reader": 403, "operator": 404}},
		{"GET", "/live/mailbox", map[string]int{"reader": 403, "shop": 403}},
	} {
		for name, code := range a.codes {
			w := visitors[name].do(a.method, a.path, url.Values{"reason": {"test"}}.Encode())
			if w.Code != code {
				t.Errorf("%s %s as %s: %d, want %d", a.method, a.path, name, w.Code, code)
			}
		}
		if w := r.as("").do(a.method, a.path, ""); w.Code == http.StatusOK {
			t.Errorf("%s %s without login: %d", a.method, a.path, w.Code)
		}
	}
}

// The navigation leads nobody to where he is refused.
func TestPages_NavigationLeadsIn(t *testing.T) {
	r := newRig(t)
	for name, want := range map[string][]string{
		"reader": {"/", "/notifications", "/waiting", "/providers"}, "sender": {"/", "/notifications", "/waiting", "/providers"},
		"operator": {"/", "/notifications", "/waiting", "/providers", "/mailbox"}, "shop": {"/notifications", "/waiting"},
	} {
		v := r.as(name)
		_, page, _ := strings.Cut(v.get("/notifications").Body.String(), `<nav class="places"`)
		page, _, _ = strings.Cut(page, "</nav>")
		var got []string
		for _, to := range addresses(page, "href=") {
			got = append(got, strings.TrimPrefix(to, Path))
			if w := v.get(got[len(got)-1]); w.Code != http.StatusOK {
				t.Errorf("%s is led to %s: %d", name, to, w.Code)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is led to %v, want %v", name, got, want)
		}
	}
}

func TestProviders_PauseAndResume(t *testing.T) {
	r := newRig(t, func(s *Settings) {
		s.Codes = map[string]Codes{"log": {Source: "its own page", Codes: []Code{{Code: "refused", Outcome: "rejected", Does: "rejected", Means: "told to `refuse` it"}}}}
	})
	v := r.as("operator")
	has(t, v.get("/providers"), "told to <code>refuse</code> it", "its own page", "Messages pass.")
	for name, reason := range map[string]string{"none": "", "blank": "  ", "too long": strings.Repeat("x", 501), "control": "a\x07b"} {
		w := v.post("/providers/taken/pause", url.Values{"reason": {reason}})
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "Pause taken, because") {
			t.Errorf("reason %s: %d", name, w.Code)
		}
	}
	w := v.post("/providers/taken/pause", url.Values{"reason": {markup}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/providers" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	w = v.get("/providers")
	has(t, w, "Paused: nothing more goes", `<span class="badge paused">paused</span>`, "by <bdi>operator</bdi>", "&lt;img src=x onerror=alert(1)&gt;", "until somebody resumes it", `action="/console/providers/taken/resume"`)
	hasNot(t, w, "<img src=x", `action="/console/providers/taken/pause"`)
	hasNot(t, r.as("reader").get("/providers"), "<form method=\"post\" action=\"/console/providers")
	if g := gateOf(r, "taken"); g.State != "paused" || g.By != "operator" || g.Reason != markup {
		t.Errorf("%+v", g)
	}
	if w := v.post("/providers/taken/resume", nil); w.Code != http.StatusSeeOther {
		t.Fatalf("%d", w.Code)
	}
	if g := gateOf(r, "taken"); g.State != "open" {
		t.Errorf("%+v", g)
	}
}

const markup = "<img src=x onerror=alert(1)> javascript:alert(1)"

func gateOf(r *rig, name string) ledger.GateStatus {
	for _, p := range r.ledger.Providers() {
		if p.Name == name {
			return p.Gate
		}
	}
	return ledger.GateStatus{}
}

// Each capability that a type has, or that an adapter may use, has words; each figure reads well.
func TestProviders_Words(t *testing.T) {
	for name, kind := range providers.Types {
		for _, c := range kind.Has() {
			if able(c) == "" {
				t.Errorf("%s: no words for %s", name, c)
			}
		}
	}
	for _, c := range ledger.Capabilities {
		able(c)
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", -1234: "-1\u202f234", -123: "-123"} {
		if got := count(n); got != want {
			t.Errorf("%d is written %q", n, got)
		}
	}
	for d, want := range map[time.Duration]string{80 * time.Millisecond: "80 ms", 1540 * time.Millisecond: "1.5 s", 90 * time.Second: "1m30s"} {
		if got := short(d); got != want {
			t.Errorf("%v is written %q", d, got)
		}
	}
	for rate, want := range map[float64]string{0: "no limit", 10: "10 a second", 0.5: "30 a minute", 1.0 / 3600: "1 an hour"} {
		if got := (providerView{ProviderView: ledger.ProviderView{Rate: rate}}).RateText(); got != want {
			t.Errorf("%v is written %q", rate, got)
		}
	}
}

// A page that waits is told of what it shows, and of that only.
func TestPages_AreToldOfChanges(t *testing.T) {
	r := newRig(t)
	v := r.as("operator")
	markAt := func(path string) string {
		_, rest, _ := strings.Cut(v.get(path).Body.String(), "?mark=")
		mark, _, _ := strings.Cut(rest, `"`)
		return mark
	}
	overview := v.listen(t, "/live/overview?mark="+markAt("/"))
	gates := v.listen(t, "/live/providers?mark="+markAt("/providers"))
	box := v.listen(t, "/live/mailbox?mark="+markAt("/mailbox"))
	r.claim(ledger.Event{EventID: "evt_1"})
	<-overview
	<-box
	if _, err := r.ledger.Pause(t.Context(), "taken", "ops", "test"); err != nil {
		t.Fatal(err)
	}
	if mark := <-gates; mark != markAt("/providers") { // the claim came first, and told this page nothing
		t.Error("the page of the providers was told of something else than the pause")
	}
}
