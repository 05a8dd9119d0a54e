package providers

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

func newWebhook(t *testing.T, s WebhookSettings) *webhook {
	t.Helper()
	s.Secret = testSecret
	return build(t, &s, Common{}).(*webhook)
}

func TestSign_Vectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/vectors/standard_webhooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name, Secret, ID, Body, Signature string
			Timestamp                         int64
			Valid                             bool
		}
		InvalidSecrets []string `json:"invalid_secrets"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		keys, err := parseSecrets(v.Secret)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		ours := sign(keys, v.ID, time.Unix(v.Timestamp, 0), []byte(v.Body))
		found := false
		for _, theirs := range strings.Fields(v.Signature) {
			found = found || theirs == ours
		}
		if found != v.Valid {
			t.Errorf("%s: ours is %s among %s: %v, want %v", v.Name, ours, v.Signature, found, v.Valid)
		}
	}
	short, long := "whsec_"+strings.Repeat("A", 28), "whsec_"+strings.Repeat("A", 88)
	for _, s := range append(file.InvalidSecrets, " ", "whsec_!", short, long, testSecret+" whsec_", testSecret+"A") {
		if _, err := parseSecrets(s); err == nil {
			t.Errorf("secret %q was taken", s)
		}
	}
}

func TestSign_BothSecretsWhileTheyChange(t *testing.T) {
	other := "whsec_" + strings.Repeat("QUJD", 8)
	both, err := parseSecrets(testSecret + " " + other)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := parseSecrets(testSecret)
	two, _ := parseSecrets(other)
	body := []byte("{}")
	want := sign(one, "msg_1", testTime, body) + " " + sign(two, "msg_1", testTime, body)
	if got := sign(both, "msg_1", testTime, body); got != want || strings.Count(got, "v1,") != 2 {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWebhookID(t *testing.T) {
	for key, want := range map[string]string{
		testWire:  "msg_" + testWire,
		"Az09_-":  "msg_Az09_-",
		"a.b":     "msg_2e7336dc8eba87ef472df568c35482abf2575dc3",
		"order:1": "msg_c8bd69874287bdec71cfca9f7020bd881c48da86",
		"ü":       "msg_607474ca475a9724d7360aba71a56d5df77e6135",
	} {
		if got := webhookID(key); got != want {
			t.Errorf("%q gives %q, want %q", key, got, want)
		}
	}
}

// F32: what the caller wrote as data reaches the receiver digit for digit.
func TestWebhook_PayloadIsPassedOnAsWritten(t *testing.T) {
	p := newWebhook(t, WebhookSettings{URLs: []string{"https://crm.example.test/"}})
	data := `{ "order":9007199254740993,"amt":1.10, "e":1e400,"z":1,"a":"<&>\u00e9\/é","a2":[1.0,-0] }`
	o := ledger.Order{
		WireKey: testWire, Recipient: "https://crm.example.test/hook", Message: []byte(`{"data":` + data + `}`),
		ClaimedAt: testTime.Add(1500 * time.Microsecond), At: testTime.Add(time.Hour),
	}
	r, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"type":"notification","timestamp":"2026-11-30T10:00:00.001Z","data":` + data + `}`; string(r.Body()) != want {
		t.Errorf("body %s\nwant %s", r.Body(), want)
	}
	o.EventType, o.OccurredAt = `order."shipped"`, testTime.In(time.FixedZone("x", 3600))
	o.Message = []byte(`{"data":null}`)
	if r, err = p.Build(o); err != nil {
		t.Fatal(err)
	}
	if want := `{"type":"order.\"shipped\"","timestamp":"2026-11-30T10:00:00.000Z","data":null}`; string(r.Body()) != want {
		t.Errorf("body %s\nwant %s", r.Body(), want)
	}
}

func TestWebhook_SignedAnewForEachAttemptUnderOneID(t *testing.T) {
	p := newWebhook(t, WebhookSettings{URLs: []string{"https://crm.example.test/"}})
	o := ledger.Order{WireKey: "a:b", Recipient: "https://crm.example.test/", Message: []byte(`{"data":1}`), At: testTime}
	first, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	o.At, o.Number, o.Stored = testTime.Add(time.Minute), 2, first.Body()
	second, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	a, b := first.(*request).header, second.(*request).header
	if a.Get("webhook-id") != b.Get("webhook-id") || a.Get("webhook-timestamp") != "1796032800" || b.Get("webhook-timestamp") != "1796032860" {
		t.Errorf("%v\n%v", a, b)
	}
	if b.Get("webhook-signature") != sign(p.keys, webhookID("a:b"), o.At, first.Body()) || a.Get("webhook-signature") == b.Get("webhook-signature") {
		t.Errorf("%v\n%v", a, b)
	}
}

