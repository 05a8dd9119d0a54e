package providers

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

func TestRate(t *testing.T) {
	for text, want := range map[string]float64{"10/s": 10, "300/m": 5, "1000/h": 1000.0 / 3600, "1/h": 1.0 / 3600, "100000/s": 100_000, "7/m": 7.0 / 60} {
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err != nil || math.Abs(float64(r)-want) > 1e-12 {
			t.Errorf("%s: %v, %v", text, float64(r), err)
		}
		if again, err := ParseRate(r.String()); err != nil || math.Abs(float64(again-r)) > 1e-9 {
			t.Errorf("%s is written as %s", text, r)
		}
	}
	for _, text := range []string{"", "10", "/s", "10/", "10/d", "10/S", "0/s", "-1/s", "+1/s", "1.5/s", "1e3/s", "10/s/s", " 10/s", "100001/s", "99999999999/h"} {
		r := Rate(3)
		if err := r.UnmarshalText([]byte(text)); err == nil || r != 3 {
			t.Errorf("%q was taken as %v", text, float64(r))
		}
	}
	if s := Rate(0).String(); s != "none" {
		t.Errorf("no limit is written as %s", s)
	}
}

// sendGridPublicKey is the one of the official example (sendgrid/sendgrid-go, helpers/eventwebhook; MIT).
const sendGridPublicKey = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g=="

// fields runs Validate and returns the keys that it names.
func fields(s Settings, c Common) []string {
	var out []string
	for _, f := range s.Validate(c) {
		if f.Detail == "" {
			out = append(out, f.Field+" without a word")
		}
		out = append(out, f.Field)
	}
	return out
}

func TestValidate_NamesEachFault(t *testing.T) {
	infrai := func() *InfraiSettings { return &InfraiSettings{APIKey: "k"} }
	hook := func(change func(*WebhookSettings)) *WebhookSettings {
		s := &WebhookSettings{Secret: testSecret, URLs: []string{"https://crm.example.test/"}}
		change(s)
		return s
	}
	mail := func(change func(*SendGridSettings)) *SendGridSettings {
		s := &SendGridSettings{APIKey: "k", From: testSender, Category: "sendonce"}
		change(s)
		return s
	}
	cases := []struct {
		name     string
		settings Settings
		common   Common
		want     []string
	}{
		{"least", infrai(), Common{}, nil},
		{"private http", infrai(), Common{BaseURL: "http://10.0.0.1:80/x"}, nil},
		{"local name", infrai(), Common{BaseURL: "http://fake:9100"}, nil},
		{"public http", infrai(), Common{BaseURL: "http://api.example.test"}, []string{"base_url"}},
		{"http to a public address", infrai(), Common{BaseURL: "http://8.8.8.8"}, []string{"base_url"}},
		{"no scheme", infrai(), Common{BaseURL: "api.example.test"}, []string{"base_url"}},
		{"other scheme", infrai(), Common{BaseURL: "ftp://api.example.test"}, []string{"base_url"}},
		{"user name", infrai(), Common{BaseURL: "https://u@api.example.test"}, []string{"base_url"}},
		{"query", infrai(), Common{BaseURL: "https://api.example.test?"}, []string{"base_url"}},
		{"all at once", &InfraiSettings{}, Common{BaseURL: "x", Timeout: -1, Rate: -1, Workers: -1, RepeatWindow: -1},
			[]string{"base_url", "timeout", "rate", "workers", "repeat_window", "api_key"}},
		{"blank in the key", &InfraiSettings{APIKey: "a\nb"}, Common{}, []string{"api_key"}},
		{"webhook", hook(func(*WebhookSettings) {}), Common{}, nil},
		{"empty webhook", &WebhookSettings{}, Common{}, []string{"secret", "urls"}},
		{"any host", hook(func(s *WebhookSettings) { s.URLs = []string{"https://"} }), Common{}, nil},
		{"http prefix", hook(func(s *WebhookSettings) { s.URLs = append(s.URLs, "http://10.0.0.1/") }), Common{}, []string{"urls[1]"}},
		{"http prefix to private", hook(func(s *WebhookSettings) {
			s.URLs, s.AllowPrivate = []string{"http://10.0.0.1/"}, []string{"10.0.0.0/8", "fd00::/8"}
		}), Common{}, nil},
		{"bad prefixes", hook(func(s *WebhookSettings) {
			s.URLs = []string{"crm", "https://x.example.test/?a", "https://u@x.example.test/", "https://x.example.test/a/../b"}
		}), Common{},
			[]string{"urls[0]", "urls[1]", "urls[2]", "urls[3]"}},
		{"bad blocks", hook(func(s *WebhookSettings) { s.AllowPrivate = []string{"10.0.0.1", "10.0.0.1/8", "::ffff:10.0.0.0/104"} }), Common{},
			[]string{"allow_private[0]", "allow_private[1]", "allow_private[2]"}},
		{"base URL of a webhook", hook(func(*WebhookSettings) {}), Common{BaseURL: "https://x.example.test"}, []string{"base_url"}},
		{"window without dedupes", hook(func(*WebhookSettings) {}), Common{RepeatWindow: time.Hour}, []string{"repeat_window"}},
		{"dedupes without window", hook(func(s *WebhookSettings) { s.Dedupes = true }), Common{}, []string{"repeat_window"}},
		{"dedupes", hook(func(s *WebhookSettings) { s.Dedupes = true }), Common{RepeatWindow: time.Hour}, nil},
		{"sendgrid", mail(func(*SendGridSettings) {}), Common{BaseURL: "https://api.eu.sendgrid.com"}, nil},
		{"empty sendgrid", &SendGridSettings{}, Common{}, []string{"api_key", "category"}},
		{"sendgrid without a sender", mail(func(s *SendGridSettings) { s.From = "" }), Common{}, nil},
		{"sendgrid with a window", mail(func(*SendGridSettings) {}), Common{RepeatWindow: time.Hour}, []string{"repeat_window"}},
		{"bad sendgrid", mail(func(s *SendGridSettings) {
			s.APIKey, s.From, s.Category, s.WebhookPublicKey = "a b", "shop", strings.Repeat("c", 256), "MFkw"
		}), Common{}, []string{"api_key", "from", "category", "webhook_public_key"}},
		{"a sender that is not ASCII", mail(func(s *SendGridSettings) { s.From = "Größe <größe@example.test>" }), Common{}, []string{"from"}},
		{"a name that is not ASCII", mail(func(s *SendGridSettings) { s.From = "Größe <shop@größe.example.test>" }), Common{}, nil},
		{"a line break in a sender", mail(func(s *SendGridSettings) { s.From = "Shop\r\nBcc: <eve@example.test>" }), Common{}, []string{"from"}},
		{"key of the Event Webhook", mail(func(s *SendGridSettings) { s.WebhookPublicKey = sendGridPublicKey }), Common{}, nil},
		{"resend", &ResendSettings{APIKey: "k", From: "größe@example.test", WebhookSecret: testSecret}, Common{RepeatWindow: 24 * time.Hour}, nil},
		{"resend longer than it remembers", &ResendSettings{APIKey: "k"}, Common{RepeatWindow: 25 * time.Hour}, []string{"repeat_window"}},
		{"bad resend", &ResendSettings{APIKey: "k\n", From: "<>", WebhookSecret: "whsec_x"}, Common{}, []string{"api_key", "from", "webhook_secret"}},
		{"fcm", &FCMSettings{Credentials: Secret(fake.ServiceAccount(""))}, Common{Timeout: 20 * time.Second}, nil},
		{"empty fcm", &FCMSettings{}, Common{RepeatWindow: time.Hour}, []string{"repeat_window", "credentials"}},
		{"fcm with the path for the file", &FCMSettings{Credentials: "fcm.json"}, Common{}, []string{"credentials"}},
		{"fcm with another kind of key", &FCMSettings{Credentials: `{"type":"authorized_user"}`}, Common{}, []string{"credentials"}},
		{"fcm without a private key", &FCMSettings{Credentials: `{"type":"service_account","project_id":"p","client_email":"e","private_key":"x"}`}, Common{}, []string{"credentials"}},
		{"fcm with a token URL over http", &FCMSettings{Credentials: Secret(fake.ServiceAccount("http://oauth2.example.test/token"))}, Common{}, []string{"credentials"}},
		{"log", Types["log"].Settings(), Common{}, nil},
		{"bad log", &LogSettings{Delay: -1, Share: 1.5}, Common{RepeatWindow: time.Hour}, []string{"delay", "share", "repeat_window"}},
	}
	for _, c := range cases {
		if got := fields(c.settings, c.common); !slices.Equal(got, c.want) {
			t.Errorf("%s: faults in %v, want %v", c.name, got, c.want)
		}
	}
}

