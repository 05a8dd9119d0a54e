package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// New is 202, known is 200 and says so; both name the row and its version.
func TestClaim_NewAndKnown(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	for _, c := range []struct {
		dup      bool
		status   int
		replayed string
	}{{false, 202, ""}, {true, 200, "true"}} {
		s.dup = c.dup
		got := do(t, "POST", base+"/v1/notifications", bodies["POST /v1/notifications"])
		var n Notification
		if err := decode(got.body, &n); err != nil {
			t.Fatal(err)
		}
		if got.status != c.status || n.Duplicate != c.dup || got.header.Get("Idempotent-Replayed") != c.replayed {
			t.Errorf("duplicate %v: %d %s %v", c.dup, got.status, got.body, got.header)
		}
		if got.header.Get("Location") != "/v1/notifications/"+rowA.String() || got.header.Get("ETag") != `"3"` {
			t.Errorf("headers: %v", got.header)
		}
		if got.header.Get("Content-Type") != "application/json" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("headers: %v", got.header)
		}
	}
}

// What the caller wrote arrives at the ledger as it was written. (F32)
func TestClaim_ValuesArriveUnchanged(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{Keys: testKeys})
	message := `{ "data" : {"order":9007199254740993,"amt":1.10,"e":1e400, "z":"\u00e9\/é", "a":[ ] } }`
	metadata := `{"n":9007199254740993,  "e":1E400}`
	body := `{"message":` + message + `,"event_id":"a\ufffdb ","channel":"webhook","recipient":"https://crm.example.test/?a=1&b=%20","metadata":` + metadata +
		`,"source":"","user_id":"u\t1","send_at":"2026-11-30T13:00:00.123456+01:00","occurred_at":"2026-11-30T12:00:00-00:00","lane":"urgent","dedupe_key":"k!~"}`
	body = strings.Replace(body, `u\t1`, "u 1", 1)
	if got := do(t, "POST", base+"/v1/notifications", body, bearer("sender")); got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	// A second request uses the same memory for its body; nothing of the first may lie in there.
	do(t, "POST", base+"/v1/notifications", strings.Repeat(" ", 700)+bodies["POST /v1/notifications"], bearer("sender"))
	want := ledger.Event{
		EventID: "a\ufffdb ", UserID: "u 1", Channel: ledger.Webhook, Recipient: "https://crm.example.test/?a=1&b=%20", Lane: "urgent",
		DedupeKey: "k!~", Caller: "sender", SendAt: time.Date(2026, 11, 30, 12, 0, 0, 123e6, time.UTC), OccurredAt: noon,
	}
	got := s.events[0]
	if string(got.Message) != message || string(got.Metadata) != metadata {
		t.Errorf("message %s, metadata %s", got.Message, got.Metadata)
	}
	got.Message, got.Metadata = nil, nil
	if !got.SendAt.Equal(want.SendAt) || !got.OccurredAt.Equal(want.OccurredAt) {
		t.Errorf("times %v, %v", got.SendAt, got.OccurredAt)
	}
	got.SendAt, got.OccurredAt, want.SendAt, want.OccurredAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	if same := got.EventID == want.EventID && got.UserID == want.UserID && got.Channel == want.Channel && got.Recipient == want.Recipient &&
		got.Lane == want.Lane && got.DedupeKey == want.DedupeKey && got.Caller == want.Caller && got.Source == ""; !same {
		t.Errorf("got %+v", got)
	}
}

// Null and empty are "not given" for what is optional, and never a value.
func TestClaim_NullIsNotGiven(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	body := claimOf(`"event_id":"evt_1","event_type":null,"source":null,"user_id":"","occurred_at":null,"provider":null,"lane":"","send_at":"","expires_at":null,"metadata":null,"dedupe_key":null`)
	if got := do(t, "POST", base+"/v1/notifications", body); got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if e := s.events[0]; e.Metadata != nil || e.DedupeKey != "" || !e.SendAt.IsZero() || e.EventType != "" || e.Caller != "local" {
		t.Errorf("got %+v", e)
	}
}

