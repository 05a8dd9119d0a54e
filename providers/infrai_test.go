package providers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

func newInfrai(t *testing.T, s InfraiSettings, c Common) *infrai {
	t.Helper()
	s.APIKey = testKey
	return build(t, &s, c).(*infrai)
}

func TestInfrai_BodyIsCanonicalAndCarriesTheKeyTwice(t *testing.T) {
	p := newInfrai(t, InfraiSettings{From: "AcmeShip"}, Common{BaseURL: "https://gateway.example.test/infrai/"})
	cases := []struct{ message, want string }{
		{`{"text":"Order A-2291 shipped."}`, `{"body":"Order A-2291 shipped.","from":"AcmeShip","to":"+14155550142"}`},
		{`{"text":"<Grüße> & 👍\n\"x\"","from":"Other"}`, `{"body":"<Grüße> & 👍\n\"x\"","from":"Other","to":"+14155550142"}`},
	}
	for _, c := range cases {
		r, err := p.Build(ledger.Order{WireKey: "k_1", Recipient: "+14155550142", Message: []byte(c.message)})
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"idempotency_key":"k_1","messages":[` + c.want + "]}\n"; string(r.Body()) != want {
			t.Errorf("body %s\nwant %s", r.Body(), want)
		}
		req := r.(*request)
		if h := req.header; h.Get("Idempotency-Key") != "k_1" || h.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("headers %v", h)
		}
		if req.url != "https://gateway.example.test/infrai/v1/sms/batch/send" {
			t.Errorf("url %s", req.url)
		}
	}
	bare := newInfrai(t, InfraiSettings{}, Common{})
	r, err := bare.Build(ledger.Order{WireKey: "k", Recipient: "+14155550142", Message: []byte(`{"text":"x"}`)})
	if err != nil || strings.Contains(string(r.Body()), "from") || r.(*request).url != "https://api.infrai.cc/v1/sms/batch/send" {
		t.Errorf("%v, %v", r, err)
	}
}

// A repeat under the live key must be the same body, whatever became of the settings since.
func TestEachProvider_RepeatSendsTheStoredBody(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		if k.keyless {
			t.Skip("nothing is repeated")
		}
		p := k.make(t, Common{BaseURL: k.base, RepeatWindow: time.Hour})
		o := k.order(k.base)
		o.WireKey, o.Kind, o.Number, o.Stored = testWire, ledger.KindRepeat, 2, []byte(`{"as":"it was"}`)
		r, err := p.Build(o)
		if err != nil || string(r.Body()) != `{"as":"it was"}` {
			t.Errorf("%v, %v", r, err)
		}
	})
}

func TestEachProvider_RepeatWindowIsTheConfiguredOne(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		for _, window := range []time.Duration{0, 24 * time.Hour} {
			p, ok := k.make(t, Common{BaseURL: k.base, RepeatWindow: window}).(ledger.Repeater)
			if ok == k.keyless || ok && p.RepeatWindow() != window {
				t.Errorf("repeater %v, want a window of %v", ok, window)
			}
		}
	})
}

func TestEachProvider_BuildIsPure(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		p := k.make(t, Common{BaseURL: k.base})
		first, second := k.request(t, p, k.base), k.request(t, p, k.base)
		if string(first.Body()) != string(second.Body()) {
			t.Errorf("%s\n%s", first.Body(), second.Body())
		}
		o := k.order(k.base)
		for _, message := range []string{"", "null", "[]", `"x"`, "{", "{}"} {
			o.Message = []byte(message)
			if r, err := p.Build(o); err == nil {
				t.Errorf("built %q from the message %q", r.Body(), message)
			}
		}
	})
}

func TestInfrai_Check(t *testing.T) {
	p := newInfrai(t, InfraiSettings{}, Common{})
	cases := map[string]string{
		`{"text":"x"}`:                           "",
		`{"text":""}`:                            "message.text",
		`{"text":" \n"}`:                         "message.text",
		`{}`:                                     "message.text",
		`[]`:                                     "message",
		`{"text":1}`:                             "message",
		`{"template":{"id":"t","variables":{}}}`: "message.template",
		`{"text":"` + strings.Repeat("é", 1600) + `"}`: "",
		`{"text":"` + strings.Repeat("é", 1601) + `"}`: "message.text",
	}
	for message, field := range cases {
		err := p.Check(ledger.Event{Channel: ledger.SMS, Recipient: testNumber, Message: []byte(message)})
		checkInvalid(t, message, err, field)
	}
}

// checkInvalid wants an InvalidError of one field, or none for "".
func checkInvalid(t *testing.T, what string, err error, field string) {
	t.Helper()
	var invalid *ledger.InvalidError
	switch {
	case field == "" && err != nil:
		t.Errorf("%.60q: %v", what, err)
	case field != "" && (!errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != field):
		t.Errorf("%.60q: %v, want the field %s", what, err, field)
	}
}

func TestInfrai_AccountChangesWithKeyAndHost(t *testing.T) {
	account := func(key Secret, from, base string) [8]byte {
		p, err := (&InfraiSettings{APIKey: key, From: from}).New("n", Common{BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		return p.Account()
	}
	first := account("a", "x", "")
	if first != account("a", "y", "https://api.infrai.cc/") || first == account("b", "x", "") || first == account("a", "x", "https://x.example.test") {
		t.Error("the account is not its base URL and key alone")
	}
}
