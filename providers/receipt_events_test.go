package providers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// events posts a list of SendGrid's events, signed.
func events(t testing.TB, list ...string) []ledger.Receipt {
	t.Helper()
	p := posterOf(t, "sendgrid")
	return taken(t, p.make(t, true), p.sign([]byte("["+strings.Join(list, ",")+"]\r\n"), "", testTime))
}

func posterOf(t testing.TB, name string) poster {
	t.Helper()
	for _, p := range posters {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("there is no poster %s", name)
	return poster{}
}

// F30: one bad event among good ones takes none of them along.
func TestReceipts_F30_OneBadEventSpoilsNoOther(t *testing.T) {
	good := sendGridEventOf(report{testReference, "a.b", "delivered"}, "ev_1")
	other := sendGridEventOf(report{"", "c.d", "melted"}, "ev_2")
	got := events(t, good, `{"event":42}`, `null`, `"x"`, `7`, `[]`, `{"event":"open","event":"delivered","sg_message_id":"m.1"}`,
		`{"event":"account_status_change","type":"suspend"}`, other)
	if len(got) != 2 || got[0].Kind != "delivered" || got[0].ID != testRow || got[1].Kind != "melted" || got[1].MessageID != "c" || got[1].Number != 0 {
		t.Errorf("%+v", got)
	}
	p := posterOf(t, "sendgrid")
	if got := taken(t, p.make(t, true), p.sign([]byte(good), "", testTime)); len(got) != 1 || got[0].Delivery != ledger.Delivered {
		t.Errorf("one event without a list: %+v", got)
	}
	if got := events(t); len(got) != 0 {
		t.Errorf("none: %+v", got)
	}
	many := make([]string, 5000)
	for i := range many {
		many[i] = sendGridEventOf(report{testReference, fmt.Sprintf("m%d.x", i), "delivered"}, fmt.Sprintf("ev_%d", i))
	}
	keys := map[string]bool{}
	for _, r := range events(t, many...) {
		keys[r.EventKey], keys[r.FactKey] = true, true
	}
	if len(keys) != 10_000 {
		t.Errorf("5000 events have %d keys", len(keys))
	}
}

// F27: the same event has the same keys, also under another id; each part of what it says makes another fact.
func TestReceipts_F27_TheSameEventHasTheSameKeys(t *testing.T) {
	base := sendGridEventOf(report{testReference, "a.b", "deferred"}, "ev_1")
	want := events(t, base)[0]
	if again := events(t, base, base); again[0].EventKey != want.EventKey || again[1].FactKey != want.FactKey {
		t.Errorf("%+v", again)
	}
	if r := events(t, strings.Replace(base, "ev_1", "ev_2", 1))[0]; r.EventKey == want.EventKey || r.FactKey != want.FactKey {
		t.Errorf("under another id: %+v", r)
	}
	for _, long := range []string{strings.Repeat("e", 256), "", "ev 1", "ev\\u0000"} {
		if r := events(t, strings.Replace(base, "ev_1", long, 1))[0]; r.EventKey != want.FactKey {
			t.Errorf("under the id %q: %+v", long, r)
		}
	}
	for _, change := range [][2]string{{"deferred", "bounce"}, {"1796032740", "1796032741"}, {testAddress, "eve@example.test"}, {`"a.`, `"b.`}, {`{"email"`, `{"attempt":"2","email"`}} {
		r := events(t, strings.Replace(base, change[0], change[1], 1))[0]
		if r.FactKey == want.FactKey {
			t.Errorf("%v is the same fact", change)
		}
	}
	eachPoster(t, func(t *testing.T, p poster) {
		a := p.make(t, true)
		one, two := taken(t, a, p.post(p.good, testTime))[0], taken(t, a, p.post(p.good, testTime.Add(time.Minute)))[0]
		if one.EventKey != two.EventKey || one.FactKey != two.FactKey {
			t.Errorf("posted again a minute later it is another: %+v, %+v", one, two)
		}
	})
}

// What came with an event beside what we read of it is odd, too long or missing.
func TestReceipts_OddFields(t *testing.T) {
	for body, want := range map[string]ledger.Receipt{
		`{"event":"bounce","sg_message_id":"a.b","status":"5.1.1","type":"bounce","timestamp":1796032740.9}`:          {Code: "5.1.1", ProviderAt: time.Unix(1796032740, 0)},
		`{"event":"bounce","sg_message_id":"a","status":"550 no such user ada","type":"blocked","timestamp":"17960"}`: {Code: "blocked", ProviderAt: time.Unix(17960, 0)},
		`{"event":"bounce","sg_message_id":"a","status":"5550100009","timestamp":-1}`:                                 {},
		`{"event":"bounce","sg_message_id":"a","type":["x"],"timestamp":1e300}`:                                       {},
		`{"event":"bounce","sg_message_id":"a","timestamp":"NaN","email":{"x":1},"attempt":null}`:                     {},
		`{"event":"bounce","sg_message_id":"a","timestamp":253402300800,"reference":["` + testReference + `"]}`:       {},
	} {
		got := events(t, body)
		if len(got) != 1 || got[0].MessageID != "a" || got[0].Code != want.Code || !got[0].ProviderAt.Equal(want.ProviderAt) || got[0].Number != 0 {
			t.Errorf("%s: %+v", body, got)
		}
	}
	for _, id := range []string{strings.Repeat("m", 256), "m 1", "mé"} {
		if got := events(t, sendGridEventOf(report{"", id + ".x", "open"}, "e")); len(got) != 0 {
			t.Errorf("message id %.9q: %+v", id, got)
		}
		if got := events(t, sendGridEventOf(report{testReference, id + ".x", "open"}, "e")); len(got) != 1 || got[0].MessageID != "" || got[0].Number != 2 {
			t.Errorf("message id %.9q with our reference: %+v", id, got)
		}
	}
	long := strings.Replace(sendGridEventOf(report{testReference, "a.b", "open"}, "e"), `"reason":"`, `"reason":"`+strings.Repeat("x", 9000), 1)
	if got := events(t, long); len(got) != 1 || len(got[0].Body) != ledger.MaxAnswerBytes {
		t.Errorf("a long event: %+v", got)
	}
}

func TestReceipts_Codes(t *testing.T) {
	resend := func(part string) string {
		p := posterOf(t, "resend")
		body := bytes.Replace(p.body(p.good), []byte(`"tags"`), []byte(part+`,"tags"`), 1)
		return taken(t, p.make(t, true), p.sign(body, "", testTime))[0].Code
	}
	messages := func(part string) string {
		p := posterOf(t, "vonage_messages")
		body := bytes.Replace(p.body(p.good), []byte(`"channel"`), []byte(part+`,"channel"`), 1)
		return taken(t, p.make(t, true), p.sign(body, "", testTime))[0].Code
	}
	twilio := func(code string) string {
		p := posterOf(t, "twilio")
		return taken(t, p.make(t, true), p.sign(append(p.body(p.good), "&ErrorCode="+code...), testReference, testTime))[0].Code
	}
	sms := func(code string) string {
		p := posterOf(t, "vonage")
		form, _ := url.ParseQuery(string(p.body(p.good)))
		form.Set("err-code", code)
		return taken(t, p.make(t, true), p.sign([]byte(form.Encode()), "", testTime))[0].Code
	}
	for what, c := range map[string][2]string{
		"bounce":            {resend(`"bounce":{"type":"Permanent","subType":"General","message":"to ada@example.test"}`), "Permanent/General"},
		"bounce, type only": {resend(`"bounce":{"type":"Transient"}`), "Transient"},
		"failed":            {resend(`"failed":{"reason":"reached_daily_quota"}`), "reached_daily_quota"},
		"suppressed":        {resend(`"suppressed":{"type":"Suppressed","reason":"previous_bounce"}`), "previous_bounce"},
		"a text":            {resend(`"failed":{"reason":"no mailbox ada@example.test"}`), ""},
		"odd":               {resend(`"failed":["x"]`), ""},
		"messages":          {messages(`"error":{"type":"https://developer.vonage.com/api-errors/messages#1320","title":"1320","detail":"447700900000"}`), "1320"},
		"messages, odd":     {messages(`"error":"x"`), ""},
		"twilio":            {twilio("30003"), "30003"},
		"twilio, none":      {twilio("0"), ""},
		"twilio, a text":    {twilio("to+ada"), ""},
		"sms":               {sms("6"), "6"},
		"sms, none":         {sms("0"), ""},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: code %q, want %q", what, c[0], c[1])
		}
	}
}

