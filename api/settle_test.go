package api

import (
	"strings"
	"testing"

	"sendonce/ledger"
)

// Every part of a decision reaches the ledger, with the key's name as the actor.
func TestSettle_WhatTheLedgerIsAsked(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{Keys: testKeys})
	url := base + "/v1/notifications/" + rowA.String()
	for _, action := range ledger.Actions {
		body := bodies["POST /v1/notifications/:id/"+string(action)]
		got := do(t, "POST", url+"/"+string(action), body, bearer("operator"), `If-Match: "3"`)
		if got.status != 200 || got.header.Get("ETag") != `"3"` {
			t.Fatalf("%s: %d %s", action, got.status, got.body)
		}
		a := s.acts[len(s.acts)-1]
		if a.Action != action || a.ID != rowA || a.Actor != "operator" || a.Person != "ada" || a.Reason == "" || a.IfMatch != 3 || a.Source != nil || a.Surely {
			t.Errorf("%s: %+v", action, a)
		}
		if (a.MessageID == "m-1") != (action == ledger.CauseConfirm) || a.ExpiresAt.IsZero() != (action != ledger.CauseRelease) {
			t.Errorf("%s: %+v", action, a)
		}
	}
	// The role send may release only what is surely not sent, which the ledger alone can judge.
	do(t, "POST", url+"/release", `{"reason":"x"}`, bearer("sender"))
	if a := s.acts[len(s.acts)-1]; !a.Surely || a.IfMatch != 0 {
		t.Errorf("release with the role send: %+v", a)
	}
	do(t, "POST", url+"/release", `{"reason":"x"}`, bearer("shop"))
	if a := s.acts[len(s.acts)-1]; a.Surely || *a.Source != "shop" {
		t.Errorf("release with both roles: %+v", a)
	}
}

// If-Match is exactly one ETag of a row; anything that could mean "whatever it is now" is refused.
func TestSettle_IfMatch(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	for _, action := range []string{"release", "confirm", "resend"} {
		url := base + "/v1/notifications/" + rowA.String() + "/" + action
		for _, lines := range [][]string{
			{"If-Match: *"}, {`If-Match: W/"3"`}, {"If-Match: 3"}, {`If-Match: "3", "4"`}, {`If-Match: "3"`, `If-Match: "4"`}, {`If-Match: "3"`, `If-Match: "3"`},
			{`If-Match: "0"`}, {`If-Match: "03"`}, {`If-Match: "+3"`}, {`If-Match: "-3"`}, {`If-Match: "x"`}, {`If-Match: ""`}, {"If-Match: "}, {`If-Match: "`},
			{`If-Match: "99999999999999999999"`}, {`If-Match: '3'`}, {`If-Match: "3""`},
		} {
			got := do(t, "POST", url, `{"reason":"x"}`, lines...)
			if got.status != 400 || got.problem(t).Errors[0].Field != "If-Match" {
				t.Errorf("%s with %q: %d %s", action, lines, got.status, got.body)
			}
		}
	}
	if s.seen() != 0 {
		t.Errorf("%d decisions", s.seen())
	}
}

// Words of a decision: what is missing, too long or misplaced is named and decides nothing.
func TestSettle_RefusedFields(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	emoji := func(n int) string { return strings.Repeat("👍", n) }
	for _, c := range []struct {
		path, body, field string // no field: accepted
	}{
		{"hold", `{}`, "reason"}, {"hold", `{"reason":""}`, "reason"}, {"hold", `{"reason":" \t"}`, "reason"}, {"hold", `{"reason":null}`, "reason"},
		{"hold", `{"reason":"` + emoji(500) + `"}`, ""}, {"hold", `{"reason":"` + emoji(501) + `"}`, "reason"}, {"hold", `{"reason":"a\u001b[2J"}`, "reason"},
		{"hold", `{"reason":"x","by":"` + emoji(128) + `"}`, ""}, {"hold", `{"reason":"x","by":"` + emoji(129) + `"}`, "by"}, {"hold", `{"reason":"x","by":"a\nb"}`, "by"},
		{"hold", `{"reason":"x","message_id":"m"}`, "message_id"}, {"hold", `{"reason":"x","expires_at":"2026-12-01T00:00:00Z"}`, "expires_at"},
		{"confirm", `{"reason":"x","expires_at":"2026-12-01T00:00:00Z"}`, "expires_at"}, {"confirm", `{"reason":"x","message_id":"` + emoji(513) + `"}`, "message_id"},
		{"release", `{"reason":"x","message_id":"m"}`, "message_id"}, {"release", `{"reason":"x","expires_at":"soon"}`, "expires_at"},
		{"hold", `{"reason":"x","accept_duplicate":true}`, "accept_duplicate"}, {"resend", `{}`, "reason"}, {"resend", `{"reason":"x","message_id":"m"}`, "message_id"},
	} {
		before := s.seen()
		got := do(t, "POST", base+"/v1/notifications/"+rowA.String()+"/"+c.path, c.body, `If-Match: "3"`)
		switch {
		case c.field == "" && got.status != 200:
			t.Errorf("%s %.60s: %d %s", c.path, c.body, got.status, got.body)
		case c.field != "" && (got.status != 400 || got.problem(t).Errors[0].Field != c.field || s.seen() != before):
			t.Errorf("%s %.60s: %d %s", c.path, c.body, got.status, got.body)
		}
	}
	if got := do(t, "POST", base+"/v1/providers/infrai_main/pause", `{"reason":" "}`); got.status != 400 {
		t.Errorf("a pause without a reason: %d", got.status)
	}
	if got := do(t, "POST", base+"/v1/providers/other/pause", `{"reason":"x"}`); got.status != 404 || got.problem(t).Code != codeNoProvider {
		t.Errorf("an unknown provider: %d %s", got.status, got.body)
	}
}

