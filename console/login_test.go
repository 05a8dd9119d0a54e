package console

import (
	"net/url"
	"testing"
	"testing/synctest"
	"time"
)

// A key is not to be found by trying; another address is not locked out by it, and who has the key is not counted.
func TestLogin_Guessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guesses{all: map[string]*limiter{}}
		try := func(remote string, right bool) bool {
			ok, allowed := g.try(remote, func() bool { return right })
			if ok != (right && allowed) {
				t.Errorf("a key that is right (%v) opens (%v)", right, ok)
			}
			return allowed
		}
		for i := range guessBurst {
			for range 20 { // people behind one proxy
				if !try("192.0.2.1:1234", true) {
					t.Fatalf("the right key refused after %d wrong ones", i)
				}
			}
			if !try("192.0.2.1:1234", false) {
				t.Fatalf("try %d refused", i)
			}
		}
		if try("192.0.2.1:9999", false) || try("192.0.2.1:9999", true) || !try("192.0.2.2:1234", false) {
			t.Error("the eleventh try of an address, or the first of another")
		}
		time.Sleep(guessEvery)
		if !try("192.0.2.1:1234", true) || !try("192.0.2.1:1234", false) || try("192.0.2.1:1234", true) {
			t.Error("not one more wrong try after six seconds")
		}
		for i := range 2 * guessBurst {
			if got := try("[2001:db8::"+string("0123456789abcdef"[i%16])+"]:1", false); got != (i < guessBurst) {
				t.Errorf("try %d of one network: %v", i, got)
			}
		}
	})
	r := newRig(t)
	v := r.as("")
	for range guessBurst {
		if w := v.post("/login", url.Values{"key": {"key-nobody"}}); w.Code != 403 {
			t.Fatalf("a wrong key: %d", w.Code)
		}
	}
	if w := v.post("/login", url.Values{"key": {"key-reader"}}); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("after ten wrong keys: %d", w.Code)
	}
}

// The login leads on to pages of this console only.
func TestLogin_Next(t *testing.T) {
	for next, want := range map[string]string{
		"": "/", "/notifications?state=sent": "/notifications?state=sent", "https://evil.example.test/": "/", "//evil.example.test": "/",
		"/\\evil.example.test": "/", "javascript:alert(1)": "/", "/../v1": "/", "/login": "/", "/a\r\nb": "/", "///x": "/", "/%2e%2e/v1": "/",
	} {
		if got := ownPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
	r := newRig(t)
	w := r.as("").post("/login", url.Values{"key": {"key-reader"}, "next": {"/notifications?state=sent"}})
	if got := w.Header().Get("Location"); got != "/console/notifications?state=sent" {
		t.Errorf("leads to %q", got)
	}
}

// A link from another site brings no strict cookie along: one step from here does.
func TestLogin_FromAnotherSite(t *testing.T) {
	r := newRig(t)
	w := r.as("").get("/notifications", "Sec-Fetch-Site: cross-site")
	if w.Code != 200 || w.Header().Get("Refresh") != "0" {
		t.Errorf("%d, Refresh %q", w.Code, w.Header().Get("Refresh"))
	}
	if w := r.as("").get("/notifications", "Sec-Fetch-Site: same-origin"); w.Code != 303 {
		t.Errorf("the step after it: %d", w.Code)
	}
}