// Resend's events have tags as an object; a list of pairs, as requests have them, is read too.
func TestReceipts_ResendTags(t *testing.T) {
	p := posterOf(t, "resend")
	for tags, want := range map[string]int{
		`{"reference":"` + testReference + `"}`: 2, `[{"name":"x","value":"y"},{"name":"reference","value":"` + testReference + `"}]`: 2,
		`{"Reference":"` + testReference + `"}`: 0, `{"reference":7}`: 0, `[]`: 0, `"` + testReference + `"`: 0, `null`: 0, `[7]`: 0,
	} {
		body := fmt.Sprintf(`{"type":"email.sent","created_at":"x","data":{"email_id":"m1","tags":%s}}`, tags)
		got := taken(t, p.make(t, true), p.sign([]byte(body), "", testTime))
		if len(got) != 1 || got[0].Number != want || !got[0].ProviderAt.IsZero() {
			t.Errorf("%s: %+v", tags, got)
		}
	}
	for _, body := range []string{`{"type":"email.received","data":{"email_id":"m1"}}`, `{"type":"domain.updated","data":{"id":"d"}}`, `{"type":"email.sent","data":[]}`, `{"type":"email.sent"}`} {
		if got := taken(t, p.make(t, true), p.sign([]byte(body), "", testTime)); len(got) != 0 {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if json.Valid(p.body(p.good)) == false {
		t.Error("the test's own event is no JSON")
	}
}

// What is about no message makes no receipt, and is no fault.
func TestReceipts_WithoutAMessage(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		a := p.make(t, true)
		for _, r := range []report{{word: p.good.word}, {reference: testReference, id: p.good.id}, {reference: "x", id: "a b", word: p.good.word}} {
			if got := taken(t, a, p.post(r, testTime)); len(got) != 0 {
				t.Errorf("%+v: %+v", r, got)
			}
		}
	})
}

