package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// decide posts a decision as the page's form does.
func (v *visitor) decide(n ledger.Notification, action, reason string, more ...string) *response {
	v.rig.t.Helper()
	f := url.Values{"version": {strconv.FormatInt(n.Version, 10)}, "reason": {reason}}
	for i := 0; i+1 < len(more); i += 2 {
		f.Set(more[i], more[i+1])
	}
	path := "/" + action
	if action != "resend" && action != "reveal" {
		path = "/settle"
		f.Set("action", action)
	}
	return v.post("/notifications/"+n.ID.String()+path, f)
}

// Support sees what was attempted, when, and what the provider said; whom it went to is hidden.
func TestNotification_ShowsEvidence(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "evt_9", EventType: "order.shipped", Source: "shop", UserID: "u_1", Provider: "lost"})
	for range 2 {
		r.claim(ledger.Event{EventID: "evt_9", EventType: "order.shipped", Source: "shop", UserID: "u_1", Provider: "lost", Caller: "queue-a"})
	}
	if err := r.ledger.Flush(); err != nil {
		t.Fatal(err)
	}
	w := r.as("reader").get("/notifications/" + n.ID.String())
	if w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	has(t, w, "evt_9", "order.shipped", "shop", "u_1", `class="badge ambiguous"`, "Attempt 1 · lost", "the request left, no readable answer came", "told to drop the answer",
		n.DedupeKey, "Recipe <code>event</code>", "<code>event_id</code>", "Repeat, not sent", "queue-a", "the same in all parts", "&#43;14•••42", "A person has to decide",
		`<time datetime="`+machine(n.ClaimedAt)+`"`)
	hasNot(t, w, "4155550142", "Your order has left", "<button type=\"submit\" name=\"action\"", "Send again</button>", "Reveal</button>")
}

// Each state offers what it has, to whom may do it, and refuses the rest whatever is posted.
func TestNotification_Roles(t *testing.T) {
	r := newRig(t)
	lost := func(id string) ledger.Notification {
		return r.claim(ledger.Event{EventID: id, Provider: "lost", Source: "shop"})
	}
	later := func(id string) ledger.Notification {
		return r.claim(ledger.Event{EventID: id, SendAt: time.Now().Add(time.Hour), Source: "shop"})
	}
	for _, c := range []struct {
		who, action string
		row         func(string) ledger.Notification
		status      int
		state       ledger.State
	}{
		{"reader", "confirm", lost, 403, ledger.StateAmbiguous},
		{"reader", "hold", later, 403, ledger.StateClaimed},
		{"reader", "resend", lost, 403, ledger.StateAmbiguous},
		{"reader", "reveal", lost, 403, ledger.StateAmbiguous},
		{"sender", "confirm", lost, 403, ledger.StateAmbiguous},
		{"sender", "abandon", lost, 403, ledger.StateAmbiguous},
		{"sender", "release", lost, 403, ledger.StateAmbiguous},
		{"sender", "resend", lost, 403, ledger.StateAmbiguous},
		{"sender", "hold", later, 303, ledger.StateHeld},
		{"sender", "cancel", later, 303, ledger.StateCancelled},
		{"operator", "confirm", lost, 303, ledger.StateSent},
		{"operator", "abandon", lost, 303, ledger.StateFailed},
		{"operator", "hold", later, 303, ledger.StateHeld},
		{"operator", "confirm", later, 409, ledger.StateClaimed},
		{"operator", "take", later, 400, ledger.StateClaimed},
		{"shop", "confirm", lost, 303, ledger.StateSent},
		{"", "confirm", lost, 401, ledger.StateAmbiguous},
	} {
		n := c.row(c.who + c.action + fmt.Sprint(c.status))
		page := r.as(c.who).get("/notifications/" + n.ID.String())
		if offered := strings.Contains(page.Body.String(), `name="action" value="`+c.action+`"`); c.action != "resend" && c.action != "reveal" && offered != (c.status == 303) {
			t.Errorf("%s is shown %s: %v", c.who, c.action, offered)
		}
		w := r.as(c.who).decide(n, c.action, "seen at the provider")
		if got := r.row(n).State; w.Code != c.status || got != c.state {
			t.Errorf("%s %s: %d and %s, want %d and %s", c.who, c.action, w.Code, got, c.status, c.state)
		}
	}
	other := r.claim(ledger.Event{EventID: "other", Provider: "lost", Source: "billing"})
	if w := r.as("shop").get("/notifications/" + other.ID.String()); w.Code != 404 {
		t.Errorf("a row of another source: %d", w.Code)
	}
	if w := r.as("shop").decide(other, "confirm", "x"); w.Code != 404 || r.row(other).State != ledger.StateAmbiguous {
		t.Errorf("a decision about it: %d", w.Code)
	}
}

// A decision is recorded with who, why and from where to where; the page tells that it was done.
func TestNotification_Settle(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{Provider: "lost"})
	v := r.as("operator")
	w := v.decide(n, "confirm", "the provider's page shows it", "by", "ada", "message_id", "SM1")
	if w.Code != 303 || w.Header().Get("Location") != "/console/notifications/"+n.ID.String() {
		t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	has(t, v.get("/notifications/"+n.ID.String()), "Confirmed: it counts as sent.", "ambiguous → sent", "by <bdi class=\"text\">operator", "ada", "the provider&#39;s page shows it", "SM1")
	if s := r.row(n).Settlements; len(s) != 1 || s[0].Actor != "operator" || s[0].Person != "ada" {
		t.Errorf("settlements %+v", s)
	}
	if w := v.decide(r.claim(ledger.Event{EventID: "e2", Provider: "lost"}), "confirm", ""); w.Code != 400 {
		t.Errorf("without a reason: %d", w.Code)
	}
}

