package providers

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

func newTwilio(t *testing.T, s TwilioSettings, c Common) *twilio {
	t.Helper()
	s.AccountSID, s.AuthToken = testAccountSID, testKey
	if s.From == "" && s.MessagingServiceSID == "" {
		s.From = "+15005550006"
	}
	return build(t, &s, c).(*twilio)
}

func orderOf(message string) ledger.Order {
	return ledger.Order{
		ID: "01939c7e-0000-7000-8000-000000000001", Number: 2, Recipient: testNumber, Message: []byte(message), At: testTime,
	}
}

// form builds a request and reads it back as a server does.
func form(t *testing.T, p ledger.Provider, o ledger.Order) (*request, url.Values) {
	t.Helper()
	r, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	values, err := url.ParseQuery(string(r.Body()))
	if err != nil {
		t.Fatal(err)
	}
	return r.(*request), values
}

// checkFields wants exactly these fields.
func checkFields(t *testing.T, got url.Values, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if len(got[name]) != 1 || got.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s=%q is too much", name, got[name])
		}
	}
}

func TestTwilio_Request(t *testing.T) {
	const service = "MGaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	const content = "HXbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	expiring := func(left time.Duration) ledger.Order {
		o := orderOf(`{"text":"x"}`)
		o.ExpiresAt = testTime.Add(left)
		return o
	}
	for name, c := range map[string]struct {
		settings TwilioSettings
		callback string
		order    ledger.Order
		want     map[string]string
		own      bool
	}{
		"from": {TwilioSettings{}, "", orderOf(`{"text":"Grüße & 50% + 👍\n"}`),
			map[string]string{"To": testNumber, "From": "+15005550006", "Body": "Grüße & 50% + 👍\n"}, false},
		"own from": {TwilioSettings{}, "", orderOf(`{"text":"x","from":"Acme & Co"}`),
			map[string]string{"To": testNumber, "From": "Acme & Co", "Body": "x"}, true},
		"service": {TwilioSettings{MessagingServiceSID: service}, "", orderOf(`{"text":"x"}`),
			map[string]string{"To": testNumber, "MessagingServiceSid": service, "Body": "x"}, false},
		"service and own from": {TwilioSettings{MessagingServiceSID: service}, "", orderOf(`{"text":"x","from":"+15550100001"}`),
			map[string]string{"To": testNumber, "MessagingServiceSid": service, "From": "+15550100001", "Body": "x"}, true},
		"callback": {TwilioSettings{}, "https://notify.example.test/v1/receipts/twilio_main", orderOf(`{"text":"x"}`),
			map[string]string{"To": testNumber, "From": "+15005550006", "Body": "x",
				"StatusCallback": "https://notify.example.test/v1/receipts/twilio_main/01939c7e-0000-7000-8000-000000000001-2#rc=5&rp=all"}, false},
		"template": {TwilioSettings{}, "", orderOf(`{"template":{"id":"` + content + `","variables":{ "1" : "Ada", "n": 9007199254740993 }}}`),
			map[string]string{"To": testNumber, "From": "+15005550006", "ContentSid": content, "ContentVariables": `{"1":"Ada","n":9007199254740993}`}, false},
		"template without variables": {TwilioSettings{}, "", orderOf(`{"template":{"id":"` + content + `"},"from":"Acme"}`),
			map[string]string{"To": testNumber, "From": "Acme", "ContentSid": content}, true},
		"seconds left": {TwilioSettings{}, "", expiring(90*time.Second + 900*time.Millisecond),
			map[string]string{"To": testNumber, "From": "+15005550006", "Body": "x", "ValidityPeriod": "90"}, false},
		"less than one left": {TwilioSettings{}, "", expiring(time.Millisecond),
			map[string]string{"To": testNumber, "From": "+15005550006", "Body": "x", "ValidityPeriod": "1"}, false},
		"days left": {TwilioSettings{}, "", expiring(72 * time.Hour),
			map[string]string{"To": testNumber, "From": "+15005550006", "Body": "x", "ValidityPeriod": "36000"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, got := form(t, newTwilio(t, c.settings, Common{CallbackURL: c.callback}), c.order)
			checkFields(t, got, c.want)
			if r.ownSender != c.own || r.url != "https://api.twilio.com/2010-04-01/Accounts/"+testAccountSID+"/Messages.json" {
				t.Errorf("own sender %v, url %s", r.ownSender, r.url)
			}
			if r.header.Get("Authorization") != basic(testAccountSID, testKey) {
				t.Errorf("headers %v", r.header)
			}
		})
	}
}

// An API key signs in in place of the auth token; the account stays in the path and is the account either way.
func TestTwilio_APIKeySignsIn(t *testing.T) {
	const key = "SKcccccccccccccccccccccccccccccccc"
	s := &TwilioSettings{AccountSID: testAccountSID, APIKeySID: key, APIKeySecret: testKey, From: "Acme"}
	p := build(t, s, Common{BaseURL: "https://api.dublin.ie1.twilio.com/"}).(*twilio)
	r, _ := form(t, p, orderOf(`{"text":"x"}`))
	if r.header.Get("Authorization") != basic(key, testKey) || !strings.HasPrefix(r.url, "https://api.dublin.ie1.twilio.com/2010-04-01/Accounts/AC") {
		t.Errorf("%s with %v", r.url, r.header)
	}
	token := &TwilioSettings{AccountSID: testAccountSID, AuthToken: "other", From: "Acme"}
	if other := build(t, token, Common{BaseURL: "https://api.dublin.ie1.twilio.com"}); other.Account() != p.Account() {
		t.Error("another way of signing in is another account")
	}
}

