package ledger

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// goodEvent is a valid event to break in one place.
func goodEvent() Event {
	return Event{
		EventID: "evt_2291", EventType: "order.shipped", Source: "shop", UserID: "u_17", Channel: SMS,
		Recipient: "+14155550142", Message: []byte(`{"text":"Order A-2291 shipped."}`), Metadata: []byte(`{"order":"A-2291"}`),
		Provider: "infrai_main", Lane: "normal", OccurredAt: time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC),
		SendAt: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), ExpiresAt: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
	}
}

func checkEvents(t *testing.T, cases map[string]func(*Event) (faults string)) {
	t.Helper()
	for name, change := range cases {
		e := goodEvent()
		want := change(&e)
		got := ""
		if err := e.Validate(); err != nil {
			got = faultFields(t, err)
		}
		if got != want {
			t.Errorf("%s: faults %q, want %q", name, got, want)
		}
	}
}

func TestEvent_Validate(t *testing.T) {
	checkEvents(t, map[string]func(*Event) string{
		"as it is": func(e *Event) string { return "" },
		"the least": func(e *Event) string {
			*e = Event{EventID: "e", Channel: SMS, Recipient: "+14155550142", Message: []byte(`{"text":"x"}`)}
			return ""
		},
		"nothing":    func(e *Event) string { *e = Event{}; return "event_id,recipient,channel" },
		"no message": func(e *Event) string { e.Message = nil; return "message" },
		"all at once": func(e *Event) string {
			*e = Event{EventType: "a\x00", Source: "\n", UserID: strings.Repeat("u", 129), DedupeKey: " ", Provider: "A", Lane: "slow",
				Channel: SMS, Recipient: "a\r\nb", Message: []byte(`{"text":"","bcc":"x"}`), Metadata: []byte(`[]`),
				SendAt: time.Unix(9, 0), ExpiresAt: time.Unix(8, 0)}
			return "event_id,event_type,source,user_id,dedupe_key,provider,recipient,expires_at,metadata,lane,message.bcc,message.text"
		},
		"another channel":              func(e *Event) string { e.Channel = "fax"; return "channel" },
		"a channel in capitals":        func(e *Event) string { e.Channel = "SMS"; return "channel" },
		"a message of another channel": func(e *Event) string { e.Channel = Email; return "message.subject" },
		"a fault in the message":       func(e *Event) string { e.Message = []byte(`{"text":"a","text":"b"}`); return "message.text" },
		"urgent":                       func(e *Event) string { e.Lane = "urgent"; return "" },
		"no lane":                      func(e *Event) string { e.Lane = ""; return "" },
		"another lane":                 func(e *Event) string { e.Lane = "URGENT"; return "lane" },
		"no provider":                  func(e *Event) string { e.Provider = ""; return "" },
		"a provider with a dash":       func(e *Event) string { e.Provider = "infrai-main"; return "provider" },
		"a long provider":              func(e *Event) string { e.Provider = strings.Repeat("a", 65); return "provider" },
	})
}

func TestEvent_ValidateTimes(t *testing.T) {
	checkEvents(t, map[string]func(*Event) string{
		"none": func(e *Event) string {
			e.OccurredAt, e.SendAt, e.ExpiresAt = time.Time{}, time.Time{}, time.Time{}
			return ""
		},
		"sent when it expires":      func(e *Event) string { e.SendAt = e.ExpiresAt; return "expires_at" },
		"sent after it expires":     func(e *Event) string { e.SendAt = e.ExpiresAt.Add(1); return "expires_at" },
		"happened after it expires": func(e *Event) string { e.OccurredAt = e.ExpiresAt.Add(time.Hour); return "" }, // clocks differ
		"before 1970": func(e *Event) string {
			e.OccurredAt = time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)
			return "occurred_at"
		},
		"after 9999":                 func(e *Event) string { e.ExpiresAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC); return "expires_at" },
		"the last moment of 9999":    func(e *Event) string { e.ExpiresAt = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC); return "" },
		"send_at in the year 0 or 1": func(e *Event) string { e.SendAt = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC); return "send_at" },
	})
}