// Each refused value names its field, in the documented unit, and leaves no row. (F08, F09, F32)
func TestClaim_RefusedValues(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	emoji := func(n int) string { return strings.Repeat("👍", n) }
	for _, c := range []struct {
		members, field string // field "" is accepted
	}{
		{`"event_id":"` + emoji(255) + `"`, ""}, {`"event_id":"` + emoji(256) + `"`, "event_id"},
		{`"event_id":"` + strings.Repeat("a", 255) + `"`, ""}, {`"event_id":"` + strings.Repeat("a", 1024) + `"`, "event_id"},
		{`"event_id":""`, "event_id"}, {`"event_id":" "`, "event_id"}, {`"event_id":null`, "event_id"}, {`"user_id":"u"`, "event_id"},
		{`"event_id":9007199254740993`, "event_id"}, {`"event_id":"a\u0000b"`, "event_id"}, {`"event_id":"a\u0007b"`, "event_id"},
		{"\"event_id\":\"a\xff\"", "event_id"}, {`"event_id":"a\ud800"`, "event_id"}, {`"event_id":"\ud83d\udc4d"`, ""}, {`"event_id":"a\ufffd"`, ""},
		{`"event_id":"a\\u0000b"`, ""}, // a backslash, and no NUL
		{`"event_id":"e","dedupe_key":"` + strings.Repeat("k", 128) + `"`, ""}, {`"event_id":"e","dedupe_key":"` + strings.Repeat("k", 129) + `"`, "dedupe_key"},
		{`"event_id":"e","dedupe_key":""`, "dedupe_key"}, {`"event_id":"e","dedupe_key":"  "`, "dedupe_key"}, {`"event_id":"e","dedupe_key":"é"`, "dedupe_key"},
		{`"event_id":"e","source":"` + emoji(129) + `"`, "source"}, {`"event_id":"e","user_id":"` + emoji(129) + `"`, "user_id"},
		{`"event_id":"e","event_type":"` + emoji(81) + `"`, "event_type"}, {`"event_id":"e","metadata":{"a":"` + strings.Repeat("a", 4096) + `"}`, "metadata"},
		{`"event_id":"e","lane":"fast"`, "lane"}, {`"event_id":"e","metadata":[1]`, "metadata"},
		{`"event_id":"e","send_at":"tomorrow"`, "send_at"}, {`"event_id":"e","send_at":"2026-11-30T12:00:00"`, "send_at"},
		{`"event_id":"e","expires_at":"2026-11-30"`, "expires_at"}, {`"event_id":"e","occurred_at":"1764504000"`, "occurred_at"},
		{`"event_id":"e","occurred_at":"2026-02-30T12:00:00Z"`, "occurred_at"}, {`"event_id":"e","occurred_at":"2026-11-30 12:00:00Z"`, "occurred_at"},
		{`"event_id":"e","occurred_at":"0001-01-01T00:00:00Z"`, "occurred_at"}, {`"event_id":"e","occurred_at":"2026-11-30T12:00:00.5+05:30"`, ""},
		{`"event_id":"e","occurred_at":"2026-11-30T12:00:00,5Z"`, "occurred_at"}, {`"event_id":"e","occurred_at":"10000-11-30T12:00:00Z"`, "occurred_at"},
	} {
		before := s.seen()
		got := do(t, "POST", base+"/v1/notifications", claimOf(c.members))
		short := c.members[:min(len(c.members), 60)]
		switch {
		case c.field == "" && got.status != 202:
			t.Errorf("%s: %d %s", short, got.status, got.body)
		case c.field != "" && (got.status != 400 || got.problem(t).Errors[0].Field != c.field || s.seen() != before):
			t.Errorf("%s: %d %s, %d rows", short, got.status, got.body, s.seen()-before)
		}
	}
	// Two faults are named in one answer.
	p := do(t, "POST", base+"/v1/notifications", claimOf(`"event_id":"e","send_at":"x","expires_at":"y"`)).problem(t)
	if len(p.Errors) != 2 {
		t.Errorf("errors: %v", p.Errors)
	}
}

// A key of a megabyte is a 413 and never a 500, announced or not. (F08)
func TestClaim_TooLarge(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	body := claimOf(`"event_id":"e","dedupe_key":"` + strings.Repeat("k", 1<<20) + `"`)
	if got := do(t, "POST", base+"/v1/notifications", body); got.status != 413 || got.problem(t).Code != codeTooLarge {
		t.Errorf("%d %s", got.status, got.body)
	}
	req, _ := http.NewRequest("POST", base+"/v1/notifications", struct{ *strings.Reader }{strings.NewReader(body)}) // chunked
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 413 || s.seen() != 0 {
		t.Errorf("chunked: %d, %d calls", res.StatusCode, s.seen())
	}
	exact := claimOf(`"event_id":"e","message":{"text":"x"}`)
	exact += strings.Repeat(" ", 256<<10-len(exact))
	exact = strings.Replace(exact, `"message":{"text":"Hello."},`, strings.Repeat(" ", len(`"message":{"text":"Hello."},`)), 1)
	if got := do(t, "POST", base+"/v1/notifications", exact); got.status != 202 {
		t.Errorf("exactly 256 KiB: %d %s", got.status, got.body)
	}
}

