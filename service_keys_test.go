package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sendonce/fake"
)

// F05: two different events whose parts look the same once they are joined: the second person would never be told.
func TestKeys_F05_PartsThatLookAlikeWhenJoined(t *testing.T) {
	t.Parallel()
	pair := func(type1, id1, type2, id2 string) [2]string {
		one := func(eventType, id string) string {
			return event(fmt.Sprintf(`"event_type":%q,"source":%q,"event_id":%q`, eventType, eventType, id))
		}
		return [2]string{one(type1, id1), one(type2, id2)}
	}
	pairs := [][2]string{
		pair("a:b", "c", "a", "b:c"), pair("a|b", "c", "a", "b|c"), pair("a/b", "c", "a", "b/c"), pair("a%3Ab", "c", "a", "b%3Ac"),
		pair(`a\:b`, "c", `a\`, ":b:c"), pair("a%00b", "c", "a", "b%00c"), pair("a ", "b", "a", " b"), pair("ab", "c", "a", "bc"),
	}
	// The default recipe has the source in its key; the other has the very parts of the case.
	for name, recipe := range map[string]string{
		"event": "event", "joined by NUL": `{name: joined, fields: [event_type, event_id], separator: "\0", length: 40}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, fake.Options{WellBehaved: true}, "near_duplicate:", "keys: {recipes: ["+recipe+"]}\nnear_duplicate:")
			r := p.start()
			for i, two := range pairs {
				for _, body := range two {
					if a := r.settled(body); a.status != 202 || a.State != "sent" {
						t.Errorf("%s: %d %s %s", body, a.status, a.State, a.Code)
					}
				}
				r.rows(2 * (i + 1))
				p.calls(2 * (i + 1))
			}
			for _, members := range []string{`"event_id":""`, `"event_id":"a\u0000b"`, `"event_id":"a\nb"`, `"event_id":"a\u0085b"`, `"event_id":"a","source":"x\u0000"`, `"source":"a"`} {
				if a := r.post(event(members + `,"event_type":"t"`)); a.status != 400 {
					t.Errorf("%s: %d", members, a.status)
				}
			}
			r.rows(2 * len(pairs))
			r.stop()
			p.calls(2 * len(pairs))
			p.check()
		})
	}
}

// F05: a recipe with a printable separator refuses the parts that hold it, and an empty part.
func TestKeys_F05_PrintableSeparatorsRefuseParts(t *testing.T) {
	t.Parallel()
	for separator, bad := range map[string]string{":": "a:b", "|": "a|b", "/": "a/b", "%3A": "a%3Ab", "::": "a:"} {
		p := newPlace(t, fake.Options{WellBehaved: true}, "near_duplicate:",
			`keys: {recipes: [{name: own, fields: [event_type, event_id], separator: "`+separator+"\", length: 40}]}\nnear_duplicate:")
		r := p.start()
		for members, field := range map[string]string{
			fmt.Sprintf(`"event_type":%q,"event_id":"c"`, bad): "event_type", fmt.Sprintf(`"event_type":"a","event_id":%q`, bad+"b:"): "event_id",
			`"event_id":"a"`: "event_type", `"event_type":"","event_id":"a"`: "event_type",
		} {
			if separator == "::" && field == "event_id" {
				continue // what follows the separator may begin or end as it likes, as long as the cut stays clear
			}
			if a := r.post(event(members)); a.status != 400 || a.field() != field {
				t.Errorf("separator %q, %s: %d naming %q, want 400 naming %s", separator, members, a.status, a.field(), field)
			}
		}
		r.rows(0)
		if a := r.settled(event(`"event_type":"a","event_id":"b"`)); a.State != "sent" {
			t.Errorf("separator %q: a plain event is %d %s", separator, a.status, a.State)
		}
		r.stop()
		p.calls(1)
	}
}

// F06: spellings of one number are one person; what has no sure reading is refused, never guessed.
func TestKeys_F06_PhoneForms(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	sms := func(recipient string) string {
		quoted, err := json.Marshal(recipient)
		if err != nil {
			t.Fatal(err)
		}
		return event(`"event_id":"evt_1","recipient":` + string(quoted))
	}
	first := r.settled(sms("+44 7700 900123"))
	if first.status != 202 || first.State != "sent" || first.Recipient != "+447700900123" {
		t.Fatalf("the first form: %d %s %s", first.status, first.State, first.Recipient)
	}
	for _, same := range []string{"+447700900123", "+44 (7700) 900-123", "+44.7700.900123"} {
		if a := r.settled(sms(same)); a.status != 200 || a.ID != first.ID {
			t.Errorf("%q: %d, row %s", same, a.status, a.ID)
		}
	}
	for _, unsure := range []string{
		"00447700900123", "+44 (0)7700 900123", "07700900123", "447700900123", "＋４４７７００９００１２３", "+44\u00a07700900123",
		"\u200f+447700900123", "tel:+447700900123", "+4", "+12345678901234567890", "+447700900123\u202c", "+44770090012３",
	} {
		if a := r.post(sms(unsure)); a.status != 400 || a.field() != "recipient" {
			t.Errorf("%q: %d naming %q", unsure, a.status, a.field())
		}
	}
	r.rows(1)
	p.calls(1)
	if got := p.fake.Accepted(); len(got) != 1 || first.MessageID != got[0].ID {
		t.Errorf("received %+v, the row has %s", got, first.MessageID)
	}
	r.stop()

	p.change("timeout: 30s, retry", "region: GB, timeout: 30s, retry") // numbers without + by an explicit setting only
	p.config = strings.Replace(p.config, "webhook: {providers: [hooks], region: GB,", "webhook: {providers: [hooks],", 1)
	r = p.start()
	if a := r.settled(sms("07700 900123")); a.status != 200 || a.ID != first.ID {
		t.Errorf("with a region: %d, row %s", a.status, a.ID)
	}
	r.rows(1)
	r.stop()
	p.calls(1)
}

