package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

func TestLogin(t *testing.T) {
	t.Parallel()
	s := serve(t)
	w := s.open("")
	w.expect("status of 403")
	w.visit("/waiting?state=held")
	w.has("h1", "Log in")
	w.fill("#key", "key-wrong")
	w.click("main button")
	w.wait(`document.querySelector("[role=alert]")`)
	w.fill("#key", "key-operator")
	w.press("\r")
	w.has("h1", "Waiting") // where it was wanted to go
	w.has(".who", "Key operator")
	cookies, err := chromedp.Run(w.ctx, func(ctx context.Context, t *chromedp.Target) ([]*network.Cookie, error) {
		res, err := cdp.Call(ctx, t, network.GetCookies, network.GetCookiesParams{})
		return res.Cookies, err
	})
	if err != nil || len(cookies) != 1 {
		t.Fatalf("%d cookies, %v", len(cookies), err)
	}
	if c := cookies[0]; !c.HTTPOnly || !c.Session || c.SameSite != network.CookieSameSiteStrict || c.Path != "/console" {
		t.Errorf("the cookie is %+v", c)
	}
	if seen := ask[string](w, "document.cookie"); seen != "" {
		t.Errorf("a script can read %q", seen)
	}
	w.click(".who button")
	w.has("h1", "Log in")
	req, err := http.NewRequest(http.MethodGet, s.base+"/console/waiting", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: cookies[0].Name, Value: cookies[0].Value}) // kept by somebody
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusSeeOther {
		t.Errorf("the cookie of a login that was ended opens a page: %d", res.StatusCode)
	}
}

// forge posts a form from the page itself, as somebody would who writes his own, and returns the status.
func (w *tab) forge(path, form string) int {
	w.t.Helper()
	return ask[int](w, `fetch(`+quote("/console"+path)+`, {method: "POST", body: new URLSearchParams(`+quote(form)+`)}).then(r => r.status)`)
}

// Who may only read sees all and decides nothing, whatever he posts.
func TestRoles_ReaderDecidesNothing(t *testing.T) {
	t.Parallel()
	s := serve(t)
	n := s.lose(nil)
	w := s.open("reader")
	w.expect("status of 403")
	for _, path := range []string{"/notifications/" + n.ID, "/waiting", "/notifications", "/", "/providers"} {
		w.visit(path)
		w.has("h1", "")
		if forms := w.count("main form[method=post]"); forms != 0 {
			t.Errorf("%s has %d forms that post", path, forms)
		}
	}
	form := fmt.Sprintf("version=%d&reason=mine", n.Version)
	for path, form := range map[string]string{
		"/notifications/" + n.ID + "/settle": form + "&action=confirm", "/notifications/" + n.ID + "/resend": form + "&accept_duplicate=yes", "/notifications/" + n.ID + "/reveal": form,
		"/waiting/count": "state=ambiguous&reason=mine&action=release", "/waiting/settle": "state=ambiguous&reason=mine&action=release&expected_count=1",
		"/providers/sms_main/pause": "reason=mine", "/providers/sms_main/resume": "",
	} {
		if status := w.forge(path, form); status != http.StatusForbidden {
			t.Errorf("POST %s: %d", path, status)
		}
	}
	s.unmoved(n)
}

// unmoved demands that a row whose answer was lost is as it was, and that nothing more was sent.
func (s *service) unmoved(n row) {
	s.t.Helper()
	if now := s.get(n.ID); now.State != n.State || now.Version != n.Version {
		s.t.Errorf("the row was %s, version %d, and is %s, version %d", n.State, n.Version, now.State, now.Version)
	}
	if sent := s.fake.Requests(); sent != 1 {
		s.t.Errorf("the provider read %d requests", sent)
	}
}

// A key that is bound to a source finds no other's rows: not in lists, not by search, not by address.
func TestSource_OfAnotherIsNotThere(t *testing.T) {
	t.Parallel()
	s := serve(t)
	own := s.claim(fields{"event_id": "evt_own"})
	other := s.claim(fields{"event_id": "evt_other", "source": "bank"})
	w := s.open("shop")
	w.expect("status of 404")
	w.expect("status of 403")
	w.has(".who", "source shop")
	w.visit("/notifications")
	w.has("#results", "evt_own")
	if text := w.text("#results"); ask[bool](w, quote(text)+`.includes("evt_other")`) {
		t.Error("the list shows another's row")
	}
	for _, q := range []string{"evt_other", other.ID} {
		w.visit("/notifications?q=" + q)
		w.has("main", "Nothing is known under")
	}
	w.visit("/notifications/" + other.ID)
	w.has("h1", "No such notification")
	w.visit("/notifications/" + own.ID)
	w.has("main", "evt_own")
	if status := w.forge("/notifications/"+other.ID+"/resend", fmt.Sprintf("version=%d&reason=mine", other.Version)); status != http.StatusNotFound {
		t.Errorf("a resend of another's row: %d", status)
	}
	if places := ask[int](w, `[...document.querySelectorAll(".places a")].filter(a => /providers|mailbox/.test(a.href)).length`); places != 0 {
		t.Error("the navigation leads to what belongs to all sources")
	}
}

// A foreign page, even one that the browser counts to the same site, neither decides nor frames a page for whoever is logged in.
func TestForeign_F35_PageDecidesNothing(t *testing.T) {
	t.Parallel()
	s := serve(t)
	n := s.lose(nil)
	form := fmt.Sprintf(`<input name=version value=%d><input name=reason value=theirs><input name=accept_duplicate value=yes><input name=action value=abandon></form>`, n.Version)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		row := s.base + "/console/notifications/" + n.ID
		switch r.URL.Path {
		case "/settle", "/resend", "/reveal":
			fmt.Fprintf(w, `<body onload=document.forms[0].submit()><form method=post action=%q>%s`, row+r.URL.Path, form)
		case "/frame":
			fmt.Fprintf(w, `<iframe src=%q onload="document.title='loaded'"></iframe><img src="%s/settle?version=%d&action=abandon&reason=x"><img src=%q>`, row, row, n.Version, row+"/resend")
		}
	}))
	t.Cleanup(evil.Close)
	w := s.open("operator")
	for _, expected := range []string{evil.URL, "status of 403", "status of 405", "status of 404", "favicon.ico", "frame", "NotSameOrigin"} {
		w.expect(expected)
	}
	for _, path := range []string{"/settle", "/resend", "/reveal"} {
		w.steps(chromedp.Navigate(evil.URL + path))
		w.wait(`location.origin === ` + quote(s.base))
		if who := ask[int](w, `document.querySelectorAll("#decide").length`); who != 0 {
			t.Errorf("POST %s from a foreign page shows the row", path)
		}
	}
	w.steps(chromedp.Navigate(evil.URL + "/frame"))
	w.wait(`document.title === "loaded"`)
	if seen := ask[bool](w, `(() => { try { return document.querySelector("iframe").contentDocument !== null } catch { return false } })()`); seen {
		t.Error("a foreign page reads the frame")
	}
	s.unmoved(n)
	w.visit("/notifications/" + n.ID) // the login itself is still there
	w.has("main", "evt_1")
}
