package browser

import (
	"testing"

	"sendonce/fake"

	"github.com/chromedp/chromedp"
)

// Whatever somebody copies out of a customer's mail finds the row.
func TestSearch_MessyPhoneNumber(t *testing.T) {
	t.Parallel()
	s := serve(t)
	n := s.claim(fields{"event_id": "evt_ann"})
	s.claim(fields{"event_id": "evt_bob", "recipient": "+14155550143"})
	w := s.open("operator")
	for _, q := range []string{"(415) 555-0142", "  +1 415.555.0142 ", "001 415 555 0142", "+1 (415) 555‑01 42", n.ID, "evt_ann"} {
		w.visit("/waiting")
		w.fill("#q", q)
		w.press("\r")
		w.has("main", "evt_ann")
		if ask[bool](w, `document.querySelector("main").innerText.includes("evt_bob")`) {
			t.Errorf("%q finds another's row too", q)
		}
	}
	w.visit("/notifications?q=%28415%29+555-0142")
	w.click("#results tbody a")
	w.has("main", n.ID)
}

// An operator sees the evidence and decides with a reason; without one the browser does not let him.
func TestSettle_ConfirmNeedsAReason(t *testing.T) {
	t.Parallel()
	s := serve(t)
	n := s.lose(nil)
	w := s.open("operator")
	w.visit("/waiting")
	w.has("main article", "ambiguous")
	w.click("main article h2 a")
	w.has(".timeline", "Attempt 1")
	w.click("#decide button[value=confirm]")
	if w.count("#decide form[action$=settle] input:invalid") != 1 {
		t.Error("the reason is not demanded")
	}
	s.unmoved(n)
	w.fill("#decide input[id^=reason-]", "the provider's page shows it")
	w.click("#decide button[value=confirm]")
	w.has("[role=status]:not([hidden])", "Confirmed")
	w.has("h1", "sent")
	w.has(".timeline", "the provider's page shows it")
	w.has(".timeline", "by operator")
	if now := s.get(n.ID); now.State != "sent" || s.fake.Requests() != 1 {
		t.Errorf("the row is %s after %d requests", now.State, s.fake.Requests())
	}
	w.visit("/waiting")
	w.has("main", "Nothing waits for a person")
}

// An impatient hand clicks twice, with JavaScript and without, and one more message goes out.
func TestResend_DoubleClickIsOneMessage(t *testing.T) {
	t.Parallel()
	s := serve(t)
	w := s.open("operator")
	for i, token := range []string{"tok_script", "tok_bare"} {
		n := s.claim(fields{"event_id": token, "message": fields{"text": token}})
		if i == 1 {
			w.bare()
			w.expect("status of 412")
			w.expect("status of 409")
		}
		w.visit("/notifications/" + n.ID)
		w.fill("#again-reason", "the customer asked")
		w.steps(chromedp.DoubleClick(chromedp.CSS("section[aria-labelledby=again] button"), chromedp.NodeVisible))
		until(t, "the second message", func() bool { return s.fake.Received(token) == 2 })
		w.wait(`document.querySelector("main .flash")`)
		if resends := s.get(n.ID).Resends; len(resends) != 1 || s.fake.Received(token) != 2 {
			t.Errorf("%s: %d resends, %d messages", token, len(resends), s.fake.Received(token))
		}
	}
	if sent := s.fake.Requests(); sent != 4 {
		t.Errorf("the provider read %d requests", sent)
	}
}

// Many rows are counted first, which changes nothing, then released at once.
func TestBulk_ReleaseAfterACount(t *testing.T) {
	t.Parallel()
	s := serve(t)
	tokens := []string{"tok_one", "tok_two", "tok_three"}
	for _, token := range tokens {
		s.lose(fields{"event_id": token, "message": fields{"text": token}})
	}
	w := s.open("operator")
	w.visit("/waiting")
	w.click(`details:has(#bulk-state) > summary`)
	w.steps(chromedp.SetValue(chromedp.CSS("#bulk-state"), "ambiguous"), chromedp.SetValue(chromedp.CSS("#bulk-action"), "release"))
	w.fill("#bulk-reason", "the provider lost them")
	w.click(`form[action$="waiting/count"] button[type=submit]`)
	w.has("h1", "Release 3 rows?")
	if sent := s.fake.Requests(); sent != 3 {
		t.Fatalf("counting sent something: %d requests", sent)
	}
	w.click("main form button")
	w.has("[role=status]:not([hidden])", "3 of 3 rows changed")
	until(t, "all three go out again", func() bool { return s.fake.Requests() == 6 })
	for _, token := range tokens {
		if got := s.fake.Received(token); got != 2 { // the first was lost on its way back, and a person said so
			t.Errorf("%s went out %d times", token, got)
		}
	}
}

// A page tells by itself what somebody else did, and keeps what is being typed.
func TestLive_RowThatAnotherCallerChanges(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fake.Force(fake.AcceptHang)
	n := s.claim(fields{"event_id": "evt_later", "send_at": "2027-06-01T00:00:00Z", "expires_at": "2027-06-02T00:00:00Z"})
	w, list := s.open("operator"), s.open("reader")
	w.expect("status of 412")
	list.visit("/waiting")
	list.has("main", "Nothing waits for a person")
	w.visit("/notifications/" + n.ID)
	w.has("h1", "claimed")
	s.call("app", "POST", "/v1/notifications/"+n.ID+"/hold", fields{"reason": "wait"})
	w.has("h1", "held")
	w.has("#decide", "Unhold")
	list.has("main", "evt_later")
	w.fill("#decide input[id^=reason-]", "I am typing")
	s.call("app", "POST", "/v1/notifications/"+n.ID+"/unhold", fields{"reason": "go on"})
	w.has("h1", "claimed")
	w.has("[data-stale]", "The row has changed")
	if typed := ask[string](w, `document.querySelector("#decide input[id^=reason-]").value`); typed != "I am typing" {
		t.Errorf("what was typed became %q", typed)
	}
	w.click("#decide button[value=cancel]") // of the version that was seen
	w.has("[role=alert]", "Nothing was done")
	if now := s.get(n.ID); now.State != "claimed" {
		t.Errorf("the row is %s", now.State)
	}
	list.has("main", "Nothing waits for a person")
}