// Clients and proxies send a fresh Idempotency-Key with every retry by themselves: it is refused, or taken only
// where the configuration says that it is meant.
func TestClaim_IdempotencyKeyHeader(t *testing.T) {
	for _, c := range []struct {
		accept      bool
		body        string // of dedupe_key
		header      []string
		status      int
		field, want string
	}{
		{false, "", []string{"h"}, 400, "Idempotency-Key", ""}, {false, `"k"`, []string{"k"}, 400, "Idempotency-Key", ""}, {false, "", []string{""}, 400, "Idempotency-Key", ""},
		{true, "", []string{"h"}, 202, "", "h"}, {true, `"k"`, []string{"k"}, 202, "", "k"}, {true, `"k"`, nil, 202, "", "k"},
		{true, `"k"`, []string{"h"}, 400, "dedupe_key", ""}, {true, "", []string{"h", "h"}, 400, "Idempotency-Key", ""},
		{true, "", []string{""}, 400, "Idempotency-Key", ""}, {true, "", []string{"a b"}, 400, "dedupe_key", ""}, {true, `""`, []string{"h"}, 400, "dedupe_key", ""},
	} {
		s := newStub()
		base := serve(t, s, Settings{AcceptIdempotencyKey: c.accept})
		var lines []string
		for _, h := range c.header {
			lines = append(lines, "Idempotency-Key: "+h)
		}
		members := `"event_id":"e"`
		if c.body != "" {
			members += `,"dedupe_key":` + c.body
		}
		got := do(t, "POST", base+"/v1/notifications", claimOf(members), lines...)
		if got.status != c.status {
			t.Errorf("%+v: %d %s", c, got.status, got.body)
			continue
		}
		if c.status == 400 {
			if p := got.problem(t); p.Errors[0].Field != c.field || !c.accept && !strings.Contains(p.Errors[0].Detail, "dedupe_key") || s.seen() != 0 {
				t.Errorf("%+v: %s", c, got.body)
			}
		} else if s.events[0].DedupeKey != c.want {
			t.Errorf("%+v: key %q", c, s.events[0].DedupeKey)
		}
		if got := do(t, "POST", base+"/v1/notifications/batch", bodies["POST /v1/notifications/batch"], "Idempotency-Key: h"); got.status != 400 {
			t.Errorf("a batch with the header: %d", got.status)
		}
	}
}

// A claim in words that the ledger knows is answered as a repeat without being read. The source that a key is bound to is part of
// the words; a key in a header would be too, so there are none then, nor for a body that is too large to be kept.
func TestClaim_KnownByItsWords(t *testing.T) {
	body := strings.Replace(bodies["POST /v1/notifications"], `"source":"shop",`, "", 1)
	hash := func(body, key string, header ...string) ledger.EventHash {
		t.Helper()
		s := newStub()
		a := New(s, Settings{Keys: testKeys, AcceptIdempotencyKey: true}, quiet())
		if got := answerOf(t, a, "POST", "/v1/notifications", body, append(header, "Authorization: Bearer "+key)...); got.status != 202 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return s.events[0].Hash
	}
	free, none := hash(body, "key-sender"), ledger.EventHash{}
	if free == none || free != hash(body, "key-sender") || free == hash(body+" ", "key-sender") || free == hash(body, "key-shop") ||
		hash(body, "key-shop") == hash(body, "key-billing") {
		t.Error("the hash is not one of the words and of the key's source")
	}
	if hash(body, "key-sender", "Idempotency-Key: k1") != none || hash(body+strings.Repeat(" ", maxHashed), "key-sender") != none {
		t.Error("a hash where there should be none")
	}
	s := newStub()
	s.known = free
	got := answerOf(t, New(s, Settings{Keys: testKeys}, quiet()), "POST", "/v1/notifications", body, "Authorization: Bearer key-sender")
	if got.status != 200 || got.header.Get("Idempotent-Replayed") != "true" || !strings.Contains(string(got.body), `"duplicate":true`) || len(s.events) != 0 {
		t.Errorf("%d %v %s, %d claims", got.status, got.header, got.body, len(s.events))
	}
}
