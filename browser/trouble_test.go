package browser

import (
	"fmt"
	"syscall"
	"testing"
)

// cutOff is true once a page says that no news come in.
const cutOff = `!document.getElementById("cut").hidden`

// A page whose service is gone keeps what it has, and says so: it would pass for the present else.
func TestTrouble_TheServiceStops(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.lose(fields{"event_id": "evt_lost"})
	w := s.open("operator")
	w.expect("ERR_")
	w.expect("status of 503")
	w.expect("wrote to the console: error") // htmx tells of each lost stream
	w.visit("/waiting")
	w.has("main article", "evt_lost")
	if ask[bool](w, cutOff) {
		t.Error("it says so while the service is there")
	}
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.wait(cutOff)
	w.has("main article", "evt_lost")
}

// seen puts the page in front of the others, or behind them.
func (w *tab) seen(is bool) {
	w.t.Helper()
	ask[bool](w, fmt.Sprintf(`(() => { Object.defineProperty(document, "hidden", {value: %v, configurable: true}); document.dispatchEvent(new Event("visibilitychange")); return true })()`, !is))
}

// A browser has six connections to the service for all its tabs: a page that nobody sees leaves them all to others, and catches up
// when it is seen. Six open pages once kept the seventh from loading.
func TestStream_APageBehindOthers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.lose(fields{"event_id": "evt_lost"})
	w := s.open("operator")
	w.visit("/waiting")
	w.has("main", "evt_lost")
	s.lose(fields{"event_id": "evt_news"})
	w.has("main", "evt_news")
	w.seen(false)
	ask[bool](w, `(window.others = Array.from({length: 6}, () => new EventSource("/console/live/providers?mark=x")), Promise.all(window.others.map((s) => new Promise((open) => { s.onopen = open }))).then(() => true))`)
	ask[bool](w, `(window.others.forEach((s) => s.close()), true)`)
	s.lose(fields{"event_id": "evt_later"})
	ask[bool](w, `(() => { const real = EventSource; window.asked = []; window.EventSource = class extends real { constructor(address) { super(address); window.asked.push(String(address)) } }; return true })()`)
	w.seen(true)
	w.has("main", "evt_later")
	if !ask[bool](w, `window.asked.length === 1 && !window.asked[0].endsWith(document.querySelector("[sse-connect]").getAttribute("sse-connect"))`) {
		t.Errorf("it asks for news since its beginning, though it had some: %s", ask[string](w, "String(window.asked)"))
	}
	if ask[bool](w, cutOff) {
		t.Error("it says that no news come in")
	}
}

// Where the session is over, news are refused; the page says that it stands still.
func TestTrouble_TheSessionEnds(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.lose(fields{"event_id": "evt_lost"})
	w := s.open("operator")
	w.expect("status of 401")
	w.expect("wrote to the console: error") // htmx tells of each lost stream
	w.visit("/waiting")
	w.has("main article", "evt_lost")
	ask[int](w, `fetch("/console/logout", {method: "POST", body: new URLSearchParams(), redirect: "manual"}).then((r) => r.status)`)
	s.lose(fields{"event_id": "evt_later"})
	w.wait(cutOff)
	w.has("main article", "evt_lost")
}

// A refusal has no part that could take the place of the one on the page: it once left an empty place there.
func TestTrouble_ARefusalTakesNothingAway(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.claim(fields{"event_id": "evt_seen"})
	w := s.open("operator")
	w.expect("status of 404")
	w.visit("/notifications")
	w.has("#results", "evt_seen")
	for _, c := range []struct{ path, want string }{{"/console/nowhere", cutOff}, {"/console/notifications", "!(" + cutOff + ")"}} {
		ask[bool](w, `htmx.ajax("GET", `+quote(c.path)+`, {target: "#results", select: "#results", swap: "outerHTML"}).then(() => true)`)
		w.wait(c.want)
		w.has("#results", "evt_seen")
	}
}
