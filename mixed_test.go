package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/fake"
)

// mixedSize is how many messages the mixed run sends.
var mixedSize = map[bool]int{false: 10_000, true: 600}[raced]

// mixedWorld is a service with a provider of each type, each with a fake of its own that counts what a person would have got.
type mixedWorld struct {
	*running
	mu        sync.Mutex
	fakes     map[string]*fake.Provider
	hook      string                                 // URL of the receiver
	exhausted int                                    // rows whose provider never takes them
	seen      map[string]map[string][]fake.Behaviour // by token and provider
}

// mixedTypes are the providers of the mixed run by name: their settings, and how their fake behaves. Eight of ten requests go
// well, the rest meets a fault of each kind that there is. Left out is what would be a lie of the fake: a webhook's receiver
// that answers 500 says itself that it did not take the message; and what HTTP/1.1 cannot tell apart: a second answer on a
// connection that is used again.
var mixedTypes = []struct {
	name, channel, settings string
	without                 []fake.Behaviour
}{
	{"infrai", "sms", `{type: infrai, api_key: example-key, repeat_window: 20s, base_url: URL}`, []fake.Behaviour{fake.AcceptTwice}},
	{"twilio", "sms", smsTypes["twilio"], nil},
	{"vonage", "sms", smsTypes["vonage"], nil},
	{"vonage_messages", "sms", smsTypes["vonage messages"], nil},
	{"sendgrid", "email", `{type: sendgrid, api_key: example-key, from: "Shop <shop@example.test>", base_url: URL}`, nil},
	{"resend", "email", `{type: resend, api_key: example-key, from: "Shop <shop@example.test>", repeat_window: 20s, base_url: URL}`,
		[]fake.Behaviour{fake.AcceptTwice}},
	{"smtp", "email", `{type: smtp, address: "URL", tls: none, from: "Shop <shop@example.test>"}`,
		[]fake.Behaviour{fake.AcceptHang}}, // it waits ten minutes
	{"fcm", "push", `{type: fcm, credentials: CREDENTIALS, base_url: URL}`, nil},
	{"hooks", "webhook", `{type: webhook, secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, urls: ["URL/hook/"], allow_private: ["127.0.0.0/8"], ` +
		`dedupes: true, repeat_window: 20s}`,
		[]fake.Behaviour{fake.AcceptError}},
}

// mixedOff are providers that nothing reaches: the first of their channel, so that half of its messages fail over.
var mixedOff = map[string]string{
	"refused": strings.ReplaceAll(mixedTypes[1].settings, "URL", "http://127.0.0.1:9"), // nobody listens
	"no_tls":  mixedTypes[4].settings,                                                  // its URL is https, which no fake speaks
}

// mixedWeights give a fault to every fifth request.
func mixedWeights(without []fake.Behaviour) map[fake.Behaviour]int {
	weights, faults := map[fake.Behaviour]int{}, 0
	for _, b := range fake.Behaviours {
		weight := 10
		switch {
		case b == fake.Accept || slices.Contains(without, b):
			weight = 0
		case b == fake.AcceptHang, b == fake.Unauthorized: // the one costs a time-out, the other is followed by three more
			weight = 2
		}
		weights[b] = weight
		faults += weight
	}
	weights[fake.Accept] = 4 * faults
	return weights
}

