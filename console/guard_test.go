package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Every page stands behind the login, and everything behind the policy.
func TestGuard_EveryRoute(t *testing.T) {
	r := newRig(t)
	for _, one := range r.console.routes() {
		path := strings.NewReplacer("{$}", "", "{id}", "01a22e1f-2f9c-79c6-9528-a6ad527e2c35", "{file}", "none.css", "{name}", "taken").Replace(one.path)
		w := r.as("").do(one.method, path, "")
		if h := w.Header(); h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: header %v", one.method, path, h)
		}
		if one.needs&anybody != 0 {
			continue
		}
		switch {
		case one.method == http.MethodGet && (w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/console/login?next=")):
			t.Errorf("%s without login: %d to %q", path, w.Code, w.Header().Get("Location"))
		case one.method == http.MethodPost && w.Code != http.StatusUnauthorized:
			t.Errorf("POST %s without login: %d", path, w.Code)
		}
	}
	for _, unsafe := range []string{"unsafe-inline", "unsafe-eval", "*", "data:", "http"} {
		if strings.Contains(policy, unsafe) {
			t.Errorf("the policy allows %s", unsafe)
		}
	}
}

// No page carries script or style of its own, which the policy would refuse.
func TestGuard_NothingInline(t *testing.T) {
	entries, err := templateFiles.ReadDir("templates")
	if err != nil || len(entries) < 5 {
		t.Fatal(len(entries), err)
	}
	for _, e := range entries {
		b, err := templateFiles.ReadFile("templates/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, no := range []string{"style=", "<style", "onclick", "onload", "hx-on", "hx-vals='js", "javascript:", "<script>", "https://", "{{safe"} {
			if strings.Contains(string(b), no) {
				t.Errorf("%s has %s", e.Name(), no)
			}
		}
	}
}

// A foreign page may post nothing, and a form of another kind is not read.
func TestGuard_Posts(t *testing.T) {
	r := newRig(t, func(s *Settings) { s.PublicURL = "https://notify.example.test" })
	form := url.Values{"key": {"key-reader"}}
	for _, c := range []struct {
		header []string
		status int
	}{
		{[]string{"Sec-Fetch-Site: same-origin"}, 303},
		{[]string{"Sec-Fetch-Site: cross-site"}, 403},
		{[]string{"Sec-Fetch-Site: same-site"}, 403},
		{[]string{"Sec-Fetch-Site: ", "Origin: https://evil.example.test"}, 403},
		{[]string{"Sec-Fetch-Site: cross-site", "Origin: https://notify.example.test"}, 303},
		{[]string{"Content-Type: text/plain"}, 400},
		{[]string{"Content-Type: application/json"}, 400},
	} {
		if w := r.as("").post("/login", form, c.header...); w.Code != c.status {
			t.Errorf("%v: %d, want %d", c.header, w.Code, c.status)
		}
	}
	if w := r.as("").post("/login", url.Values{"key": {strings.Repeat("k", maxForm+1)}}); w.Code != 413 {
		t.Errorf("a form of more than 64 KiB: %d", w.Code)
	}
	if !strings.Contains(r.as("").post("/login", form).Header().Get("Set-Cookie"), "; Secure") {
		t.Error("behind https the cookie is not for https only")
	}
}

// The cookie is for this console alone, no script reads it, and what is kept of it here is no cookie.
func TestSession_Cookie(t *testing.T) {
	r := newRig(t)
	v := r.as("reader")
	c := v.cookie
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/console" || len(c.Value) != 43 || c.MaxAge != 0 {
		t.Errorf("cookie %+v", c)
	}
	for sum := range r.console.sessions.all {
		if string(sum[:]) == c.Value {
			t.Error("the cookie itself is kept")
		}
	}
	if again := r.as("reader"); again.cookie.Value == c.Value {
		t.Error("two logins have one cookie")
	}
	if w := v.get("/notifications"); w.Code != 200 {
		t.Errorf("logged in: %d", w.Code)
	}
	has(t, v.get("/notifications"), "Key <strong>reader</strong>", "Log out")
	before := *c
	if w := v.post("/logout", nil); w.Code != 303 || v.cookie.MaxAge >= 0 {
		t.Errorf("logout: %d, cookie %+v", w.Code, v.cookie)
	}
	v.cookie = &before
	if w := v.get("/notifications"); w.Code != 303 {
		t.Errorf("with the cookie of a session that ended: %d", w.Code)
	}
}

// A login ends after an hour without use, and after twelve whatever happens. A stream is no use.
func TestSession_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sessions{all: map[[32]byte]session{}}
		idle := s.open(Identity{Name: "idle"}, time.Now())
		busy := s.open(Identity{Name: "busy"}, time.Now())
		watched := s.open(Identity{Name: "watched"}, time.Now())
		alive := func(token string, touch bool) bool {
			_, ok := s.find(token, time.Now(), touch)
			return ok
		}
		for range 2 {
			time.Sleep(30*time.Minute - time.Second)
			if !alive(busy, true) || !alive(watched, false) {
				t.Fatal("a session ended within the hour")
			}
		}
		time.Sleep(2 * time.Second)
		if alive(idle, true) || alive(watched, false) || !alive(busy, true) {
			t.Error("idle for an hour: the wrong sessions ended")
		}
		for range 21 {
			time.Sleep(30 * time.Minute)
			alive(busy, true)
		}
		if !alive(busy, true) {
			t.Error("it ended before twelve hours")
		}
		time.Sleep(30 * time.Minute)
		if alive(busy, true) || len(s.all) != 0 {
			t.Error("it outlived twelve hours")
		}
	})
}

// A cookie is for https only wherever the browser speaks it.
func TestSession_Secure(t *testing.T) {
	r, public := newRig(t), newRig(t, func(s *Settings) { s.PublicURL = "https://notify.example.test" })
	for _, c := range []struct {
		rig    *rig
		header []string
		secure bool
	}{
		{r, nil, false}, {public, nil, true}, {r, []string{"X-Forwarded-Proto: https"}, true}, {r, []string{"X-Forwarded-Proto: HTTPS, http"}, true},
		{r, []string{"X-Forwarded-Proto: http"}, false}, {r, []string{"X-Forwarded-Proto: http, https"}, false},
	} {
		v := c.rig.as("")
		if w := v.post("/login", url.Values{"key": {"key-operator"}}, c.header...); w.Code != 303 || v.cookie.Secure != c.secure {
			t.Errorf("%v: %d, secure %v", c.header, w.Code, v.cookie.Secure)
		}
		if v.post("/providers/taken/resume", nil, c.header...); v.told.Secure != c.secure {
			t.Errorf("%v: what is told is secure: %v", c.header, v.told.Secure)
		}
	}
	direct := &visit{c: r.console, r: httptest.NewRequest(http.MethodGet, "https://localhost/console/", nil)}
	if !direct.secure() {
		t.Error("over TLS of its own it is not")
	}
}

// Without keys the pages open by themselves, and each says so.
func TestOpen_SaysSo(t *testing.T) {
	r := newRig(t, open)
	w := r.as("").get("/notifications")
	if w.Code != 200 {
		t.Fatal(w.Code)
	}
	has(t, w, "No keys are configured")
	hasNot(t, w, "Log out")
	hasNot(t, newRig(t).as("reader").get("/notifications"), "No keys are configured")
}
