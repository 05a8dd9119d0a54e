package api

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// Every parameter of a list reaches the ledger.
func TestList_EveryFilter(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	got := do(t, "GET", base+"/v1/notifications?event_id=e%C3%A9&recipient=%2B14155550142&message_id=m&dedupe_key=k&state=sent,failed&channel=sms&provider=p"+
		"&event_type=t&source=&user_id=u&delivery=bounced&claimed_after=2026-11-30T13:00:00%2B01:00&claimed_before=2026-12-01T00:00:00.5Z&sort=oldest&limit=500", "")
	want := ledger.Filter{
		EventID: "eé", Recipient: "+14155550142", MessageID: "m", DedupeKey: "k", States: []ledger.State{"sent", "failed"}, Channel: "sms", Provider: "p",
		EventType: "t", Source: new(""), UserID: "u", Delivery: "bounced", After: noon, Before: time.Date(2026, 12, 1, 0, 0, 0, 5e8, time.UTC), Oldest: true, Limit: 500,
	}
	if got.status != 200 || !reflect.DeepEqual(s.filter, want) {
		t.Errorf("%d %s: %+v", got.status, got.body, s.filter)
	}
	do(t, "GET", base+"/v1/notifications", "")
	if !reflect.DeepEqual(s.filter, ledger.Filter{Limit: defaultLimit}) {
		t.Errorf("no parameter: %+v", s.filter)
	}
}

// A parameter that is not understood would show too much: it is refused and named.
func TestList_RefusedParameters(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	other := cursorText(5, true)
	for query, field := range map[string]string{
		"foo=1": "foo", "Event_id=e": "Event_id", "event_id=": "event_id", "event_id=a&event_id=a": "event_id", "event_id=a%00": "event_id", "event_id=%ff": "event_id",
		"state=done": "state", "state=": "state", "state=sent,": "state", "state=Sent": "state", "channel=fax": "channel", "delivery=gone": "delivery",
		"claimed_after=yesterday": "claimed_after", "claimed_before=2026-11-30": "claimed_before", "sort=up": "sort", "sort=": "sort", "limit=0": "limit", "limit=501": "limit",
		"limit=x": "limit", "limit=-1": "limit", "limit=": "limit", "cursor=x": "cursor", "cursor=": "cursor", "cursor=" + other: "cursor", "cursor=" + other + "A": "cursor",
		"event_id=%zz": "query", "event_id=a;state=sent": "query", "recipient=+14155550142": "recipient", "=": "", "message=x": "message",
	} {
		got := do(t, "GET", base+"/v1/notifications?"+query, "")
		if got.status != 400 || got.problem(t).Errors[0].Field != field {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if s.filter.Limit != 0 {
		t.Error("a refused list reached the ledger")
	}
}

// The cursor of a page leads to the next one in the same order, and says nothing to anybody else.
func TestList_Cursor(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	for _, sort := range []string{"newest", "oldest"} {
		s.page = ledger.Page{Rows: []ledger.Notification{sample()}, Next: 1 << 40}
		var page List
		if err := decode(do(t, "GET", base+"/v1/notifications?sort="+sort, "").body, &page); err != nil || page.NextCursor == nil || len(page.Notifications) != 1 {
			t.Fatalf("%v %+v", err, page)
		}
		s.page = ledger.Page{}
		got := do(t, "GET", base+"/v1/notifications?sort="+sort+"&cursor="+url.QueryEscape(*page.NextCursor), "")
		if s.filter.Cursor != 1<<40 || strings.TrimSpace(string(got.body)) != `{"notifications":[],"next_cursor":null}` {
			t.Errorf("%s: cursor %d, %s", sort, s.filter.Cursor, got.body)
		}
	}
}

// Keys takes the parts of a key and nothing else.
func TestKeys_Query(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	got := do(t, "GET", base+"/v1/keys?event_id=e&event_type=t&source=shop&user_id=u&channel=sms&recipient=%2B14155550142", "")
	want := ledger.Event{EventID: "e", EventType: "t", Source: "shop", UserID: "u", Channel: "sms", Recipient: "+14155550142", Caller: "local"}
	if got.status != 200 || !reflect.DeepEqual(s.events[0], want) {
		t.Errorf("%d %s: %+v", got.status, got.body, s.events)
	}
	for query, field := range map[string]string{"message=x": "message", "event_id=e&event_id=f": "event_id", "recipient=+1": "recipient", "event_id=%zz": "query"} {
		if got := do(t, "GET", base+"/v1/keys?"+query, ""); got.status != 400 || got.problem(t).Errors[0].Field != field {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// Ready answers one question for anybody who asks: can a claim be made durable now. Paused providers stand in
// the body: why, where the ledger closed the gate, and neither who nor why, where a person did.
func TestReady_OneQuestion(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{Keys: testKeys, Version: "1.2.3"})
	ask := func() (answer, Ready) {
		var r Ready
		got := do(t, "GET", base+"/readyz", "")
		if err := decode(got.body, &r); err != nil {
			t.Fatalf("%v: %s", err, got.body)
		}
		return got, r
	}
	if got, r := ask(); got.status != 200 || !r.Ready || len(r.Providers) != 0 || !strings.Contains(string(got.body), `"reason":null,"providers":[]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.gates[0].Gate = ledger.GateStatus{State: "paused", Reason: "ada owes them money", By: "ada"}
	if got, r := ask(); got.status != 200 || len(r.Providers) != 1 || strings.Contains(string(got.body), "ada") {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.gates[0].Gate = ledger.GateStatus{State: "paused", Reason: "credentials", By: "sendonce"}
	if got, r := ask(); got.status != 200 || len(r.Providers) != 1 || r.Providers[0].Gate.Reason == nil || *r.Providers[0].Gate.Reason != "credentials" {
		t.Errorf("%d %s", got.status, got.body)
	}
	for err, code := range map[error]string{ledger.ErrUnknown: codeStorageUnknown, ledger.ErrStorageLow: codeStorageLow, ledger.ErrDraining: codeDraining} {
		s.err = err
		if got, r := ask(); got.status != 503 || r.Ready || *r.Reason != code || got.header.Get("Retry-After") == "" {
			t.Errorf("%v: %d %s", err, got.status, got.body)
		}
	}
	if got := do(t, "GET", base+"/healthz", ""); got.status != 200 || strings.TrimSpace(string(got.body)) != `{"status":"ok","version":"1.2.3"}` {
		t.Errorf("%d %s", got.status, got.body)
	}
}
