package console

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// visitor is a browser.
type visitor struct {
	rig    *rig
	remote string       // its address: one for each visitor
	cookie *http.Cookie // of the session
	told   *http.Cookie // of what was done just now
}

// as logs in with the key of an identity; "" logs in nobody.
func (r *rig) as(name string) *visitor {
	r.t.Helper()
	r.visitors++
	v := &visitor{rig: r, remote: fmt.Sprintf("192.0.2.%d:1234", r.visitors%250+1)}
	if name == "" {
		return v
	}
	w := v.post("/login", url.Values{"key": {"key-" + name}})
	if w.Code != http.StatusSeeOther || v.cookie == nil {
		r.t.Fatalf("login as %s: %d", name, w.Code)
	}
	return v
}

// do sends a request of this origin; header lines are "Name: value".
func (v *visitor) do(method, path, body string, header ...string) *httptest.ResponseRecorder {
	v.rig.t.Helper()
	req := httptest.NewRequest(method, "http://127.0.0.1:8484"+Path+path, strings.NewReader(body))
	req.RemoteAddr = v.remote
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	if v.cookie != nil {
		req.AddCookie(v.cookie)
	}
	if v.told != nil && strings.HasPrefix(req.URL.Path, v.told.Path) {
		req.AddCookie(v.told)
	}
	w := httptest.NewRecorder()
	v.rig.console.ServeHTTP(w, req)
	for _, c := range w.Result().Cookies() {
		switch {
		case c.Name == cookieName:
			v.cookie = c
		case c.MaxAge < 0:
			v.told = nil
		default:
			v.told = c
		}
	}
	return w
}

func (v *visitor) get(path string, header ...string) *httptest.ResponseRecorder {
	v.rig.t.Helper()
	return v.do(http.MethodGet, path, "", header...)
}

func (v *visitor) post(path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	v.rig.t.Helper()
	return v.do(http.MethodPost, path, form.Encode(), header...)
}

// has fails unless a page has all of the texts.
func has(t testing.TB, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("%d: the page has no %q", w.Code, text)
		}
	}
}

// hasNot fails if a page has one of the texts.
func hasNot(t testing.TB, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(w.Body.String(), text) {
			t.Errorf("%d: the page has %q", w.Code, text)
		}
	}
}

// addresses are those of a page's tags that have a text, of its href and hx-get.
func addresses(page, text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`<[^>]*\s(?:href|hx-get)="([^"]*)"[^>]*>`).FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[0], text) {
			out = append(out, html.UnescapeString(m[1]))
		}
	}
	return out
}