// A signed body that is no report at all is unreadable; one that is empty JSON of the right kind has no reports in it.
func TestReceipts_UnreadableBodies(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		a := p.make(t, true)
		for _, body := range []string{"", "hello", "{", `"x"`, "42", "null", "[1", `{"a":1}{`, "{}", `{"a":{"b":[1]}}`, "\xff", `{"\ud800":1}`} {
			got, err := a.Receipts(p.sign([]byte(body), "", testTime))
			readable := body == "{}" || strings.HasPrefix(body, `{"a":{`)
			switch {
			case p.raw && readable && err == nil, p.raw && errors.Is(err, ledger.ErrUnreadable):
			case !p.raw && (err == nil || errors.Is(err, ledger.ErrUnverified)): // what is signed are its parameters
			case p.raw && body == `{"\ud800":1}` && err == nil:
			default:
				t.Errorf("%q: %v", body, err)
			}
			if len(got) != 0 {
				t.Errorf("%q: %+v", body, got)
			}
		}
	})
}

// Reports of two messages in the same words are two, also where the provider leaves the message's id out or gives both the same one:
// our reference tells them apart.
func TestReceipts_TheSameWordsAboutTwoMessages(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		for _, id := range []string{"", p.good.id} {
			a, facts := p.make(t, true), map[string]int{}
			for number := 1; number <= 2; number++ {
				for range 2 {
					r := report{fmt.Sprintf("%s-%d", testRow, number), id, p.good.word}
					for _, got := range taken(t, a, p.post(r, testTime)) {
						facts[got.FactKey]++
					}
				}
			}
			if len(facts) != 2 && (id != "" || len(facts) != 0) { // some types make nothing of a report without an id
				t.Errorf("two messages %q, reported twice each: %v", id, facts)
			}
		}
	})
}