// F06: the provider always gets + and digits, however the number was written.
func TestKeys_F06_TheProviderGetsPlusAndDigits(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 4)
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(q fake.Request) { bodies <- string(q.Body) }})
	r := p.start()
	r.settled(event(`"event_id":"evt_1","recipient":" +1 (555) 010-0001 "`))
	if body := recv(t, bodies); !strings.Contains(body, `"to":"+15550100001"`) {
		t.Errorf("on the wire: %s", body)
	}
}

// F08: keys and ids over their limit are refused by name, and none is cut, so that two with a long common start stay two.
func TestKeys_F08_LongKeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	k := func(n int) string { return strings.Repeat("k", n) }
	emoji := func(n int) string { return strings.Repeat("😀", n) }
	made := 0
	for _, c := range []struct {
		members string
		field   string // refused; empty: a new row
		status  int
	}{
		{`"event_id":"` + k(254) + `a"`, "", 202}, {`"event_id":"` + k(254) + `b"`, "", 202}, // the same first 254
		{`"event_id":"` + k(256) + `"`, "event_id", 400}, {`"event_id":"` + k(1024) + `"`, "event_id", 400}, {`"event_id":"` + k(1_000_000) + `"`, "", 413},
		{`"event_id":"e","dedupe_key":"` + k(127) + `a"`, "", 202}, {`"event_id":"e","dedupe_key":"` + k(127) + `b"`, "", 202},
		{`"event_id":"e","dedupe_key":"` + k(129) + `"`, "dedupe_key", 400}, {`"event_id":"e","dedupe_key":"` + k(255) + `"`, "dedupe_key", 400},
		{`"event_id":"e","dedupe_key":"` + k(256) + `"`, "dedupe_key", 400}, {`"event_id":"e","dedupe_key":"` + k(1024) + `"`, "dedupe_key", 400},
		{`"event_id":"e","dedupe_key":"` + k(1_000_000) + `"`, "", 413}, {`"event_id":"e","dedupe_key":"` + k(200_000) + `"`, "dedupe_key", 400},
		{`"event_id":"` + emoji(200) + `"`, "", 202}, {`"event_id":"` + emoji(255) + `"`, "", 202}, {`"event_id":"` + emoji(256) + `"`, "event_id", 400}, // code points, not bytes
		{`"event_id":"e","dedupe_key":"` + emoji(2) + `"`, "dedupe_key", 400},
		{`"event_id":"e","dedupe_key":""`, "dedupe_key", 400}, {`"event_id":"e","dedupe_key":"   "`, "dedupe_key", 400}, {`"event_id":"   "`, "event_id", 400},
	} {
		a := r.settled(event(c.members))
		if a.status != c.status || a.field() != c.field || c.status == 202 && a.State != "sent" {
			t.Errorf("%.50s… (%d bytes): %d naming %q, want %d naming %q", c.members, len(c.members), a.status, a.field(), c.status, c.field)
		}
		if c.status == 202 {
			made++
		}
	}
	r.rows(made)
	r.stop()
	p.calls(made)
}

// F09: invalid bytes and half surrogates all decode to one filler character; different ids would become one key.
func TestKeys_F09_BytesThatAreNoText(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	for _, id := range []string{"a\xff", "a\xfe", `a\ud800`, `a\udc00b`, "a\xed\xa0\x80", "\xc3"} {
		for _, body := range []string{event(`"event_id":"` + id + `"`), event(`"event_id":"e","metadata":{"x":"` + id + `"}`), event(`"event_id":"e","message":{"text":"` + id + `"}`)} {
			if a := r.post(body); a.status != 400 || a.field() == "" {
				t.Errorf("%q: %d naming %q", body, a.status, a.field())
			}
		}
		batch := r.do("POST", "/v1/notifications/batch", `{"notifications":[`+event(`"event_id":"`+id+`"`)+`]}`)
		if !strings.Contains(batch.body, `"refused":1`) {
			t.Errorf("%q in a batch: %d %s", id, batch.status, batch.body)
		}
	}
	r.rows(0)
	p.calls(0)
	if a := r.settled(event(`"event_id":"a\ufffd"`)); a.status != 202 || a.EventID != "a\ufffd" || a.State != "sent" {
		t.Errorf("a U+FFFD of the caller's own: %d %q", a.status, a.EventID)
	}
	p.calls(1)
}
