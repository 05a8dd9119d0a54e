package providers

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"sendonce/fake"
	"sendonce/ledger"
)

const testCallback = "https://notify.example.test/v1/receipts/vonage_main"

func newVonage(t *testing.T, s VonageSettings, c Common) ledger.Provider {
	t.Helper()
	if s.API == "" {
		s.API = "sms"
	}
	if s.PrivateKey == "" {
		s.APIKey, s.APISecret = "abcd1234", testKey
	}
	s.From = "AcmeShip"
	return build(t, &s, c)
}

func TestVonageSMS_Request(t *testing.T) {
	expiring := func(left time.Duration) ledger.Order {
		o := orderOf(`{"text":"x"}`)
		o.ExpiresAt = testTime.Add(left)
		return o
	}
	base := func(more ...string) map[string]string {
		m := map[string]string{"api_key": "abcd1234", "api_secret": testKey, "from": "AcmeShip", "to": testNumber[1:], "text": "x",
			"client-ref": "01939c7e000070008000000000000001-2"}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	for name, c := range map[string]struct {
		callback string
		order    ledger.Order
		want     map[string]string
	}{
		"plain":         {"", orderOf(`{"text":"x"}`), base()},
		"own number":    {"", orderOf(`{"text":"x","from":"+15550100001"}`), base("from", "15550100001")},
		"callback":      {testCallback, orderOf(`{"text":"x"}`), base("callback", testCallback+"/01939c7e-0000-7000-8000-000000000001-2")},
		"time left":     {"", expiring(30*time.Minute + 1500*time.Microsecond), base("ttl", "1800001")},
		"hardly a time": {"", expiring(time.Second), base("ttl", "20000")},
		"a long time":   {"", expiring(30 * 24 * time.Hour), base("ttl", "604800000")},
	} {
		t.Run(name, func(t *testing.T) {
			r, got := form(t, newVonage(t, VonageSettings{}, Common{CallbackURL: c.callback}), c.order)
			checkFields(t, got, c.want)
			if r.url != "https://rest.nexmo.com/sms/json" || r.ownSender != (name == "own number") {
				t.Errorf("%s, own sender %v", r.url, r.ownSender)
			}
		})
	}
}

// F23: type=unicode exactly when a character is outside the GSM alphabets, and the text arrives byte for byte.
func TestVonage_F23_UnicodeExactlyWhenNeeded(t *testing.T) {
	for text, unicode := range map[string]bool{
		"Your code 123": false, "Grüße €[]{}": false, strings.Repeat("a", 161): false, strings.Repeat("a", 159) + "€": false,
		"Привет": true, "👍": true, strings.Repeat("ж", 71): true, strings.Repeat("ж", 69) + "👍": true, "“quotes”": true, "a\u00a0b": true,
		"\u202bשלום\u202c": true, "100% & a=b+c\r\n": false,
	} {
		message, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		_, got := form(t, newVonage(t, VonageSettings{}, Common{}), orderOf(string(message)))
		if got.Get("text") != text || (got.Get("type") == "unicode") != unicode || !unicode && got.Has("type") {
			t.Errorf("%q left as %q with the type %q", text, got.Get("text"), got["type"])
		}
		r, err := newVonage(t, VonageSettings{API: "messages"}, Common{}).Build(orderOf(string(message)))
		if err != nil {
			t.Fatal(err)
		}
		var m vonageMessage
		if err := json.Unmarshal(r.Body(), &m); err != nil || m.Text != text || (m.SMS != nil) != unicode || unicode && m.SMS.EncodingType != "unicode" {
			t.Errorf("%q left as %s", text, r.Body())
		}
	}
}

// The Messages API takes shorter texts than the SMS API.
func TestVonage_LongestText(t *testing.T) {
	for api, longest := range map[string]int{vonageSMSAPI: 3200, vonageMessagesAPI: 1000} {
		p := newVonage(t, VonageSettings{API: api}, Common{}).(ledger.Checker)
		for n, ok := range map[int]bool{longest: true, longest + 1: false} {
			err := p.Check(ledger.Event{Message: []byte(`{"text":"` + strings.Repeat("👍", n) + `"}`)})
			if (err == nil) != ok {
				t.Errorf("%s: %d characters: %v", api, n, err)
			}
		}
	}
}

// client-ref has 40 characters. A reference in it leads back to its attempt, however often that was made.
func TestVonageSMS_ReferenceFitsClientRef(t *testing.T) {
	for _, number := range []int{1, 999, 1000, 9_999_999} {
		o := orderOf(`{"text":"x"}`)
		o.Number = number
		ref := shortReference(o)
		i := strings.LastIndexByte(ref, '-')
		id, err := uuid.Parse(ref[:i])
		if len(ref) > 40 || err != nil || id.String() != o.ID || ref[i+1:] != itoa(number) {
			t.Errorf("attempt %d: %q of %d characters, %v", number, ref, len(ref), err)
		}
	}
}

func TestVonageMessages_Request(t *testing.T) {
	p := newVonage(t, VonageSettings{API: "messages"}, Common{BaseURL: "https://api-eu.nexmo.com", CallbackURL: testCallback})
	o := orderOf(`{"text":"<x> & y"}`)
	o.ExpiresAt = testTime.Add(90*time.Second + 500*time.Millisecond)
	r, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	const ref = "01939c7e-0000-7000-8000-000000000001-2"
	want := `{"channel":"sms","client_ref":"` + ref + `","from":"AcmeShip","message_type":"text","text":"<x> & y","to":"15550100009","ttl":90,` +
		`"webhook_url":"` + testCallback + `/` + ref + `","webhook_version":"v1"}` + "\n"
	if got := string(r.Body()); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	req := r.(*request)
	if req.url != "https://api-eu.nexmo.com/v1/messages" || req.header.Get("Authorization") != basic("abcd1234", testKey) {
		t.Errorf("%s with %v", req.url, req.header)
	}
}

// The token is good for this application, for a short time from the attempt on, and for one attempt.
func TestVonageMessages_Token(t *testing.T) {
	s := VonageSettings{API: "messages", ApplicationID: "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", PrivateKey: Secret(fake.PrivateKey())}
	p := newVonage(t, s, Common{}).(*vonageMessages)
	ids := map[string]bool{}
	for number := 1; number <= 2; number++ {
		o := orderOf(`{"text":"x"}`)
		o.Number = number
		r, err := p.Build(o)
		if err != nil {
			t.Fatal(err)
		}
		text, ok := strings.CutPrefix(r.(*request).header.Get("Authorization"), "Bearer ")
		claims := jwt.MapClaims{}
		token, err := jwt.ParseWithClaims(text, claims, func(*jwt.Token) (any, error) { return p.key.Public(), nil },
			jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(func() time.Time { return testTime }), jwt.WithIssuedAt(), jwt.WithExpirationRequired())
		if !ok || err != nil || !token.Valid {
			t.Fatalf("token %q: %v", text, err)
		}
		if claims["application_id"] != s.ApplicationID || claims["iat"] != float64(testTime.Unix()) || claims["exp"] != float64(testTime.Add(15*time.Minute).Unix()) {
			t.Errorf("claims %v", claims)
		}
		ids[claims["jti"].(string)] = true
	}
	if len(ids) != 2 {
		t.Errorf("token ids %v", ids)
	}
}

// Nothing is lost of an answer that took some parts and not others: a person sees which.
func TestVonageSMS_PartsAreShown(t *testing.T) {
	for body, want := range map[string]string{
		`{"message-count":"3","messages":[{"status":"0","message-id":"a"},{"status":"0","message-id":"b"},{"status":"9"}]}`: "parts 1 to 2 accepted, part 3 refused with status 9",
		`{"message-count":"3","messages":[{"status":"1"},{"status":"0","message-id":"b"},{"status":"9"}]}`:                  "part 1 refused with status 1, part 2 accepted, part 3 refused with status 9",
		`{"message-count":"2","messages":[{"status":"1"},{"status":"1"}]}`:                                                  "parts 1 to 2 refused with status 1",
		`{"message-count":"2","messages":[{"status":"0"},{"status":"15550100009"}]}`:                                        "part 1 accepted, part 2 refused with status ",
	} {
		x := exchange{phase: ledger.Answered, status: 200, body: []byte(body), whole: true}
		r := readVonageSMS(&x)
		checkForm(t, r)
		if r.Error != want || string(r.Answer) != body {
			t.Errorf("%s: %q, answer %q", body, r.Error, r.Answer)
		}
		if partial := strings.Contains(want, "accepted"); partial != (r.Reason == ledger.ReasonPartial) {
			t.Errorf("%s: %s %s", body, r.Outcome, r.Reason)
		}
	}
}

// The parts of a text together get the most careful outcome that any of them has.
func TestVonageSMS_PartsTogether(t *testing.T) {
	outcome := map[string]ledger.Outcome{"1": ledger.Deferred, "7": ledger.Rejected, "5": ledger.Ambiguous, "99": ledger.Ambiguous}
	for a, oa := range outcome {
		for b, ob := range outcome {
			x := exchange{phase: ledger.Answered, status: 200, whole: true,
				body: []byte(`{"messages":[{"status":"` + a + `"},{"status":"` + b + `"}]}`)}
			want := oa
			if severity(ob) > severity(oa) {
				want = ob
			}
			if r := readVonageSMS(&x); r.Outcome != want || len(r.MessageIDs) > 0 {
				t.Errorf("%s and %s: %s, want %s", a, b, r.Outcome, want)
			}
		}
	}
}