// What the table says is used is what the adapters do.
func TestTypes_OffersAreUsedByTheAdapters(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		p := k.make(t, Common{BaseURL: k.base})
		_, repeats := p.(ledger.Repeater)
		templater, ok := p.(ledger.Templater)
		_, reports := p.(ledger.Reporter)
		_, states := p.(ledger.Stater)
		finder, finds := p.(ledger.Finder)
		does := map[ledger.Capability]bool{
			ledger.CanRepeat: repeats, ledger.CanTemplates: ok && templater.SendsTemplates(), ledger.CanReceipts: reports, ledger.CanStatusByID: states,
			ledger.CanFindByContent: finds && finder.LookUps().ByContent, ledger.CanFindByReference: finds && !finder.LookUps().ByContent,
		}
		offers := map[ledger.Capability]bool{}
		for _, o := range Types[k.typeName()].Offers {
			if offers[o.Capability] = true; o.Used != does[o.Capability] || o.How == "" || !slices.Contains(ledger.Capabilities, o.Capability) {
				t.Errorf("%+v, and the adapter does: %v", o, does[o.Capability])
			}
		}
		for c, done := range does {
			if done && !offers[c] {
				t.Errorf("the adapter does %s and the table does not offer it", c)
			}
		}
	})
}

func TestTypes(t *testing.T) {
	for name, typ := range Types {
		if len(typ.Channels) == 0 || typ.Workers < 1 || typ.Settings() == nil || typ.Settings() == typ.Settings() {
			t.Errorf("%s: %+v", name, typ)
		}
		if typ.Real == (name == "log") {
			t.Errorf("%s: real %v", name, typ.Real)
		}
	}
	tested := map[string]bool{"log": true, "smtp": true} // which have suites of their own
	for _, k := range kits {
		tested[k.typeName()] = true
	}
	for name := range tested {
		if _, ok := Types[name]; !ok {
			t.Errorf("%s is tested and not in the table", name)
		}
	}
	if len(Types) != len(tested) {
		t.Errorf("%d types, but %d in kits: each type over HTTP has to stand there", len(Types), len(tested))
	}
	if !slices.Equal(Types["log"].Channels, ledger.Channels) {
		t.Error("log takes every channel")
	}
}
