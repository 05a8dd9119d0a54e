package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

// Keeps out that rows of a channel that has no other provider stand before those of one that has.
func TestLoop_BacklogOfOneChannelHoldsNoOtherAtAClosedGate(t *testing.T) {
	bubble(t, func(r *rig) {
		r.scripts["a"].channels = []ledger.Channel{ledger.SMS, ledger.Email}
		r.use(newScript("mail", ledger.Email))
		r.settings.Channels[ledger.Email] = ledger.ChannelSettings{Providers: []string{"a", "mail"}, Timeout: time.Second, ExpiresAfter: time.Hour}
	}, func(t *testing.T, r *rig) {
		if _, err := r.ledger.Pause(context.Background(), "a", "ops", "contract ended"); err != nil {
			t.Fatal(err)
		}
		r.backlog(1000, time.Now().Add(-time.Minute))
		n := r.claim("e1", func(e *ledger.Event) {
			e.Channel, e.Recipient, e.Message = ledger.Email, "a@example.test", []byte(`{"subject":"s","text":"t"}`)
		})
		r.advance(2 * time.Minute)
		if rec := r.expect(n, ledger.StateSent, ""); rec.Provider != "mail" {
			t.Errorf("sent by %s", rec.Provider)
		}
	})
}

// A row that one provider put off and another one cannot take now goes back to the first, as if both had put it off.
func TestLoop_RowTriedElsewhereIsNotStuckAtAClosedGate(t *testing.T) {
	bubble(t, func(r *rig) {
		twoProviders(r)
		r.scripts["b"].workers = 1
	}, func(t *testing.T, r *rig) {
		a, b := r.scripts["a"], r.scripts["b"]
		a.then(deferred)
		b.thenDo(after(10*time.Second, accepted("")))
		var rows []ledger.Notification
		for i := range 3 {
			rows = append(rows, r.claim(fmt.Sprint("e", i)))
		}
		if _, err := r.ledger.Pause(context.Background(), "b", "ops", "contract ended"); err != nil {
			t.Fatal(err)
		}
		r.advance(11 * time.Second) // the one that b has ends
		a.then(accepted(""))
		r.advance(5 * time.Minute)
		for _, n := range rows {
			r.expect(n, ledger.StateSent, "")
		}
	})
}
