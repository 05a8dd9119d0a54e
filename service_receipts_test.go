package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sendonce/fake"
)

// publicURL is where providers reach the service of a test, behind a proxy that takes its path away.
const publicURL = "https://notify.example.test/sendonce"

// reporters are the types that post receipts: the settings, what each calls a delivered and a failed message, and the claim.
var reporters = map[string]struct{ settings, delivered, failed, channel, recipient string }{
	"twilio": {`{type: twilio, account_sid: AC00000000000000000000000000000000, auth_token: example-token, from: "+15005550006", base_url: URL}`,
		"delivered", "undelivered", "sms", "+15550100001"},
	"vonage": {`{type: vonage, api_key: abcd1234, api_secret: example-secret, from: AcmeShip, signature_secret: ` + fake.VonageSecret + `, base_url: URL}`,
		"delivered", "failed", "sms", "+15550100001"},
	"vonage messages": {`{type: vonage, api: messages, api_key: abcd1234, api_secret: example-secret, from: AcmeShip, signature_secret: ` + fake.VonageSecret + `, base_url: URL}`,
		"delivered", "undeliverable", "sms", "+15550100001"},
	"sendgrid": {`{type: sendgrid, api_key: example-key, from: "shop@example.test", webhook_public_key: "` + fake.EventKey() + `", base_url: URL}`,
		"delivered", "bounce", "email", "ada@example.test"},
	"resend": {`{type: resend, api_key: example-key, from: "shop@example.test", webhook_secret: ` + fake.SvixSecret + `, base_url: URL}`,
		"delivered", "bounced", "email", "ada@example.test"},
}

// received is what a test reads of a row's receipts.
type received struct {
	Delivery string `json:"delivery"`
	Version  int    `json:"version"`
	Receipts []struct {
		Attempt   int    `json:"attempt"`
		MessageID string `json:"message_id"`
		Kind      string `json:"kind"`
	} `json:"receipts"`
}

// withKey adds the API key of a test to every request but those of providers.
type withKey struct{ http.RoundTripper }

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Path, "/v1/receipts/") {
		r.Header.Set("Authorization", "Bearer key-ops")
	}
	return k.RoundTripper.RoundTrip(r)
}

// newReporter is a running service with one provider, of a type that posts receipts.
func newReporter(t *testing.T, kind string) *running {
	t.Helper()
	c := reporters[kind]
	p := newPlace(t, fake.Options{WellBehaved: true, Receipts: fake.Receipts{Webhook: publicURL + "/v1/receipts/main"}},
		"providers:\n", "public_url: "+publicURL+"\nauth: {keys: [{name: ops, sha256: \""+sumOf("key-ops")+"\", roles: [send, operate]}]}\nproviders:\n",
		"sms_main: {type: infrai, api_key: example-key, base_url: URL}", "main: "+c.settings,
		"sms: {providers: [sms_main]", c.channel+": {providers: [main]")
	r := p.start()
	r.http.Transport = withKey{r.http.Transport}
	return r
}

// reported claims an event in the form that the type's channel takes.
func (r *running) reported(kind, id string) answer {
	c, content := reporters[kind], `{"text":"Order tok_a shipped."}`
	if c.channel == "email" {
		content = `{"subject":"Order","text":"Order tok_a shipped."}`
	}
	return r.settled(event(fmt.Sprintf(`"event_id":%q,"channel":%q,"recipient":%q,"message":%s`, id, c.channel, c.recipient, content)))
}

// receipt makes a provider's signed request about the newest message.
func (r *running) receipt(word string) *http.Request {
	r.t.Helper()
	request, err := r.fake.Receipt("tok_a", word)
	if err != nil {
		r.t.Fatal(err)
	}
	return request
}

