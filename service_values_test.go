package main

import (
	"strings"
	"testing"

	"sendonce/fake"
)

// F31: a name that stands twice, or in other letters, is read by one program and not by the next.
func TestKeys_F31_NamesTwiceOrInOtherLetters(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	for _, members := range []string{
		`"event_id":"a","event_id":"b"`, `"event_id":"a","EVENT_ID":"b"`, `"event_id":"a","Recipient":"+15550100002"`,
		`"event_id":"a","\u017fource":"x"`, "\"event_id\":\"a\",\"\u017fource\":\"x\"", `"event_id":"a","dedupe_\u212aey":"k"`, "\"event_id\":\"a\",\"dedupe_\u212aey\":\"k\"",
		`"event_id":"a","event_i\u0064":"b"`, `"event_id":"a","metadata":{"x":1,"x":2}`, `"event_id":"a","message":{"text":"x","text":"y"}`,
		`"event_id":"a","channel":"webhook","recipient":"` + p.hook + `","message":{"data":{"x":1,"x":2}}`,
		`"event_id":"a","channel":"webhook","recipient":"` + p.hook + `","message":{"data":[{"y":{"x":1,"\u0078":2}}]}`,
	} {
		if a := r.post(event(members)); a.status != 400 || a.field() == "" {
			t.Errorf("%s: %d naming %q", members, a.status, a.field())
		}
	}
	r.rows(0)
	r.stop()
	p.calls(0)
}

// F32: every digit of the caller's data is stored and arrives at the receiver, also by a later attempt and after a restart.
func TestKeys_F32_DigitsArriveAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	const data = `{"order":9007199254740993,"amt":1.10,"e":1e400,"b":[-0.0,1E+2,123456789012345678901234567890],"a":"\u00e9\/é"}`
	bodies := make(chan string, 8)
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(q fake.Request) { bodies <- string(q.Body) }},
		"webhook: {providers: [hooks], timeout: 30s, retry: [50ms, 100ms, 200ms]}", "webhook: {providers: [hooks], timeout: 30s, retry: [3s]}")
	p.fake.Force(fake.Unavailable) // deferred: the second attempt reads the row from the file
	hook := func(id string) string {
		return event(`"event_id":"` + id + `","channel":"webhook","recipient":"` + p.hook + `x","message":{"data":` + data + `},"metadata":` + data)
	}
	r := p.start()
	a := r.settled(hook("evt_1"))
	if a.status != 202 || a.State != "claimed" {
		t.Fatalf("%d %s", a.status, a.State)
	}
	r.stop()
	r = p.start()
	r.until(a.ID, "sent")
	for range 2 {
		if body := recv(t, bodies); !strings.HasSuffix(body, `,"data":`+data+`}`) {
			t.Errorf("the receiver got %s", body)
		}
	}
	if full := r.get(a.ID); !strings.Contains(full.body, `"message":{"data":`+data+`}`) || !strings.Contains(full.body, `"metadata":`+data) {
		t.Errorf("shown as %s", full.body)
	}
	batch := r.do("POST", "/v1/notifications/batch", `{"notifications":[`+hook("evt_2")+`]}`)
	if !strings.Contains(batch.body, `"claimed":1`) {
		t.Fatalf("batch: %d %s", batch.status, batch.body)
	}
	if body := recv(t, bodies); !strings.HasSuffix(body, `,"data":`+data+`}`) {
		t.Errorf("from a batch the receiver got %s", body)
	}
	// The number before is another message, not the same one rounded.
	if a := r.post(strings.ReplaceAll(hook("evt_1"), "9007199254740993", "9007199254740992")); a.status != 422 {
		t.Errorf("another order under the same event: %d", a.status)
	}
	for _, id := range []string{`9007199254740993`, `9007199254740992`, `1e400`, `"a\u0000b"`, "\"a\x00b\"", `["a"]`, `true`} {
		if a := r.post(event(`"event_id":` + id)); a.status != 400 || a.field() != "event_id" {
			t.Errorf("event_id %s: %d naming %q", id, a.status, a.field())
		}
	}
	if a := r.settled(event(`"event_id":"a"`)); a.status != 202 {
		t.Errorf("a: %d", a.status)
	}
	r.rows(3)
	p.check()
}
