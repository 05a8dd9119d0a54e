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

	"github.com/google/uuid"

	"sendonce/ledger"
)

// What waits stands there oldest first, with what was tried and what comes next; a decision leads back.
func TestWaiting_OldestFirst(t *testing.T) {
	r := newRig(t)
	var rows []ledger.Notification
	for i := range waitingRows + 2 {
		rows = append(rows, r.claim(ledger.Event{EventID: fmt.Sprintf("evt_%02d", i), Provider: "lost"}))
	}
	r.claim(ledger.Event{EventID: "evt_sent"})
	v := r.as("operator")
	w := v.get("/waiting")
	has(t, w, "evt_00", "1 time, last by lost", "the request left, no readable answer came", "A person has to decide", "&#43;14•••42")
	hasNot(t, w, "evt_sent", fmt.Sprintf("evt_%02d", waitingRows))
	if body := w.Body.String(); strings.Index(body, "evt_00") > strings.Index(body, "evt_01") {
		t.Error("the newest stands first")
	}
	onward := regexp.MustCompile(`href="/console/waiting(\?newer=\d+)"`).FindStringSubmatch(w.Body.String())
	if onward == nil {
		t.Fatal("there is no next page")
	}
	has(t, v.get("/waiting"+onward[1]), fmt.Sprintf("evt_%02d", waitingRows), fmt.Sprintf("evt_%02d", waitingRows+1), "From the oldest")
	const filtered = "/waiting?provider=lost"
	has(t, v.get(filtered), `name="back" value="/console`+filtered+`"`)
	if w := v.decide(rows[0], "confirm", "seen", "back", "/console"+filtered); w.Code != 303 || w.Header().Get("Location") != "/console"+filtered {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	w = v.get(filtered)
	has(t, w, "Confirmed: it counts as sent.")
	hasNot(t, w, "evt_00")
	for i, back := range []string{"https://evil.example.test/", "//evil.example.test/waiting?", "/console/waiting/..", "/waitings", "waiting"} {
		if w := v.decide(rows[i+1], "confirm", "seen", "back", back); w.Code != 303 || w.Header().Get("Location") != "/console/notifications/"+rows[i+1].ID.String() {
			t.Errorf("%q leads to %q", back, w.Header().Get("Location"))
		}
	}
	hasNot(t, r.as("reader").get("/waiting"), `name="action"`, "Decide about all")
}

// A row without an event id, as older ledgers bring along, is called by its own.
func TestWaiting_RowWithoutEvent(t *testing.T) {
	c := New(nameless{}, Settings{}, slog.New(slog.DiscardHandler))
	w := (&visitor{rig: &rig{t: t, console: c}, remote: "127.0.0.1:1"}).get("/waiting")
	checkPage(t, "waiting", w.Body.String())
	has(t, w, "<code>"+nameless{}.row().ID.String()+"</code></a>")
}

// nameless is a ledger of one row, which has no event id.
type nameless struct{ Ledger }

func (nameless) row() ledger.Notification {
	return ledger.Notification{ID: uuid.MustParse("01a22e1f-2f9c-79c6-9528-a6ad527e2c35"), State: ledger.StateHeld, Channel: ledger.SMS, RecipientKey: "+14155550142", ClaimedAt: time.Now()}
}

func (n nameless) List(context.Context, ledger.Filter) (ledger.Page, error) {
	return ledger.Page{Rows: []ledger.Notification{n.row()}}, nil
}

func (n nameless) Get(context.Context, uuid.UUID, *string) (ledger.Record, error) {
	return ledger.Record{Notification: n.row()}, nil
}

func (nameless) Providers() []ledger.ProviderStatus { return nil }

func (nameless) Condition() ledger.Condition { return ledger.Condition{} }

// talkative is a ledger of one row, whose provider repeats the recipient in all that it says.
type talkative struct{ nameless }

func (l talkative) Get(context.Context, uuid.UUID, *string) (ledger.Record, error) {
	n := l.row()
	n.EventID, n.MessageID = "evt_1", "id:14155550142"
	said := ledger.Attempt{Number: 1, Provider: "lost", StartedAt: n.ClaimedAt, EndedAt: n.ClaimedAt, Phase: ledger.Answered, Code: "to:14155550142", MessageID: n.MessageID}
	return ledger.Record{Notification: n, Attempts: []ledger.Attempt{said}}, nil
}

func (talkative) Keys(context.Context, ledger.Event) ([]ledger.KeyPreview, error) { return nil, nil }

// A code and a message id are a provider's words, too: the recipient in them is masked wherever they stand.
func TestMask_CodesAndMessageIDs(t *testing.T) {
	c := New(talkative{}, Settings{}, slog.New(slog.DiscardHandler))
	v := &visitor{rig: &rig{t: t, console: c}, remote: "127.0.0.1:1"}
	for path, shown := range map[string]string{"/waiting": "code <code>to:", "/notifications/" + nameless{}.row().ID.String(): `<dt>Message id</dt><dd class="mono"><bdi class="text">id:`} {
		w := v.get(path)
		has(t, w, shown)
		hasNot(t, w, "4155550142")
	}
}

// hidden is what the page between counting and deciding would post.
func hidden(body string) url.Values {
	f := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`).FindAllStringSubmatch(body[strings.Index(body, "/waiting/settle"):], -1) {
		f.Set(m[1], m[2])
	}
	return f
}

// Many rows are decided about only after they were counted, and only if as many match then.
func TestBulk_CountThenSettle(t *testing.T) {
	r := newRig(t)
	var rows []ledger.Notification
	for i := range 3 {
		rows = append(rows, r.claim(ledger.Event{EventID: fmt.Sprintf("evt_%d", i), Provider: "lost", Source: "shop"}))
	}
	other := r.claim(ledger.Event{EventID: "other", Provider: "lost", Source: "billing"})
	v := r.as("operator")
	counted := v.post("/waiting/count", url.Values{"state": {"ambiguous"}, "action": {"confirm"}, "reason": {"all seen"}, "source": {"shop"}})
	if counted.Code != 200 {
		t.Fatal(counted.Code)
	}
	has(t, counted, "Confirm 3 rows?", "Yes, confirm 3 rows", "all seen")
	if got := r.row(rows[0]).State; got != ledger.StateAmbiguous {
		t.Fatalf("counting made it %s", got)
	}
	form := hidden(counted.Body.String())
	late := r.claim(ledger.Event{EventID: "late", Provider: "lost", Source: "shop"})
	again := v.post("/waiting/settle", form)
	if again.Code != 409 || r.row(rows[0]).State != ledger.StateAmbiguous {
		t.Errorf("another number: %d, the row is %s", again.Code, r.row(rows[0]).State)
	}
	has(t, again, "Not as many rows match as were counted", "Confirm 4 rows?")
	done := v.post("/waiting/settle", hidden(again.Body.String()))
	has(t, done, "4 of 4 rows changed")
	for _, n := range append(rows, late) {
		if s := r.row(n); s.State != ledger.StateSent || s.Settlements[0].Reason != "all seen" {
			t.Errorf("%s is %s", n.EventID, s.State)
		}
	}
	if r.row(other).State != ledger.StateAmbiguous {
		t.Error("a row of another source was settled")
	}
}

// Who may not decide can't count either; a bulk names one state, and an action that it has.
func TestBulk_Refused(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "e", Provider: "lost", Source: "billing"})
	r.claim(ledger.Event{EventID: "later", SendAt: time.Now().Add(time.Hour)})
	ok := url.Values{"state": {"ambiguous"}, "action": {"release"}, "reason": {"x"}, "expected_count": {"1"}}
	with := func(name, value string) url.Values {
		f := url.Values{}
		for k, v := range ok {
			f[k] = v
		}
		f.Set(name, value)
		return f
	}
	for _, c := range []struct {
		who, path string
		form      url.Values
		status    int
	}{
		{"reader", "/waiting/count", ok, 403}, {"sender", "/waiting/count", ok, 403}, {"reader", "/waiting/settle", ok, 403}, {"", "/waiting/settle", ok, 401},
		{"operator", "/waiting/count", with("state", ""), 400}, {"operator", "/waiting/settle", with("state", ""), 400},
		{"operator", "/waiting/settle", with("state", "claimed"), 400}, {"operator", "/waiting/settle", with("state", "failed"), 400},
		{"operator", "/waiting/settle", with("action", "hold"), 409}, {"operator", "/waiting/settle", with("action", ""), 400},
		{"operator", "/waiting/settle", with("reason", ""), 400}, {"operator", "/waiting/settle", with("expected_count", ""), 400},
		{"operator", "/waiting/settle", with("expected_count", "2"), 409}, {"operator", "/waiting/settle", with("from", "yesterday"), 400},
		{"shop", "/waiting/settle", ok, 409}, // of its source there is none
	} {
		if w := r.as(c.who).post(c.path, c.form); w.Code != c.status || r.row(n).State != ledger.StateAmbiguous {
			t.Errorf("%s %s %v: %d, want %d; the row is %s", c.who, c.path, c.form, w.Code, c.status, r.row(n).State)
		}
	}
	w := r.as("operator").post("/waiting/settle", ok)
	has(t, w, "1 of 1 row changed")
	if got := r.row(n); got.Settlements[0].Action != ledger.CauseRelease {
		t.Errorf("the row is %s", got.State)
	}
}

// The page is told when something else waits.
func TestLive_Waiting(t *testing.T) {
	r := newRig(t)
	v := r.as("reader")
	mark := regexp.MustCompile(`live/waiting\?mark=([0-9a-f]+)`).FindStringSubmatch(v.get("/waiting").Body.String())
	if mark == nil {
		t.Fatal("the page does not listen")
	}
	events := v.listen(t, "/live/waiting?mark="+mark[1])
	r.claim(ledger.Event{Provider: "lost"})
	if got := <-events; got == mark[1] || got == "" {
		t.Errorf("told %q", got)
	}
}
