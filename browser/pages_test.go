package browser

import (
	"os"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// place is a page that a person can come to.
type place struct {
	name string
	path string
	key  string // of whom it is shown to
}

// places are all pages, over the rows of stock.
func (s *service) places() []place {
	rows := s.stock()
	return []place{
		{"overview", "/", "operator"},
		{"notifications", "/notifications", "operator"},
		{"search", "/notifications?q=%28415%29+555-0142", "operator"},
		{"not-found", "/notifications?q=nothing", "operator"},
		{"ambiguous", "/notifications/" + rows["lost"].ID, "operator"},
		{"notification", "/notifications/" + rows["done"].ID, "operator"},
		{"waiting", "/waiting", "operator"},
		{"providers", "/providers", "operator"},
		{"mailbox", "/mailbox", "operator"},
		{"mail", "/mailbox?channel=email", "operator"},
		{"reader", "/notifications/" + rows["lost"].ID, "reader"},
		{"login", "/login", ""},
		{"refusal", "/notifications/0", "operator"},
	}
}

// Nothing that axe-core knows keeps anybody out, on any page, however it is looked at. Nothing is wider than the window.
func TestPages_Accessible(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t)
	places := s.places()
	windows := map[string]*tab{"": s.open(""), "reader": s.open("reader"), "operator": s.open("operator")}
	for _, p := range places {
		w := windows[p.key]
		w.expect("status of 404")
		w.visit(p.path)
		w.steps(chromedp.Evaluate[chromedp.Void](string(axe)))
		for _, l := range looks {
			w.looking(l)
			if l.width < wide.width { // what is folded too
				w.unfold()
			}
			w.fits(p.name + " " + l.name)
			w.axe(p.name + " " + l.name)
		}
	}
}

// axe fails on every violation that axe-core, which the page has loaded, finds. Changes of colour are ended and not waited for: the
// browser draws no frames for a window while it is busy with others, and without frames nothing ends.
func (w *tab) axe(name string) {
	w.t.Helper()
	found := ask[[]string](w, `(document.getAnimations().forEach(a => a.finish()), axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], iframes: false}).then(r =>
		r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 200) + ": " + n.failureSummary))))`)
	for _, f := range found {
		w.t.Errorf("%s: %s", name, f)
	}
}

// fits fails when a page is wider than its window, or something on it wider than the card that it stands on.
func (w *tab) fits(name string) {
	w.t.Helper()
	over := ask[[]string](w, `document.documentElement.scrollWidth <= innerWidth ? [] :
		[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map(e => e.outerHTML.slice(0, 150))`)
	if len(over) > 0 {
		w.t.Errorf("%s is wider than its window: %q", name, over)
	}
	over = ask[[]string](w, `[...document.querySelectorAll(".card")].flatMap(c => [...c.querySelectorAll("*")].filter(e =>
		!e.closest(".scroll, .hidden, .screen, pre, .plot, thead") && e.getBoundingClientRect().right > c.getBoundingClientRect().right + 1)).slice(0, 3).map(e => e.outerHTML.slice(0, 150))`)
	if len(over) > 0 {
		w.t.Errorf("%s: something runs out of its card: %q", name, over)
	}
}

// A page and all that it loads, in a browser that was never here, is small.
func TestPages_Weight(t *testing.T) {
	t.Parallel()
	const most = 150_000 // bytes, as they are transferred
	s := serve(t)
	w := s.open("operator")
	w.expect("status of 404")
	w.steps(command(network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}))
	for _, p := range s.places() {
		if p.key != "operator" {
			continue
		}
		w.visit("/static/none") // ends the streams of the page before
		w.bytes.Store(0)
		w.visit(p.path)
		w.wait(`document.readyState === "complete"`)
		if got := w.bytes.Load(); got > most || got < 10_000 {
			t.Errorf("%s takes %d bytes, at most %d are wanted", p.name, got, most)
		}
	}
}

// unfold opens what is folded away.
func (w *tab) unfold() {
	w.t.Helper()
	w.steps(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
}
