package demo

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"sendonce/fake"
)

// provider is the double of one provider, on one side.
type provider struct {
	*fake.Provider
	url string
}

// providers starts one for each kind. Both sides have the same seed and the same scripts, so they meet the same faults; only ours are
// told where receipts go.
func (d *day) providers(ours bool) (map[string]*provider, error) {
	out := map[string]*provider{}
	for _, k := range kinds {
		o := fake.Options{
			Seed: d.Seed, Weights: map[fake.Behaviour]int{fake.Accept: 1}, Token: token, HonourKeys: true, OnRequest: d.seen(ours),
		}
		if ours {
			o.Receipts = fake.Receipts{
				Client: http.DefaultClient, Webhook: d.service.url + "/v1/receipts/resend", After: d.length / 4, Lost: 20,
			}
		}
		p := &provider{Provider: fake.New(o)}
		out[k.provider] = p
		var err error
		if p.url, err = p.Listen("127.0.0.1:0"); err != nil {
			return out, err
		}
	}
	for _, n := range d.script {
		out[n.kind.provider].Script(n.token, n.faults...)
	}
	return out, nil
}

// seen is told of each request before its answer leaves.
func (d *day) seen(ours bool) func(fake.Request) {
	dies := map[string]bool{}
	for _, n := range d.script {
		dies[n.token] = n.crash
	}
	first := make(chan string, len(d.script)) // holds each token that the process dies over once
	for token, crash := range dies {
		if crash {
			first <- token
		}
	}
	return func(r fake.Request) {
		if !ours {
			d.naive.saw(r)
		}
		if !dies[r.Token] {
			return
		}
		for range len(first) {
			token := <-first
			if token != r.Token {
				first <- token
				continue
			}
			if ours {
				d.crashes <- token
			} else {
				d.naive.crash()
			}
			return
		}
	}
}

// writeConfig writes the service's configuration. By day callers need a key, since a service that providers reach with receipts must
// know its callers; afterwards it is open to this machine, as one without keys is.
func (d *day) writeConfig(byDay bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: %s\ndatabase: %s/sendonce.db\nstorage: {reserve: 1MiB}\nshutdown: {drain: 5s}\nlog: {level: info}\n",
		strings.TrimPrefix(d.service.url, "http://"), d.service.dir)
	if byDay {
		fmt.Fprintf(&b, "public_url: %s\nauth: {keys: [{name: demo, sha256: %s, roles: [send, read, operate]}]}\n", d.service.url, hashOf(d.service.key))
	}
	b.WriteString("providers:\n")
	channels := map[string][]string{}
	for _, k := range kinds {
		url := d.ours[k.provider].url
		change := strings.NewReplacer("URL", url, "CREDENTIALS", toJSON(fake.ServiceAccount(url+fake.TokenPath)), "SECRET", fake.SvixSecret)
		fmt.Fprintf(&b, "  %s: %s\n", k.provider, change.Replace(k.settings))
		channels[k.channel] = append(channels[k.channel], k.provider)
	}
	b.WriteString("channels:\n")
	for _, channel := range []string{"sms", "email", "push"} {
		fmt.Fprintf(&b, "  %s: {providers: [%s], timeout: %s, retry: [500ms, 1s, 2s, 4s]}\n", channel, strings.Join(channels[channel], ", "), timeout)
	}
	return os.WriteFile(d.service.config, []byte(b.String()), 0o600)
}

// outage makes a provider refuse everything on both sides, or work again.
func (d *day) outage(name string, off bool) {
	behaviour := fake.Behaviour("")
	if off {
		behaviour = fake.Throttle
	}
	d.ours[name].Behave(behaviour)
	d.theirs[name].Behave(behaviour)
}

// close ends what Run started.
func (d *day) close() {
	_ = d.service.stop()
	for _, side := range []map[string]*provider{d.ours, d.theirs} {
		for _, p := range side {
			_ = p.Close()
		}
	}
}

// scaled is how long a time of the script takes.
func (d *day) scaled(at time.Duration) time.Duration {
	return time.Duration(float64(at) / float64(openFor) * float64(d.length))
}