func TestWebhook_Accepts(t *testing.T) {
	p := newWebhook(t, WebhookSettings{
		URLs: []string{"https://crm.example.test/", "https://crm.example.test/deep/er", "https://api.example.test:8443/v1/"},
	})
	shop, deep := p.Accepts("https://crm.example.test/"), p.Accepts("https://crm.example.test/deep/er/x?y=1")
	if shop == 0 || deep <= shop {
		t.Errorf("the longer prefix has %d, the shorter %d", deep, shop)
	}
	for u, want := range map[string]int{
		"https://crm.example.test":                    shop,
		"HTTPS://CRM.Example.TEST/a":                  shop,
		"https://crm.example.test:443/a":              shop,
		"https://crm.example.test/deep/erx":           shop,
		"https://crm.example.test/deep/er":            deep,
		"https://crm.example.test.evil/":              0,
		"https://crm.example.test.evil.test/":         0,
		"https://crm.example.test@evil.test/":         0,
		"https://user:pw@crm.example.test/":           0,
		"https://evilcrm.example.test/":               0,
		"https://crm.example.test:8443/":              0,
		"http://crm.example.test/":                    0,
		"https://evil.test/https://crm.example.test/": 0,
		"https://evil.test\\@crm.example.test/":       0,
		"https://api.example.test/v1/":                0,
		"https://api.example.test:8443/v2":            0,
		"https://api.example.test:8443/v1":            0,
		"https://api.example.test:8443/v1/../v2":      0,
		"https://api.example.test:8443/v1/%2e%2e/v2":  0,
		"https://api.example.test:8443/v1%2f..%2fv2":  0,
		"https://api.example.test:8443/v1/..\\v2":     0,
		"":                        0,
		"crm.example.test":        0,
		"//crm.example.test/":     0,
		"ftp://crm.example.test/": 0,
	} {
		if got := p.Accepts(u); got != want {
			t.Errorf("%s: %d, want %d", u, got, want)
		}
	}
	anyone := newWebhook(t, WebhookSettings{URLs: []string{"https://"}})
	if n := anyone.Accepts("https://customer.example.test/x"); n == 0 || n >= shop || anyone.Accepts("http://customer.example.test/x") != 0 {
		t.Errorf("https:// alone accepts with %d", n)
	}
}

func TestWebhook_CheckMessage(t *testing.T) {
	p := newWebhook(t, WebhookSettings{URLs: []string{"https://crm.example.test/"}})
	for message, field := range map[string]string{
		`{"data":{}}`:           "",
		`{"data":null}`:         "",
		`{"data":0}`:            "",
		`{}`:                    "message.data",
		`{"DATA":1}`:            "message.data",
		`null`:                  "message",
		`[]`:                    "message",
		`{"template":{"id":1}}`: "message.template",
	} {
		err := p.Check(ledger.Event{Recipient: "https://crm.example.test/x", Message: []byte(message)})
		checkInvalid(t, message, err, field)
	}
	err := p.Check(ledger.Event{Recipient: "https://other.example.test/", Message: []byte(`{"data":1}`)})
	checkInvalid(t, "another host", err, "recipient")
	if strings.Contains(err.Error(), "other.example.test") {
		t.Errorf("the recipient is in %v", err)
	}
}

func TestWebhook_AccountIsTheReceiver(t *testing.T) {
	first := newWebhook(t, WebhookSettings{URLs: []string{"https://a.example.test/"}})
	second := build(t, &WebhookSettings{Secret: Secret("whsec_" + strings.Repeat("QUJD", 8)), URLs: []string{"https://"}}, Common{})
	if first.Account() != second.Account() || first.Account() == [8]byte{} {
		t.Error("a new secret or prefix makes another account")
	}
}

func TestWebhook_NewRefusesWhatValidateWould(t *testing.T) {
	for _, s := range []WebhookSettings{{}, {Secret: testSecret, URLs: []string{"x"}}, {Secret: testSecret, AllowPrivate: []string{"x"}}} {
		if _, err := s.New("n", Common{}); err == nil || errors.Is(err, errMessage) {
			t.Errorf("%+v was taken", s)
		}
	}
}