func TestEvent_ValidateMetadata(t *testing.T) {
	const room = MaxMetadataBytes - len(`{"a":""}`)
	checkEvents(t, map[string]func(*Event) string{
		"none":         func(e *Event) string { e.Metadata = nil; return "" },
		"empty object": func(e *Event) string { e.Metadata = []byte(` {} `); return "" },
		"4 KiB":        func(e *Event) string { e.Metadata = []byte(`{"a":"` + strings.Repeat("a", room) + `"}`); return "" },
		"a byte more": func(e *Event) string {
			e.Metadata = []byte(`{"a":"` + strings.Repeat("a", room+1) + `"}`)
			return "metadata"
		},
		"bytes, not characters": func(e *Event) string {
			e.Metadata = []byte(`{"a":"` + strings.Repeat("é", room/2+1) + `"}`)
			return "metadata"
		},
		"empty":            func(e *Event) string { e.Metadata = []byte{}; return "metadata" },
		"null":             func(e *Event) string { e.Metadata = []byte(`null`); return "metadata" },
		"array":            func(e *Event) string { e.Metadata = []byte(`[{}]`); return "metadata" },
		"no JSON":          func(e *Event) string { e.Metadata = []byte(`{"a":1`); return "metadata" },
		"more behind it":   func(e *Event) string { e.Metadata = []byte(`{"a":1} {}`); return "metadata" },
		"a name twice":     func(e *Event) string { e.Metadata = []byte(`{"a":1,"a":1}`); return "metadata" },
		"NUL":              func(e *Event) string { e.Metadata = []byte(`{"a":"\u0000"}`); return "metadata" },
		"invalid UTF-8":    func(e *Event) string { e.Metadata = []byte("{\"a\":\"\xff\"}"); return "metadata" },
		"half a surrogate": func(e *Event) string { e.Metadata = []byte(`{"a":"\ud800"}`); return "metadata" },
	})
}

// F08: limits count code points, and what is over them is refused by name, never cut.
func TestEvent_F08_Limits(t *testing.T) {
	cases := map[string]func(*Event) string{}
	for field, limit := range map[string]struct {
		max int
		set func(*Event, string)
	}{
		"event_id":   {255, func(e *Event, s string) { e.EventID = s }},
		"event_type": {80, func(e *Event, s string) { e.EventType = s }},
		"source":     {128, func(e *Event, s string) { e.Source = s }},
		"user_id":    {128, func(e *Event, s string) { e.UserID = s }},
		"recipient":  {4096, func(e *Event, s string) { e.Recipient = s }},
	} {
		for _, char := range []string{"a", "é", "😀"} {
			cases[field+" full of "+char] = func(e *Event) string { limit.set(e, strings.Repeat(char, limit.max)); return "" }
			cases[field+" with one "+char+" too many"] = func(e *Event) string { limit.set(e, strings.Repeat(char, limit.max+1)); return field }
		}
		cases[field+" of a million"] = func(e *Event) string { limit.set(e, strings.Repeat("a", 1_000_000)); return field }
		cases[field+" blank"] = func(e *Event) string { limit.set(e, " \u00a0"); return field }
	}
	for _, n := range []int{1, 2, 127, 128} {
		cases["dedupe_key of "+strconv.Itoa(n)] = func(e *Event) string { e.DedupeKey = strings.Repeat("k", n); return "" }
	}
	for _, n := range []int{129, 255, 256, 1024, 1_000_000} {
		cases["dedupe_key of "+strconv.Itoa(n)] = func(e *Event) string { e.DedupeKey = strings.Repeat("k", n); return "dedupe_key" }
	}
	for _, bad := range []string{" ", "a b", "a\tb", "a\n", "\x00", "\x7f", "é", "😀", "\xff", "   "} {
		cases["dedupe_key "+bad] = func(e *Event) string { e.DedupeKey = bad; return "dedupe_key" }
	}
	cases["dedupe_key with every character it may have"] = func(e *Event) string {
		var s []byte
		for c := byte(0x21); c <= 0x7e; c++ {
			s = append(s, c)
		}
		e.DedupeKey = string(s)
		return ""
	}
	checkEvents(t, cases)
}

// F09, F32: bytes that would all be shown as one filler character, or be cut at NUL, make no key.
func TestEvent_F09_Characters(t *testing.T) {
	cases := map[string]func(*Event) string{}
	for field, set := range map[string]func(*Event, string){
		"event_id":   func(e *Event, s string) { e.EventID = s },
		"event_type": func(e *Event, s string) { e.EventType = s },
		"source":     func(e *Event, s string) { e.Source = s },
		"user_id":    func(e *Event, s string) { e.UserID = s },
		"recipient":  func(e *Event, s string) { e.Recipient = s },
	} {
		for _, bad := range []string{"a\xff", "a\xfe", "a\xed\xa0\x80", "\xc3", "a\x00b", "a\n", "\ra", "a\tb", "a\x1bb", "a\x7f", "a\u0085", "a\u009f"} {
			cases[field+" "+bad] = func(e *Event) string { set(e, bad); return field }
		}
		for _, good := range []string{"a\ufffd", "日本", "a b", "a:b|c", "é", "e\u0301"} {
			cases[field+" "+good] = func(e *Event) string { set(e, good); return "" }
		}
	}
	for _, invisible := range []string{"a\u200b", "a\u202e", "\ufeffa", "a\u2028", "a\u00ad", "a\u3164", "a\ufe0f"} {
		cases["recipient "+invisible] = func(e *Event) string { e.Recipient = invisible; return "recipient" }
		cases["event_id "+invisible] = func(e *Event) string { e.EventID = invisible; return "" }
	}
	checkEvents(t, cases)
}
