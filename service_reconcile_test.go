package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/cli"
	"sendonce/fake"
)

// differences compares with the provider, and lists kinds and rows.
func (p *place) differences(since time.Time) (cli.Reconciled, []string) {
	p.t.Helper()
	r, err := reconcile(context.Background(), p.load(), cli.Reconcile{Provider: "sms_main", Since: since, Until: time.Now(), Progress: nobodyLooks})
	if err != nil {
		p.t.Fatal(err)
	}
	var found []string
	for _, m := range r.Found {
		row := "none"
		if m.ID != nil {
			row = *m.ID
		}
		found = append(found, m.Kind+" "+row)
	}
	slices.Sort(found)
	return r, found
}

// What a provider took and the ledger does not know comes out by its list, with every provider that lists: a lost answer, a second
// message after a release, and the messages of another ledger. Beside the running service, and without a request that sends.
func TestReconcile_EachProvider(t *testing.T) {
	t.Parallel()
	for kind, line := range map[string]string{
		"twilio": smsTypes["twilio"], "vonage": smsTypes["vonage"], "vonage messages": smsTypes["vonage messages"],
		"sendgrid": `{type: sendgrid, api_key: example-key, from: "shop@example.test", base_url: URL}`,
	} {
		t.Run(kind, func(t *testing.T) {
			changes := []string{"{type: infrai, api_key: example-key, base_url: URL}", line}
			if kind == "sendgrid" {
				changes = append(changes, "  sms: {providers: [sms_main]", "  email: {providers: [sms_main]")
			}
			p := newPlace(t, fake.Options{WellBehaved: true, Receipts: fake.Receipts{After: 50 * time.Millisecond}}, changes...)
			begun := time.Now().Add(-time.Second)
			r := p.start()
			send := func(r *running, id string, behaviour fake.Behaviour) answer {
				t.Helper()
				p.fake.Force(behaviour)
				if kind == "sendgrid" {
					return r.settled(event(`"event_id":"` + id + `","channel":"email","recipient":"a@example.test","message":{"subject":"s","text":"tok_a"}`))
				}
				return r.settled(event(`"event_id":"` + id + `"`))
			}
			sent, lost, released := send(r, "sent", fake.Accept), send(r, "lost", fake.AcceptReset), send(r, "released", fake.AcceptReset)
			if sent.State != "sent" || lost.State != "ambiguous" || released.State != "ambiguous" {
				t.Fatalf("%s, %s, %s", sent.State, lost.State, released.State)
			}
			r.do("POST", "/v1/notifications/"+released.ID+"/release", `{"reason":"not there"}`, "If-Match: "+released.header.Get("ETag"))
			r.until(released.ID, "sent")
			calls := p.fake.Requests()
			got, found := p.differences(begun)
			for end := time.Now().Add(patience); got.Listed < 4 && time.Now().Before(end); got, found = p.differences(begun) {
				time.Sleep(100 * time.Millisecond) // Twilio lists what it has passed on
			}
			want := []string{"twice_there " + released.ID, "unsettled_here " + lost.ID}
			if kind == "twilio" { // it echoes nothing of ours
				want = []string{"unknown_here " + lost.ID, "unknown_here " + released.ID}
			}
			slices.Sort(want)
			if !slices.Equal(found, want) || got.Listed != 4 || got.Attempts != 4 {
				t.Errorf("found %q, want %q: %+v", found, want, got)
			}
			r.stop()
			p.check()

			p.change("/sendonce.db", "/other.db") // another ledger at the same provider
			p.init()
			r = p.start()
			other := send(r, "other", fake.Accept)
			r.stop()
			p.change("/other.db", "/sendonce.db")
			got, found = p.differences(begun)
			for end := time.Now().Add(patience); got.Listed < 5 && time.Now().Before(end); got, found = p.differences(begun) {
				time.Sleep(100 * time.Millisecond)
			}
			if len(found) != 3 || !slices.ContainsFunc(found, func(s string) bool { return s == "unknown_here none" }) || other.State != "sent" {
				t.Errorf("found %q beside the message of another ledger", found)
			}
			if p.fake.Requests() != calls+1 {
				t.Errorf("%d requests sent something", p.fake.Requests()-calls-1)
			}
		})
	}
}

// A list that cannot be read is no comparison: it ends with an exit code of its own, and reports nothing.
func TestReconcile_ExitCodes(t *testing.T) {
	t.Parallel()
	status := http.StatusUnauthorized
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "{}")
	}))
	defer there.Close()
	p := newPlace(t, fake.Options{WellBehaved: true}, "channels:\n", "  texts: "+strings.Replace(smsTypes["vonage"], "URL", there.URL, 1)+"\nchannels:\n")
	code := func(provider string) int {
		got, err := reconcile(context.Background(), p.load(), cli.Reconcile{Provider: provider, Since: time.Now().Add(-time.Hour), Until: time.Now(), Progress: nobodyLooks})
		var exit *cli.ExitError
		if !errors.As(err, &exit) || len(got.Found) > 0 {
			t.Errorf("%s: %v, %+v", provider, err, got)
			return 0
		}
		return exit.Code
	}
	for _, provider := range []string{"nobody", "sms_main", "texts"} { // unknown; of a type that lists nothing; refused credentials
		if got := code(provider); got != cli.ExitUsage {
			t.Errorf("%s: exit %d", provider, got)
		}
	}
	status = http.StatusOK // in a form that is not the provider's
	if got := code("texts"); got != cli.ExitUnreachable {
		t.Errorf("garbage: exit %d", got)
	}
	p.change("sendonce.db", "none.db")
	if got := code("texts"); got != cli.ExitLedger {
		t.Errorf("no ledger: exit %d", got)
	}
}
