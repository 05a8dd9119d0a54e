package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Times stand in the viewer's zone, with UTC on hover.
func TestTimes_ViewersZone(t *testing.T) {
	t.Parallel()
	s := serve(t)
	n := s.claim(nil)
	w := s.open("reader") // in New York
	w.visit("/notifications/" + n.ID)
	w.wait(`document.querySelector("main time[data-local]")`)
	if wrong := ask[[]string](w, `[...document.querySelectorAll("main time")].filter(t => {
		const at = new Date(t.dateTime), utc = at.toISOString();
		const here = new Intl.DateTimeFormat("en-US", {timeZone: "America/New_York", hour: "2-digit", minute: "2-digit", second: "2-digit"}).format(at);
		return !t.textContent.includes(here) || !t.title.startsWith(utc.slice(0, 10)) || !t.title.includes(utc.slice(11, 19)) || !t.title.includes("UTC");
	}).map(t => t.outerHTML)`); len(wrong) > 0 {
		t.Errorf("times: %q", wrong)
	}
}

// Without JavaScript everything can be read and decided; times are UTC and say so.
func TestBare_ReadAndDecide(t *testing.T) {
	t.Parallel()
	s := serve(t)
	n := s.lose(nil)
	w := s.open("")
	w.bare()
	w.login("operator")
	for path, text := range map[string]string{"/": "Overview", "/notifications": "evt_1", "/notifications/" + n.ID: "Attempt 1", "/waiting": "evt_1", "/providers": "sms_main", "/mailbox": "Mailbox"} {
		w.visit(path)
		w.has("main", text)
		if ask[int](w, `document.querySelectorAll("main time").length - [...document.querySelectorAll("main time")].filter(t => t.textContent === t.title && t.title.includes("UTC")).length`) != 0 {
			t.Errorf("%s: a time that is not UTC", path)
		}
	}
	w.fill("#q", "(415) 555-0142")
	w.press(kb.Enter)
	w.has("main", "evt_1")
	w.click("#results tbody a")
	w.has("main", n.ID)
	w.fill("#decide input[id^=reason-]", "it never arrived")
	w.click("#decide button[value=abandon]")
	w.has("[role=status]:not([hidden])", "Abandoned")
}

// focus is the accessible text of what has the focus, and whether that can be seen.
type focus struct {
	Text    string
	Visible bool
}

// tabTo presses Tab until the focus is on what a test of the element says, and demands that each stop can be seen.
func (w *tab) tabTo(what string) {
	w.t.Helper()
	var passed []string
	for range 80 {
		w.press(kb.Tab)
		f := ask[focus](w, `(() => { const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
			return {Text: e.outerHTML.slice(0, 90), Visible: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1.5 && r.width > 0 && r.bottom > 0 && r.top < innerHeight} })()`)
		if !f.Visible && !strings.HasPrefix(f.Text, "<body") {
			w.t.Errorf("the focus can't be seen on %s", f.Text)
		}
		if ask[bool](w, `document.activeElement.matches(`+quote(what)+`)`) {
			return
		}
		passed = append(passed, f.Text)
	}
	w.t.Fatalf("Tab does not lead to %s, but over %q", what, passed)
}

// A hand that never leaves the keyboard logs in, finds a row and decides.
func TestKeyboard_FromLoginToDecision(t *testing.T) {
	t.Parallel()
	s := serve(t)
	n := s.lose(nil)
	w := s.open("")
	w.visit("/login")
	w.tabTo("#key")
	w.press("key-operator" + kb.Enter)
	w.has("h1", "Overview")
	w.tabTo(".skip")
	w.press(kb.Enter)
	w.wait(`document.activeElement.id === "main"`)
	w.visit("/")
	w.tabTo("#q")
	w.press("evt_1" + kb.Enter)
	w.has("#results", "evt_1")
	w.tabTo("#results tbody a")
	w.press(kb.Enter)
	w.has("main", n.ID)
	w.tabTo("#decide input[id^=reason-]")
	w.press("seen in its log" + kb.Enter) // Enter in a field decides nothing
	w.tabTo("#decide summary")
	w.press(" ")
	w.wait(`document.querySelector("#decide details").open`)
	w.tabTo("#decide button[value=confirm]")
	s.unmoved(n)
	w.press(" ")
	w.has("[role=status]:not([hidden])", "Confirmed")
	w.visit("/providers")
	w.tabTo("#why-sms_main")
	w.press("maintenance")
	w.tabTo("form[action$='sms_main/pause'] button")
	w.press(kb.Enter)
	w.has("#sms_main", "paused")
}