// A double click on resend makes one message, and the second answer shows it.
func TestNotification_ResendTwice(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{Provider: "lost"})
	v := r.as("operator")
	if w := v.decide(n, "resend", "asked for it"); w.Code != 409 {
		t.Errorf("without accepting a duplicate: %d", w.Code)
	}
	first := v.decide(n, "resend", "asked for it", "accept_duplicate", "yes")
	second := v.decide(n, "resend", "asked for it", "accept_duplicate", "yes")
	children := r.row(n).Resends
	if first.Code != 303 || second.Code != 412 || len(children) != 1 {
		t.Fatalf("%d, then %d: %d children", first.Code, second.Code, len(children))
	}
	has(t, second, "The row has changed since you saw it", "Sent again as", children[0].String())
	if want := "/console/notifications/" + children[0].String(); first.Header().Get("Location") != want {
		t.Errorf("leads to %q", first.Header().Get("Location"))
	}
	has(t, v.get("/notifications/"+children[0].String()), "Sent again for", n.ID.String(), "A resend has a key of its own")
	if w := v.post("/notifications/"+n.ID.String()+"/resend", url.Values{"reason": {"x"}, "accept_duplicate": {"yes"}}); w.Code != 428 {
		t.Errorf("without a version: %d", w.Code)
	}
}

// What is hidden is shown to who may see it, once, and that is recorded.
func TestNotification_Reveal(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{Provider: "lost"})
	v := r.as("operator")
	w := v.decide(n, "reveal", "the customer calls")
	if w.Code != 200 {
		t.Fatal(w.Code)
	}
	has(t, w, "&#43;14155550142", "Your order has left", "Reveal", "the customer calls")
	hasNot(t, v.get("/notifications/"+n.ID.String()), "4155550142", "Your order has left")
	rec := r.row(n)
	if len(rec.Settlements) != 1 || rec.Settlements[0].Action != ledger.CauseReveal || rec.Version != n.Version {
		t.Errorf("recorded %+v, version %d of %d", rec.Settlements, rec.Version, n.Version)
	}
	if w := v.decide(n, "reveal", ""); w.Code != 400 || len(r.row(n).Settlements) != 1 {
		t.Errorf("without a reason: %d", w.Code)
	}
}

// No GET changes anything, and what is no row is not found.
func TestNotification_GetChangesNothing(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{Provider: "lost"})
	v := r.as("operator")
	for _, path := range []string{"/settle?action=confirm&reason=x&version=3", "/resend?reason=x&version=3&accept_duplicate=yes", "/reveal?reason=x&version=3", "/x"} {
		v.get("/notifications/" + n.ID.String() + path)
	}
	if rec := r.row(n); rec.State != ledger.StateAmbiguous || len(rec.Settlements) != 0 {
		t.Errorf("the row is %s, settlements %v", rec.State, rec.Settlements)
	}
	for _, id := range []string{"0", "01a22e1f-2f9c-79c6-9528-a6ad527e2c35", strings.ToUpper(n.ID.String())} {
		if w := v.get("/notifications/" + id); w.Code != 404 {
			t.Errorf("%s: %d", id, w.Code)
		}
	}
}

// A page is told when its row changes, also if that was before it began to listen.
func TestLive_Row(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{Provider: "lost"})
	rec := r.row(n)
	events := r.as("reader").listen(t, "/live/notifications/"+n.ID.String()+"?mark="+r.console.rowMark(&rec))
	if w := r.as("operator").decide(n, "confirm", "seen"); w.Code != 303 {
		t.Fatal(w.Code)
	}
	now := r.row(n)
	if got := <-events; got != r.console.rowMark(&now) {
		t.Errorf("told %q, the row's mark is %q", got, r.console.rowMark(&now))
	}
	late := r.as("reader").listen(t, "/live/notifications/"+n.ID.String()+"?mark="+r.console.rowMark(&rec))
	if got := <-late; got != r.console.rowMark(&now) {
		t.Errorf("who came late was told %q", got)
	}
}

// Streams end with the session and with the service, and only so many are open.
func TestLive_Ends(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{Provider: "lost"})
	rec := r.row(n)
	path := "/live/notifications/" + n.ID.String() + "?mark=" + r.console.rowMark(&rec)
	v := r.as("operator")
	events := v.listen(t, path)
	stay := r.as("reader").listen(t, path)
	r.console.sessions.end(v.cookie.Value)
	if _, err := r.ledger.Settle(context.Background(), ledger.Act{Action: ledger.CauseConfirm, ID: n.ID, Reason: "x", Actor: "x"}); err != nil {
		t.Fatal(err)
	}
	if got, more := <-events; more {
		t.Errorf("told %q after the session had ended", got)
	}
	if got := <-stay; got == "" {
		t.Error("the other session was told nothing")
	}
	r.console.Stop()
	if _, more := <-stay; more {
		t.Error("a stream goes on after the stop")
	}
}
