package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sendonce/ledger"
)

// mailOf is a mail's message.
func mailOf(t *testing.T, subject, text, html string) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]string{"subject": subject, "text": text, "html": html})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMailbox_ShowsEachChannel(t *testing.T) {
	r := newRig(t)
	mail := func(id, html string) {
		r.claim(ledger.Event{EventID: id, Channel: ledger.Email, Recipient: "ada@example.test", Message: mailOf(t, "Order "+id, "plain words", html)})
	}
	v := r.as("operator")
	has(t, v.get("/mailbox"), "Nothing was sent yet")
	sms := r.claim(ledger.Event{EventID: "s1"})
	r.claim(ledger.Event{EventID: "s2", Message: []byte(`{"text":"the second"}`)})
	mail("m1", "<p>fine words</p>")
	r.claim(ledger.Event{EventID: "p1", Channel: ledger.Push, Recipient: "token-1", Message: []byte(`{"title":"A parcel","body":"at the door","data":{"order":"A1"}}`)})
	r.claim(ledger.Event{EventID: "w1", Channel: ledger.Webhook, Recipient: "https://crm.example.test/", Message: []byte(`{"data":{"total":1.10,"n":12345678901234567890}}`)})
	r.claim(ledger.Event{EventID: "l1", Provider: "lost"})
	w := v.get("/mailbox")
	has(t, w, "1 to 6 of 6", "Your order has left.", "the second", "Order m1", "A parcel", "at the door", "1.10", "12345678901234567890", "answer dropped", `href="/console/notifications/`+sms.ID.String())
	hasNot(t, w, "fine words") // it stands in its frame
	if n := strings.Count(w.Body.String(), "Texts to"); n != 1 {
		t.Errorf("%d phones of one number", n)
	}
	w = v.get("/mailbox?channel=push")
	has(t, w, "1 to 1 of 1", "A parcel")
	hasNot(t, w, "Order m1")
	for i := range mailboxPage {
		r.claim(ledger.Event{EventID: fmt.Sprintf("many%d", i)})
	}
	w = v.get("/mailbox")
	has(t, w, "1 to 40 of 46", `href="/console/mailbox?skip=40" rel="next"`)
	has(t, v.get("/mailbox?skip=40"), "41 to 46 of 46", `href="/console/mailbox" rel="prev"`)
}

// A mail is a document without an origin, script, form, window or request, whatever it brings.
func TestMailbox_AMailIsHarmless(t *testing.T) {
	r := newRig(t)
	html := `<script>parent.document.title="x"</script><img src="https://example.test/pixel.gif"><p>words</p>`
	n := r.claim(ledger.Event{Channel: ledger.Email, Recipient: "ada@example.test", Message: mailOf(t, markup, markup, html)})
	v := r.as("operator")
	page := v.get("/mailbox")
	has(t, page, `" sandbox title="`, "&lt;img src=x")
	hasNot(t, page, "<img src=x", "<script>", "pixel.gif")
	w := v.get("/mailbox/mail?" + url.Values{"provider": {"taken"}, "message": {"log_" + n.ID.String() + "-1"}}.Encode())
	if w.Code != http.StatusOK || w.Body.String() != html {
		t.Fatalf("%d %q", w.Code, w.Body)
	}
	h := w.Header()
	for _, word := range []string{"sandbox;", "default-src 'none'", "img-src data:", "form-action 'none'", "frame-ancestors 'self'"} {
		if !strings.Contains(h.Get("Content-Security-Policy"), word) {
			t.Errorf("the policy lacks %s: %s", word, h.Get("Content-Security-Policy"))
		}
	}
	if p := h.Get("Content-Security-Policy"); strings.Contains(p, "allow-") || strings.Contains(p, "script") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "" {
		t.Errorf("%v", h)
	}
}

// What has no form that a page knows is shown as it is, and breaks nothing.
func TestMailbox_ReadsAnyMessage(t *testing.T) {
	for message, want := range map[string]letter{
		`{"text":"hi","from":"Acme"}`:                   {Text: "hi", From: "Acme"},
		`{"template":{"id":"d-1","variables":{"a":1}}}`: {Template: "d-1", JSON: "{\n  \"template\": {\n    \"id\": \"d-1\",\n    \"variables\": {\n      \"a\": 1\n    }\n  }\n}"},
		`{"text":5}`:    {JSON: "{\n  \"text\": 5\n}"},
		`null`:          {},
		`{"data":null}`: {JSON: "null"},
		`no JSON`:       {JSON: "no JSON"},
		`{"subject":"s","from_name":"Shop","reply_to":"a@b.c"}`: {Subject: "s", Name: "Shop", ReplyTo: "a@b.c"},
	} {
		got := letterOf(ledger.Printed{Message: []byte(message)})
		got.Printed = ledger.Printed{}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s is read as %+v, want %+v", message, got, want)
		}
	}
}