// deliver posts a request as the proxy at the public URL hands it on, and returns the status of its answer.
func (r *running) deliver(request *http.Request, body []byte) int {
	path := strings.TrimPrefix(request.URL.RequestURI(), "/sendonce")
	forwarded, err := http.NewRequest(request.Method, r.base+path, strings.NewReader(string(body)))
	if err != nil {
		r.t.Error(err)
		return 0
	}
	forwarded.Header, forwarded.Host = request.Header.Clone(), request.URL.Host
	answer, err := r.http.Do(forwarded)
	if err != nil {
		r.t.Error(err)
		return 0
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// F12, F27: the answer of each provider is lost, and its receipt settles the row: with its message id and its delivery, and without
// a second request. Dozens of copies at once change nothing; one changed byte is refused.
func TestReceipts_SettleALostAnswer(t *testing.T) {
	t.Parallel()
	for kind, c := range reporters {
		for word, delivery := range map[string][]string{c.delivered: {"delivered"}, c.failed: {"undelivered", "bounced"}} {
			t.Run(kind+" "+word, func(t *testing.T) {
				r := newReporter(t, kind)
				r.fake.Script("tok_a", fake.AcceptReset)
				n := r.reported(kind, "evt_1")
				if n.State != "ambiguous" {
					t.Fatalf("%d %s", n.status, n.body)
				}
				request := r.receipt(word)
				body, err := io.ReadAll(request.Body)
				if err != nil {
					t.Fatal(err)
				}
				for i := range len(body) {
					if i%max(len(body)/5, 1) == 0 {
						changed := append([]byte(nil), body...)
						changed[i] ^= 1
						if status := r.deliver(request, changed); status != 403 {
							t.Errorf("with byte %d changed: %d", i, status)
						}
					}
				}
				if got := r.get(n.ID); got.State != "ambiguous" {
					t.Fatalf("what is not signed settled the row: %s", got.body)
				}
				var all sync.WaitGroup
				for range 46 {
					all.Go(func() {
						if status := r.deliver(request, body); status != 204 {
							t.Errorf("answered %d", status)
						}
					})
				}
				all.Wait()
				got := r.get(n.ID)
				var more received
				if err := json.Unmarshal([]byte(got.body), &more); err != nil {
					t.Fatal(err)
				}
				if got.State != "sent" || got.Reason != "proof" || got.MaybeSent || got.MessageID == "" || !strings.Contains(strings.Join(delivery, " "), more.Delivery) || more.Delivery == "" {
					t.Errorf("%s", got.body)
				}
				if len(more.Receipts) != 1 || more.Receipts[0].Attempt != 1 || len(got.Settlements) != 1 || got.Settlements[0].Actor != "provider:main" {
					t.Errorf("receipts %+v, settlements %+v", more.Receipts, got.Settlements)
				}
				r.calls(1)
				r.stop()
				r.check()
			})
		}
	}
}

// A receipt about a sent message brings its delivery and nothing else: the version stays.
func TestReceipts_BringTheDelivery(t *testing.T) {
	t.Parallel()
	for kind, c := range reporters {
		t.Run(kind, func(t *testing.T) {
			r := newReporter(t, kind)
			first := r.reported(kind, "evt_1")
			if first.State != "sent" {
				t.Fatalf("%d %s", first.status, first.body)
			}
			request := r.receipt(c.delivered)
			body, err := io.ReadAll(request.Body)
			if err != nil {
				t.Fatal(err)
			}
			version := r.get(first.ID)
			for range 2 {
				if status := r.deliver(request, body); status != 204 {
					t.Fatalf("answered %d", status)
				}
			}
			var before, after received
			got := r.get(first.ID)
			if json.Unmarshal([]byte(version.body), &before) != nil || json.Unmarshal([]byte(got.body), &after) != nil {
				t.Fatal(got.body)
			}
			if got.State != "sent" || got.Reason != "" || after.Delivery != "delivered" || after.Version != before.Version || len(after.Receipts) != 1 {
				t.Errorf("%s", got.body)
			}
			r.calls(1)
			r.stop()
			r.check()
		})
	}
}