// A resend needs the version that its caller saw. Without one, and with an old one, the answer shows the row and
// what was made of it, so that a second click finds the first one's row. (F10)
func TestResend_SecondClickSeesTheFirst(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	url := base + "/v1/notifications/" + rowA.String() + "/resend"
	const body = `{"reason":"customer asked"}`
	check := func(got answer, status int, code string) {
		t.Helper()
		p := got.problem(t)
		if got.status != status || p.Code != code || p.Notification == nil || p.Notification.ID != rowA.String() {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if p.Notification.Version != 3 || len(p.Notification.Resends) != 1 || p.Notification.Resends[0] != rowB.String() {
			t.Errorf("%s", got.body)
		}
	}
	check(do(t, "POST", url, body), 428, codeIfMatch)
	if s.seen() != 0 {
		t.Fatalf("a resend without If-Match reached the ledger")
	}
	s.err = nil
	if got := do(t, "POST", url, body, `If-Match: "3"`); got.status != 202 || got.header.Get("ETag") != `"3"` || got.header.Get("Location") == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.actErr = &ledger.VersionError{Existing: sample()}
	check(do(t, "POST", url, body, `If-Match: "2"`), 412, codeVersionDiffers)
	check(do(t, "POST", strings.Replace(url, "resend", "release", 1), body, `If-Match: "2"`), 412, codeVersionDiffers)
	s.actErr = ledger.ErrIfMatch
	check(do(t, "POST", strings.Replace(url, "resend", "release", 1), body), 428, codeIfMatch)
	s.actErr = &ledger.StateError{State: ledger.StateSending}
	if got := do(t, "POST", url, body, `If-Match: "3"`); got.status != 409 || !strings.Contains(string(got.body), `"state":"sending","allowed":[]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A decision over many rows needs a filter that says something, and the number that its author saw.
func TestSettleMany_Requests(t *testing.T) {
	s := newStub()
	s.matched = 4
	base := serve(t, s, Settings{Keys: testKeys})
	for _, c := range []struct{ body, field string }{
		{`{"action":"cancel","filter":{},"reason":"x","expected_count":1}`, "filter"}, {`{"action":"cancel","reason":"x","expected_count":1}`, "filter"},
		{`{"action":"cancel","filter":null,"reason":"x","expected_count":1}`, "filter"}, {`{"action":"cancel","filter":{"event_id":""},"reason":"x","expected_count":1}`, "filter.event_id"},
		{`{"action":"cancel","filter":{"event_id":null},"reason":"x","expected_count":1}`, "filter.event_id"}, {`{"action":"cancel","filter":{"State":"held"},"reason":"x","expected_count":1}`, "filter.State"},
		{`{"action":"cancel","filter":{"state":"done"},"reason":"x","expected_count":1}`, "filter.state"}, {`{"action":"cancel","filter":{"limit":"5"},"reason":"x","expected_count":1}`, "filter.limit"},
		{`{"action":"cancel","filter":{"claimed_after":"x"},"reason":"x","expected_count":1}`, "filter.claimed_after"},
		{`{"action":"resend","filter":{"state":"held"},"reason":"x","expected_count":1}`, "action"}, {`{"action":"take","filter":{"state":"held"},"reason":"x","expected_count":1}`, "action"},
		{`{"filter":{"state":"held"},"reason":"x","expected_count":1}`, "action"}, {`{"action":"cancel","filter":{"state":"held"},"expected_count":1}`, "reason"},
		{`{"action":"cancel","filter":{"state":"held"},"reason":"x"}`, "expected_count"}, {`{"action":"cancel","filter":{"state":"held"},"reason":"x","expected_count":-1}`, "expected_count"},
		{`{"action":"cancel","filter":{"state":"held"},"reason":"x","expected_count":1.0}`, "expected_count"},
	} {
		got := do(t, "POST", base+"/v1/settlements", c.body, bearer("operator"))
		if got.status != 400 || got.problem(t).Errors[0].Field != c.field {
			t.Errorf("%s: %d %s", c.body, got.status, got.body)
		}
	}
	if s.seen() != 0 {
		t.Fatalf("%d refused requests reached the ledger", s.seen())
	}
	got := do(t, "POST", base+"/v1/settlements", `{"action":"cancel","filter":{"state":"claimed,held","event_type":"promo"},"reason":"x","by":"ada","expected_count":4}`, bearer("operator"))
	b := s.bulks[0]
	if got.status != 200 || strings.TrimSpace(string(got.body)) != `{"matched":4,"changed":4,"skipped":0}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	if b.Expected != 4 || b.DryRun || b.Actor != "operator" || b.Person != "ada" || len(b.Filter.States) != 2 || b.Filter.EventType != "promo" || b.Filter.Source != nil {
		t.Errorf("%+v", b)
	}
	s.err = ledger.ErrCountDiffers
	p := do(t, "POST", base+"/v1/settlements", `{"action":"cancel","filter":{"state":"held"},"reason":"x","expected_count":0}`, bearer("operator")).problem(t)
	if p.Status != 409 || p.Code != codeCountDiffers || *p.Matched != 4 {
		t.Errorf("%+v", p)
	}
	s.err = ledger.ErrOneState
	p = do(t, "POST", base+"/v1/settlements", `{"action":"release","filter":{"state":"held,failed"},"reason":"x","dry_run":true}`, bearer("operator")).problem(t)
	if p.Status != 400 || p.Errors[0].Field != "filter.state" {
		t.Errorf("%+v", p)
	}
}
