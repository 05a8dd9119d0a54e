package ledger_test

import (
	"context"
	"os"
	"testing"
	"time"

	"sendonce/ledger"
)

// without starts the ledger anew with a configuration that lacks a provider.
func (r *rig) without(name string, channels map[ledger.Channel]ledger.ChannelSettings) {
	r.t.Helper()
	r.stop()
	for i, s := range r.list {
		if s.name == name {
			r.list = append(r.list[:i:i], r.list[i+1:]...)
			break
		}
	}
	r.settings.Channels = channels
	r.start()
}

// onlyB is the channel once provider a has gone.
func onlyB(r *rig) map[ledger.Channel]ledger.ChannelSettings {
	c := r.settings.Channels[ledger.SMS]
	c.Providers = []string{"b"}
	return map[ledger.Channel]ledger.ChannelSettings{ledger.SMS: c}
}

// A held row stands under no outlet when its provider goes. Let go, it would wait for one that nobody looks after.
func TestGone_UnheldRowTakesTheChannelsFirst(t *testing.T) {
	bubble(t, twoProviders, func(t *testing.T, r *rig) {
		n := r.claim("e1", func(e *ledger.Event) { e.SendAt = time.Now().Add(time.Hour) })
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseHold}); err != nil {
			t.Fatal(err)
		}
		r.without("a", onlyB(r))
		r.advance(2 * time.Hour)
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseUnhold}); err != nil {
			t.Fatal(err)
		}
		r.advance(2 * time.Minute)
		if rec := r.expect(n, ledger.StateSent, ""); rec.Provider != "b" {
			t.Errorf("sent by %s", rec.Provider)
		}
	})
}

// A released row of a webhook keeps its provider, which may have another name by now.
func TestGone_ReleasedWebhookTakesWhoAccepts(t *testing.T) {
	bubble(t, func(r *rig) {
		r.use(newScript("old", ledger.Webhook), newScript("new", ledger.Webhook))
		r.settings.Channels[ledger.Webhook] = ledger.ChannelSettings{Providers: []string{"old"}, Timeout: time.Second, ExpiresAfter: 72 * time.Hour}
		r.scripts["old"].then(rejected)
	}, func(t *testing.T, r *rig) {
		n := r.claim("e1", func(e *ledger.Event) {
			e.Channel, e.Recipient, e.Message = ledger.Webhook, "https://crm.example.test/x", []byte(`{"data":1}`)
		})
		r.expect(n, ledger.StateFailed, ledger.ReasonRejected)
		c := r.settings.Channels
		w := c[ledger.Webhook]
		w.Providers = []string{"new"}
		c[ledger.Webhook] = w
		r.without("old", c)
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease}); err != nil {
			t.Fatal(err)
		}
		r.advance(2 * time.Minute)
		if rec := r.expect(n, ledger.StateSent, ""); rec.Provider != "new" {
			t.Errorf("sent by %s", rec.Provider)
		}
	})
}

// A pinned row waits for its provider, and says so.
func TestGone_PinnedRowSaysWhyItWaits(t *testing.T) {
	bubble(t, twoProviders, func(t *testing.T, r *rig) {
		r.scripts["a"].then(rejected)
		n := r.claim("e1", func(e *ledger.Event) { e.Provider = "a" })
		r.without("a", onlyB(r))
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease}); err != nil {
			t.Fatal(err)
		}
		r.advance(2 * time.Minute)
		r.expect(n, ledger.StateClaimed, ledger.ReasonProviderMissing)
		r.advance(73 * time.Hour)
		r.expect(n, ledger.StateExpired, "")
	})
}

// A resend in a restored ledger waits as every new row does, and says so.
func TestRestored_ResendSaysWhyItWaits(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		r.stop()
		if err := os.Remove(r.path + ".lock"); err != nil {
			t.Fatal(err)
		}
		r.start()
		parent := r.row(n)
		child, err := r.ledger.Resend(context.Background(), ledger.Act{ID: n.ID, Reason: "r", Actor: "ops", IfMatch: parent.Version}, false)
		if err != nil {
			t.Fatal(err)
		}
		r.advance(time.Minute)
		r.expect(child, ledger.StateClaimed, ledger.ReasonRestored)
	})
}