func TestTwilio_Check(t *testing.T) {
	p := newTwilio(t, TwilioSettings{MaxSegments: 2}, Common{})
	for message, field := range map[string]string{
		`{"text":"x"}`:                       "",
		`{"text":" "}`:                       "message.text",
		`{}`:                                 "message.text",
		`[]`:                                 "message",
		`{"text":"x","from":""}`:             "",
		`{"text":"x","from":"+15005550006"}`: "",
		`{"text":"x","from":"12345"}`:        "",
		`{"text":"x","from":"AcmeShipping"}`: "message.from",
		`{"text":"x","from":"Äcme"}`:         "message.from",
		`{"text":"x","from":"+1234567890123456"}`:                                           "message.from",
		`{"text":"` + strings.Repeat("a", 306) + `"}`:                                       "",
		`{"text":"` + strings.Repeat("a", 307) + `"}`:                                       "message.text",
		`{"text":"` + strings.Repeat("ж", 134) + `"}`:                                       "",
		`{"text":"` + strings.Repeat("ж", 135) + `"}`:                                       "message.text",
		`{"template":{"id":"d-1"}}`:                                                         "message.template.id",
		`{"template":{"id":"HXbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","variables":[1]}}`:          "message.template.variables",
		`{"template":{"id":"HXbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"from":"AcmeShippingTwo"}`: "message.from",
		`{"template":{"id":"HXbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","variables":{"1":"x"}}}`:    "",
	} {
		checkInvalid(t, message, p.Check(ledger.Event{Message: []byte(message)}), field)
	}
	long := newTwilio(t, TwilioSettings{}, Common{})
	checkInvalid(t, "1600", long.Check(ledger.Event{Message: []byte(`{"text":"` + strings.Repeat("é", 1600) + `"}`)}), "")
	checkInvalid(t, "1601", long.Check(ledger.Event{Message: []byte(`{"text":"` + strings.Repeat("é", 1601) + `"}`)}), "message.text")
}

// The same refusal of a sender is the row's where the message chose it, and the provider's or nobody's where the settings did.
func TestTwilio_ARefusedSenderOfTheMessagesOwnRejectsIt(t *testing.T) {
	p := newTwilio(t, TwilioSettings{}, Common{})
	for _, row := range twilioCodes.Codes {
		if !row.Sender {
			continue
		}
		answer := []byte(`{"code":` + row.Code + `,"message":"no","more_info":"m","status":400}`)
		for message, want := range map[string]ledger.Outcome{`{"text":"x"}`: ledger.Deferred, `{"text":"x","from":"Acme"}`: ledger.Rejected} {
			r, _ := form(t, p, orderOf(message))
			x := exchange{phase: ledger.Answered, status: 400, body: answer, whole: true, ownSender: r.ownSender}
			got := readTwilio(&x)
			checkForm(t, got)
			if got.Outcome != want || want == ledger.Rejected && got.Fault != "" || want == ledger.Deferred && got.Fault != row.Fault {
				t.Errorf("%s for %s: %s %s", row.Code, message, got.Outcome, got.Fault)
			}
		}
	}
}

// Twilio's test answers, as far as the gate: a queue that is full is one sender's, too many requests pass by themselves, and
// wrong credentials need a person.
func TestTwilio_TestAnswersAtTheGate(t *testing.T) {
	for fixture, want := range map[string]struct {
		outcome ledger.Outcome
		gate    string
	}{
		"twilio/rejected_21211_to_invalid":   {ledger.Rejected, "open"},
		"twilio/rejected_21610_unsubscribed": {ledger.Rejected, "open"},
		"twilio/rejected_21408_region":       {ledger.Rejected, "open"},
		"twilio/deferred_21611_queue_full":   {ledger.Deferred, "open"},
		"twilio/deferred_20429":              {ledger.Deferred, "slowed"},
		"twilio/deferred_20003":              {ledger.Deferred, "paused"},
		"vonage/deferred_1_throttled":        {ledger.Deferred, "slowed"},
		"vonage/deferred_9_account":          {ledger.Deferred, "paused"},
		"vonage/ambiguous_partial":           {ledger.Ambiguous, "open"},
	} {
		r := sendFixture(t, fixture)
		var g ledger.Gate
		g.Report(r, false, testTime)
		if r.Outcome != want.outcome || g.Status().State != want.gate {
			t.Errorf("%s: %s, gate %s, want %s, %s", fixture, r.Outcome, g.Status().State, want.outcome, want.gate)
		}
	}
}

// sendFixture hands a message to a server that gives a fixture's answer.
func sendFixture(t *testing.T, path string) ledger.Result {
	t.Helper()
	raw, _ := readFixture(t, "../testdata/providers/"+path+".http")
	name, _, _ := strings.Cut(path, "/")
	for _, k := range kits {
		if k.name == name {
			return k.send(t, Common{Dial: pipe(make(chan served, 1), raw)}, k.base)
		}
	}
	t.Fatalf("no kit %s", name)
	return ledger.Result{}
}