// newMixedWorld starts the fakes and then the service.
func newMixedWorld(t *testing.T) *mixedWorld {
	t.Helper()
	w := &mixedWorld{fakes: map[string]*fake.Provider{}, seen: map[string]map[string][]fake.Behaviour{}}
	p := &place{t: t, dir: t.TempDir(), book: &logBook{}}
	p.config = "listen: 127.0.0.1:0\ndatabase: " + p.dir + "/sendonce.db\nproviders:\n"
	channels := map[string][]string{"sms": {"refused"}, "email": {"no_tls"}}
	for n, kind := range mixedTypes {
		f := fake.New(fake.Options{
			Seed: uint64(n), Weights: mixedWeights(kind.without), Slow: 50 * time.Millisecond, HonourKeys: true,
			OnRequest: func(r fake.Request) { w.saw(kind.name, r) },
		})
		listen := f.Listen
		if kind.name == "smtp" {
			listen = f.ListenSMTP
		}
		url, err := listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		w.fakes[kind.name] = f
		switch kind.name {
		case "twilio", "vonage_messages", "smtp", "fcm", "hooks": // they can put one message off; this one has no other provider
			f.Script(mixedToken(n), fake.Defer, fake.Defer, fake.Defer, fake.Defer)
			w.exhausted++
		}
		channels[kind.channel] = append(channels[kind.channel], kind.name)
		change := strings.NewReplacer("base_url: URL", "look_up: off, base_url: "+url, // looks come after minutes, and have tests of their own
			"URL", url, "CREDENTIALS", serviceAccount(t, url+fake.TokenPath))
		p.config += "  " + kind.name + ": " + change.Replace(kind.settings) + "\n"
		w.hook = url + "/hook/" // the last is the receiver of webhooks
	}
	noTLS := strings.Replace(strings.TrimSuffix(w.hook, "/hook/"), "http:", "https:", 1)
	for name, settings := range mixedOff {
		p.config += "  " + name + ": " + strings.ReplaceAll(settings, "URL", noTLS) + "\n"
	}
	p.config += "channels:\n"
	for _, name := range slices.Sorted(maps.Keys(channels)) {
		policy := ""
		if name == "push" {
			policy = ", on_ambiguous: abandon, after: 1s"
		}
		p.config += fmt.Sprintf("  %s: {providers: [%s], timeout: 3s, retry: [20ms, 50ms, 100ms]%s}\n", name, strings.Join(channels[name], ", "), policy)
	}
	p.config += "near_duplicate: {action: \"off\"}\nstorage: {reserve: 1MiB}\n"
	p.init()
	w.running = p.start()
	return w
}

// saw notes a request before its answer leaves.
func (w *mixedWorld) saw(provider string, r fake.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[r.Token] == nil {
		w.seen[r.Token] = map[string][]fake.Behaviour{}
	}
	w.seen[r.Token][provider] = append(w.seen[r.Token][provider], r.Behaviour)
}

// serviceAccount is a key file for FCM as a JSON text.
func serviceAccount(t *testing.T, tokenURL string) string {
	t.Helper()
	text, err := json.Marshal(fake.ServiceAccount(tokenURL))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func mixedToken(n int) string { return fmt.Sprintf("tok_mix_%d", n) }

// mixedEvent is the claim of the nth message. Half of them leave the provider to the channel, whose first one is out of order.
func (w *mixedWorld) mixedEvent(n int) string {
	kind := mixedTypes[n%len(mixedTypes)]
	token := mixedToken(n)
	members := fmt.Sprintf(`"event_id":%q,"channel":%q`, token, kind.channel)
	if n/len(mixedTypes)%2 == 0 {
		members += fmt.Sprintf(`,"provider":%q`, kind.name)
	}
	switch kind.channel {
	case "sms":
		members += `,"recipient":"+15550100001","message":{"text":"Order ` + token + ` shipped."}`
	case "email":
		members += `,"recipient":"` + token + `@customer.example.test","message":{"subject":"Grüße","text":"Order ` + token + ` shipped."}`
	case "push":
		members += fmt.Sprintf(`,"recipient":"device-%d","message":{"title":"Shipped","body":"Order %s"}`, n, token)
	case "webhook":
		members += `,"recipient":"` + w.hook + `x","message":{"data":{"order":"` + token + `"}}`
	}
	return "{" + members + "}"
}

// operate resumes what closed, as somebody would who mends things at once, until done is closed.
func (w *mixedWorld) operate(done <-chan struct{}) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		for name, state := range w.gates() {
			if _, off := mixedOff[name]; state != "open" && (!off || n%50 == 0) {
				w.do(http.MethodPost, "/v1/providers/"+name+"/resume", `{"reason":"mended"}`)
			}
		}
	}
}
