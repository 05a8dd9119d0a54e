package console

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// One box understands whatever a customer or a log gives.
func TestSearch_Understands(t *testing.T) {
	r := newRig(t)
	sms := r.claim(ledger.Event{EventID: "evt_2291", Source: "shop"})
	mail := r.claim(ledger.Event{EventID: "evt 3", Channel: ledger.Email, Recipient: "Ada@Example.test", Source: "shop"})
	v := r.as("reader")
	row := r.row(sms)
	for _, text := range []string{"+1 (415) 555-0142", "001 415.555.0142", "(415) 555-0142", "4155550142", " \u202a+14155550142\u202c", "evt_2291", sms.DedupeKey, strings.ToUpper(sms.DedupeKey), row.MessageID} {
		w := v.get("/notifications?q=" + url.QueryEscape(text))
		if w.Code != 200 || !strings.Contains(w.Body.String(), sms.ID.String()) || strings.Contains(w.Body.String(), mail.ID.String()) {
			t.Errorf("%q (%d) does not find the one row", text, w.Code)
		}
	}
	for _, text := range []string{"ada@example.TEST", "Ada <ada@example.test>", "evt 3"} {
		has(t, v.get("/notifications?q="+url.QueryEscape(text)), mail.ID.String())
	}
	for _, text := range []string{sms.ID.String(), strings.ToUpper(sms.ID.String()), sms.ID.String() + "-1"} {
		if w := v.get("/notifications?q=" + url.QueryEscape(text)); w.Code != 303 || w.Header().Get("Location") != "/console/notifications/"+sms.ID.String() {
			t.Errorf("%q: %d to %q", text, w.Code, w.Header().Get("Location"))
		}
	}
	has(t, v.get("/notifications?q=nobody"), "Nothing is known under", "Looked for", "event id")
	has(t, v.get("/notifications?q=evt_2291&state=failed"), "No notification fits")
}

// A text that means two things shows one and leads to the other.
func TestSearch_TwoMeanings(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "14155550142", Channel: ledger.Email, Recipient: "a@example.test"})
	phone := r.claim(ledger.Event{EventID: "e"})
	v := r.as("reader")
	w := v.get("/notifications?q=14155550142")
	has(t, w, n.ID.String(), "as=3", "as recipient")
	hasNot(t, w, phone.ID.String())
	w = v.get("/notifications?q=14155550142&as=3")
	has(t, w, phone.ID.String())
	hasNot(t, w, n.ID.String())
}

// A key that is bound to a source finds, lists and exports its rows only.
func TestSearch_BoundToItsSource(t *testing.T) {
	r := newRig(t)
	mine := r.claim(ledger.Event{EventID: "e", Source: "shop"})
	other := r.claim(ledger.Event{EventID: "e", Source: "billing"})
	v := r.as("shop")
	for _, path := range []string{"/notifications", "/notifications?source=shop", "/notifications?q=e", "/notifications?q=%2B14155550142", "/notifications/export?format=ndjson", "/notifications/export?format=csv&source=shop&q=e"} {
		w := v.get(path)
		has(t, w, mine.ID.String())
		hasNot(t, w, other.ID.String(), "billing</bdi>")
	}
	has(t, v.get("/notifications?q="+other.ID.String()), "Nothing is known under")
	for _, path := range []string{"/notifications?source=billing", "/notifications/export?format=csv&source=billing"} {
		w := v.get(path)
		has(t, w, "source must be left out: your key is bound to another")
		hasNot(t, w, mine.ID.String())
	}
}

// Every page leads on and back by the row that it ended with, however many come in between.
func TestNotifications_Pages(t *testing.T) {
	r := newRig(t)
	for i := range 2*pageRows + 5 {
		r.claim(ledger.Event{EventID: fmt.Sprintf("evt_%03d", i), SendAt: time.Now().Add(time.Hour)})
	}
	v := r.as("reader")
	onward := func(page, rel string) string {
		m := regexp.MustCompile(`href="/console/notifications(\?[^"]+)" rel="` + rel + `"`).FindStringSubmatch(page)
		if m == nil {
			return ""
		}
		return strings.ReplaceAll(m[1], "&amp;", "&")
	}
	first := v.get("/notifications?channel=sms").Body.String()
	r.claim(ledger.Event{EventID: "newest", SendAt: time.Now().Add(time.Hour)})
	second := v.get("/notifications" + onward(first, "next")).Body.String()
	third := v.get("/notifications" + onward(second, "next")).Body.String()
	if !strings.Contains(first, "evt_104") || !strings.Contains(second, "evt_054") || !strings.Contains(third, "evt_000") || strings.Contains(second, "evt_055") {
		t.Error("the pages do not follow one another")
	}
	if onward(third, "next") != "" || onward(first, "prev") != "" {
		t.Error("a page leads past the end")
	}
	back := v.get("/notifications" + onward(third, "prev")).Body.String()
	if !strings.Contains(back, "evt_054") || !strings.Contains(back, "evt_005") || strings.Contains(back, "evt_004<") {
		t.Error("the way back leads elsewhere")
	}
	top := v.get("/notifications" + onward(back, "prev")).Body.String()
	if !strings.Contains(top, "evt_104") {
		t.Error("the way back does not lead to the first page")
	}
	has(t, v.get("/notifications"+onward(top, "prev")), "newest")
}

// A filter that can't be read shows nothing, instead of everything.
func TestNotifications_WrongFilter(t *testing.T) {
	r := newRig(t)
	r.claim(ledger.Event{EventID: "evt_1"})
	v := r.as("reader")
	for _, q := range []string{"state=open", "channel=fax", "delivery=x", "from=yesterday", "to=1", "older=x", "newer=-1"} {
		w := v.get("/notifications?" + q)
		if w.Code != 400 || strings.Contains(w.Body.String(), "evt_1") {
			t.Errorf("%s: %d", q, w.Code)
		}
		if w := v.get("/notifications/export?format=csv&" + q); !strings.HasPrefix(q, "older") && !strings.HasPrefix(q, "newer") && w.Code != 400 {
			t.Errorf("export, %s: %d", q, w.Code)
		}
	}
	if w := v.get("/notifications/export?format=xlsx"); w.Code != 400 {
		t.Errorf("another format: %d", w.Code)
	}
}

// Where no index helps a page looks at so many rows only; pages without a row go on by themselves, for a while.
func TestNotifications_LooksInSteps(t *testing.T) {
	c := New(stepping{}, Settings{}, slog.New(slog.DiscardHandler))
	v := &visitor{rig: &rig{t: t, console: c}, remote: "127.0.0.1:1"}
	w := v.get("/notifications?event_type=none")
	has(t, w, "None of the newest 50,000 rows", `hx-get="/console/notifications?event_type=none&amp;older=7&amp;step=1"`, `href="/console/notifications?event_type=none&amp;older=7" rel="next"`)
	has(t, v.get("/notifications?event_type=none&older=9&step=19"), "step=20")
	for step, status := range map[string]int{"20": 200, "21": 400, "-1": 400, "x": 400} {
		w := v.get("/notifications?event_type=none&older=9&step=" + step)
		hasNot(t, w, "hx-trigger=\"load")
		if w.Code != status {
			t.Errorf("step %s: %d, want %d", step, w.Code, status)
		}
	}
}

// stepping is a ledger whose pages are empty and end before the list does.
type stepping struct{ Ledger }

func (stepping) List(context.Context, ledger.Filter) (ledger.Page, error) {
	return ledger.Page{Next: 7}, nil
}

func (stepping) Providers() []ledger.ProviderStatus { return nil }

func (stepping) Condition() ledger.Condition { return ledger.Condition{} }
