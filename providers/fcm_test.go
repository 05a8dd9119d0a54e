package providers

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

func pushOrder(message string) ledger.Order {
	return ledger.Order{
		ID: mailID, Number: 1, Kind: ledger.KindSend, WireKey: testWire, Channel: ledger.Push, Recipient: testDevice,
		Message: []byte(message), ClaimedAt: testTime, At: testTime,
	}
}

func newFCM(t *testing.T, c Common) *fcm {
	t.Helper()
	return build(t, &FCMSettings{Credentials: Secret(fake.ServiceAccount("https://oauth2.example.test/token"))}, c).(*fcm)
}

func TestFCM_Body(t *testing.T) {
	p := newFCM(t, Common{})
	topic := topic(testWire)
	cases := map[string]struct{ message, want string }{
		"shown": {
			`{"title":"Grüße","body":"Order A-2291 <shipped>","data":{"order":"A-2291"}}`,
			`{"message":{"android":{"collapseKey":"` + testWire + `","notification":{"tag":"` + testWire + `"},"ttl":"3600s"},` +
				`"apns":{"headers":{"apns-collapse-id":"` + testWire + `","apns-expiration":"1796036400"}},` +
				`"data":{"dedupe_key":"` + testWire + `","order":"A-2291"},"notification":{"body":"Order A-2291 <shipped>","title":"Grüße"},` +
				`"token":"` + testDevice + `","webpush":{"headers":{"TTL":"3600","Topic":"` + topic + `"},"notification":{"tag":"` + testWire + `"}}}}`,
		},
		"data alone": { // no collapse key: FCM keeps only four for a device that is offline
			`{"data":{"order":"A-2291"}}`,
			`{"message":{"android":{"ttl":"3600s"},` +
				`"apns":{"headers":{"apns-collapse-id":"` + testWire + `","apns-expiration":"1796036400","apns-priority":"5"}},` +
				`"data":{"dedupe_key":"` + testWire + `","order":"A-2291"},` +
				`"token":"` + testDevice + `","webpush":{"headers":{"TTL":"3600","Topic":"` + topic + `"}}}}`,
		},
	}
	for name, c := range cases {
		o := pushOrder(c.message)
		o.ExpiresAt = testTime.Add(time.Hour)
		r, err := p.Build(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(string(r.Body()), "\n"); got != c.want {
			t.Errorf("%s: body %s\nwant %s", name, got, c.want)
		}
		req := r.(*request)
		if req.url != "https://fcm.googleapis.com/v1/projects/shop-1/messages:send" || req.header.Get("Authorization") != "" {
			t.Errorf("%s with %v", req.url, req.header)
		}
	}
}

// readBody reads the request's JSON back.
func readBody(t *testing.T, p ledger.Provider, o ledger.Order) fcmMessage {
	t.Helper()
	r, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	var b fcmBody
	if err := json.Unmarshal(r.Body(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Message
}

func TestFCM_TTLIsWhatIsLeft(t *testing.T) {
	p := newFCM(t, Common{})
	for left, want := range map[time.Duration]string{
		time.Hour:               "3600s",
		90*time.Second + 999e6:  "90s",
		time.Millisecond:        "1s",
		365 * 24 * time.Hour:    "2419200s",
		28*24*time.Hour - 1:     "2419199s",
		-time.Hour:              "1s",
		72*time.Hour + 1:        "259200s",
		fcmLongestTTL + 1:       "2419200s",
		5*time.Minute + 400_000: "300s",
	} {
		o := pushOrder(`{"body":"x"}`)
		o.ExpiresAt = testTime.Add(left)
		if got := readBody(t, p, o); got.Android.TTL != want || got.Webpush.Headers["TTL"]+"s" != want {
			t.Errorf("%v is %s and %s, want %s", left, got.Android.TTL, got.Webpush.Headers["TTL"], want)
		}
	}
	got := readBody(t, p, pushOrder(`{"data":{"a":"b"}}`))
	if got.Android != nil || got.Webpush.Headers["TTL"] != "" || got.APNs.Headers["apns-expiration"] != "" {
		t.Errorf("a message without an end has one: %+v", got)
	}
}

// Two copies of one event replace each other, and two events never do: the ids hang on the whole key, whatever its form.
func TestFCM_CollapseIDs(t *testing.T) {
	p := newFCM(t, Common{})
	long := strings.Repeat("k", 127)
	seen := map[string]string{}
	for _, key := range []string{testWire, "order:2291/shipped", strings.Repeat("h", 64), strings.Repeat("h", 65), long + "a", long + "b"} {
		o := pushOrder(`{"body":"x"}`)
		o.WireKey = key
		first := readBody(t, p, o)
		o.Number, o.At = 2, testTime.Add(time.Hour)
		again := readBody(t, p, o)
		tag, topic := first.Android.Notification.Tag, first.Webpush.Headers["Topic"]
		for _, id := range []string{first.APNs.Headers["apns-collapse-id"], first.Webpush.Notification.Tag, first.Android.CollapseKey, again.Android.CollapseKey} {
			if id != tag {
				t.Errorf("%.20s…: ids %q and %q", key, id, tag)
			}
		}
		if len(tag) > fcmCollapseID || len(topic) != fcmTopicChars || strings.Trim(topic, wordChars+"-") != "" || again.Webpush.Headers["Topic"] != topic {
			t.Errorf("%.20s…: tag %q, topic %q", key, tag, topic)
		}
		if first.Data["dedupe_key"] != key {
			t.Errorf("the app is told the key %q, want %q", first.Data["dedupe_key"], key)
		}
		for _, id := range []string{tag, topic} {
			if other, ok := seen[id]; ok {
				t.Errorf("%q and %q share the id %q", key, other, id)
			}
			seen[id] = key
		}
	}
}

func TestFCM_Check(t *testing.T) {
	p := newFCM(t, Common{})
	room := fcmPayload - len(dedupeKeyName) - longestKey
	body := func(n int) string { return `{"body":"` + strings.Repeat("x", n-len("titlebody")) + `"}` }
	data := func(n int) string { return `{"data":{"k":"` + strings.Repeat("x", n-1) + `"}}` }
	for _, c := range []struct{ message, recipient, key, field string }{
		{`{"title":"t","body":"b","data":{"a":"b","collapse_key":"c","googol":"d"}}`, testDevice, "", ""},
		{`{"template":{"id":"t"}}`, testDevice, "", "message.template"},
		{`{"data":{"dedupe_key":"mine"}}`, testDevice, "", "message.data.dedupe_key"},
		{`{"data":{"from":"x"}}`, testDevice, "", "message.data.from"},
		{`{"data":{"message_type":"x"}}`, testDevice, "", "message.data.message_type"},
		{`{"data":{"google.a":"x"}}`, testDevice, "", "message.data.google.a"},
		{`{"data":{"gcm.notification.a":"x"}}`, testDevice, "", "message.data.gcm.notification.a"},
		{`{"data":{"a":1}}`, testDevice, "", "message.data.a"},
		{`{"body":"b"}`, "/topics/news", "", "recipient"},
		{`{"body":"b"}`, "two tokens", "", "recipient"},
		{body(room), testDevice, "", ""},
		{body(room + 1), testDevice, "", "message"},
		{data(room), testDevice, "", ""},
		{data(room + 1), testDevice, "", "message"},
		{data(room), testDevice, strings.Repeat("k", 100), "message"},
		{data(room - 36), testDevice, strings.Repeat("k", 100), ""},
		{`{"body":"` + strings.Repeat("€", fcmPayload/3) + `"}`, testDevice, "", "message"},
	} {
		e := ledger.Event{Channel: ledger.Push, Recipient: c.recipient, Message: []byte(c.message), DedupeKey: c.key}
		checkInvalid(t, c.message, p.Check(e), c.field)
		if c.field == "" { // what passes can be built under the longest key that it may get
			o := pushOrder(c.message)
			o.WireKey = strings.Repeat("k", max(len(c.key), longestKey))
			if _, err := p.Build(o); err != nil {
				t.Errorf("%.60s: %v", c.message, err)
			}
		}
	}
}

func TestFCM_AccountIsProjectAndServiceAccount(t *testing.T) {
	account := func(change func(*serviceAccount), base string) [8]byte {
		var a serviceAccount
		if err := json.Unmarshal([]byte(fake.ServiceAccount("")), &a); err != nil {
			t.Fatal(err)
		}
		change(&a)
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return build(t, &FCMSettings{Credentials: Secret(text)}, Common{BaseURL: base}).Account()
	}
	first := account(func(*serviceAccount) {}, "")
	if first != account(func(a *serviceAccount) { a.PrivateKeyID = "k2" }, "https://fcm.googleapis.com/") {
		t.Error("another key of the same service account is another account")
	}
	if first == account(func(a *serviceAccount) { a.ProjectID = "shop-2" }, "") || first == account(func(a *serviceAccount) { a.ClientEmail = "x" }, "") ||
		first == account(func(*serviceAccount) {}, "https://x.example.test") {
		t.Error("two accounts have one fingerprint")
	}
}
