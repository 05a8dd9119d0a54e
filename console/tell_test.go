package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// What happened is told once, to whoever did it, on the page that it led to. Keeps out a link that claims what nobody did.
func TestTell_OnlyAfterTheAct(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "evt_1", Provider: "lost"})
	other := r.claim(ledger.Event{EventID: "evt_2", Provider: "lost"})
	const says = "Confirmed: it counts as sent."
	page := "/notifications/" + n.ID.String()
	for _, path := range []string{page, "/waiting", "/notifications", "/providers", "/", "/login"} {
		hasNot(t, r.as("operator").get(path+"?told=confirm"), says)
	}
	v := r.as("operator")
	w := v.decide(n, "confirm", "seen")
	if w.Code != http.StatusSeeOther || v.told == nil {
		t.Fatalf("%d, %v", w.Code, v.told)
	}
	if c := v.told; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/console"+page || c.MaxAge != 60 || strings.Contains(c.Value, v.cookie.Value) {
		t.Errorf("the cookie is %+v", c)
	}
	kept := *v.told
	again := func(who *visitor, c http.Cookie, path string) *response {
		c.Path = "/console/"
		who.told = &c
		return who.get(path)
	}
	hasNot(t, v.get(page, "HX-Request: true"), says) // a part of the page that was left, still under way
	has(t, v.get(page), says)
	if v.told != nil {
		t.Error("the cookie stays")
	}
	hasNot(t, v.get(page), says)
	hasNot(t, again(v, kept, "/notifications/"+other.ID.String()), says)
	hasNot(t, again(v, kept, "/waiting"), says)
	hasNot(t, again(r.as("operator"), kept, page), says)
	forged := kept
	forged.Value = strings.Replace(kept.Value, "confirm", "cancel", 1)
	hasNot(t, again(v, forged, page), "Cancelled")
	for _, value := range []string{"", "confirm", "confirm.", "confirm.1.", "..", strings.Repeat(".", 5000)} {
		forged.Value = value
		hasNot(t, again(v, forged, page), says)
	}
}

func TestTell_NotForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &visit{c: &Console{}, r: httptest.NewRequest(http.MethodPost, "/console/providers/taken/pause", nil)}
		w := httptest.NewRecorder()
		v.w = w
		if err := v.done("/providers", "pause"); err != nil {
			t.Fatal(err)
		}
		told := func() string {
			v.r = httptest.NewRequest(http.MethodGet, "/console/providers", nil)
			v.r.AddCookie(w.Result().Cookies()[0])
			v.w = httptest.NewRecorder()
			return v.told()
		}
		time.Sleep(toldFor)
		if told() != tellings["pause"] {
			t.Error("it is not told within the minute")
		}
		time.Sleep(time.Second)
		if text := told(); text != "" {
			t.Errorf("after the minute it tells %q", text)
		}
	})
}

// Who comes second is told that it was so already, and that his reason is kept nowhere.
func TestTell_AnotherWasFaster(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "later", SendAt: time.Now().Add(time.Hour)})
	v := r.as("operator")
	v.decide(n, "hold", "wait")
	held := r.row(n).Notification
	page := "/notifications/" + n.ID.String()
	v.get(page)
	first, second, twice := r.as("sender"), r.as("operator"), r.as("sender")
	for _, who := range []*visitor{first, twice} { // a double click of one hand
		if w := who.decide(held, "unhold", "mine"); w.Code != http.StatusSeeOther {
			t.Fatalf("unhold: %d", w.Code)
		}
		has(t, who.get(page), "Let go: it is sent when it is due.")
	}
	if w := second.decide(held, "unhold", "mine too"); w.Code != http.StatusSeeOther {
		t.Fatalf("the second: %d", w.Code)
	}
	w := second.get(page)
	has(t, w, "Somebody has decided the same before you", "your reason was not recorded")
	hasNot(t, w, "Let go", "mine too")
	v.post("/providers/taken/resume", nil)
	has(t, v.get("/providers"), "It was open already")
}
