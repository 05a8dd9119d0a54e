package ledger_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"sendonce/ledger"
	"sendonce/store"
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

// counting is a store that counts the readings of due rows.
type counting struct {
	*store.Store
	due atomic.Int64
}

func (s *counting) Due(ctx context.Context, q ledger.DueQuery) ([]ledger.Notification, error) {
	s.due.Add(1)
	return s.Store.Due(ctx, q)
}

// Keeps out that each row that joins a backlog at a shut gate makes the loop look through all of it.
func TestLoop_BacklogAtAShutGateIsNotReadForEachNewRow(t *testing.T) {
	var s *counting
	bubble(t, func(r *rig) {
		r.scripts["a"].channels = []ledger.Channel{ledger.SMS, ledger.Email}
		r.use(newScript("mail", ledger.Email))
		r.settings.Channels[ledger.Email] = ledger.ChannelSettings{Providers: []string{"a", "mail"}, Timeout: time.Second, ExpiresAfter: time.Hour}
		r.wrap = func(disk *store.Store) ledger.Store {
			s = &counting{Store: disk}
			return s
		}
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(unreachable)
		r.claim("first") // closes the gate
		r.advance(time.Millisecond)
		before := s.due.Load()
		var rows []ledger.Notification
		for i := range 50 {
			rows = append(rows, r.claim(fmt.Sprint("e", i)))
		}
		if got := s.due.Load() - before; got > 4 {
			t.Errorf("%d readings for 50 rows that wait", got)
		}
		r.scripts["a"].then(accepted(""))
		r.advance(6 * time.Second) // the probe
		for _, n := range rows {
			r.expect(n, ledger.StateSent, "")
		}
	})
}
