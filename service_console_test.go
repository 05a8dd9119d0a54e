package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"sendonce/fake"
)

// The keys of the configuration open the console, with the roles and the source that they have there.
func TestConsole_Login(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true}, "providers:\n",
		`auth: {keys: [{name: shop, sha256: "`+sumOf("key-shop")+`", roles: [read], source: shop}]}`+"\nproviders:\n")
	r := p.start()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: patience}
	visit := func(key string) (int, string) {
		t.Helper()
		res, err := browser.PostForm(r.base+"/console/login", url.Values{"key": {key}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		page, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(page)
	}
	if status, page := visit("key-other"); status != http.StatusForbidden || strings.Contains(page, "Log out") {
		t.Errorf("with a wrong key: %d", status)
	}
	status, page := visit("key-shop")
	for _, text := range []string{"Key <strong>shop</strong>", "source <bdi>shop</bdi>", "Log out"} {
		if status != http.StatusOK || !strings.Contains(page, text) {
			t.Errorf("logged in: %d, no %q", status, text)
		}
	}
}
