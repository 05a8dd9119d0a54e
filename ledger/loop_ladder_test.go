package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

// gaps are the times between the calls about a row.
func gaps(calls []*call) (list []time.Duration) {
	for i := 1; i < len(calls); i++ {
		list = append(list, calls[i].at.Sub(calls[i-1].at))
	}
	return list
}

func TestLoop_LadderEndsInExhausted(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(deferred)
		n := r.claim("e1")
		ladder := r.settings.Channels[ledger.SMS].Retry
		for range 10 {
			r.advance(time.Hour)
		}
		r.expect(n, ledger.StateFailed, ledger.ReasonExhausted)
		got := gaps(a.of(n))
		if len(got) != len(ladder) {
			t.Fatalf("%d waits, want %d", len(got), len(ladder))
		}
		for i, step := range ladder {
			if got[i] < step*8/10 || got[i] > step*12/10+10*time.Millisecond {
				t.Errorf("wait %d is %v, want %v ± 20 %%", i+1, got[i], step)
			}
		}
		if g := r.gate("a"); g.State != "open" {
			t.Errorf("a row's own deferrals moved the gate: %+v", g)
		}
	})
}

func TestLoop_WebhooksHaveALadderOfTheirOwn(t *testing.T) {
	steps := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour}
	bubble(t, func(r *rig) {
		r.use(newScript("hooks", ledger.Webhook), newScript("hooks2", ledger.Webhook))
		r.settings.Channels[ledger.Webhook] = ledger.ChannelSettings{
			Providers: []string{"hooks", "hooks2"}, Timeout: 15 * time.Second, ExpiresAfter: 72 * time.Hour, Retry: steps,
		}
		r.random = func() float64 { return 0.5 }
	}, func(t *testing.T, r *rig) {
		r.scripts["hooks"].then(deferred)
		n := r.claim("e1", func(e *ledger.Event) {
			e.Channel, e.Recipient, e.Message = ledger.Webhook, "https://crm.example.test/in", []byte(`{"data":{"a":1}}`)
		})
		r.advance(24 * time.Hour)
		r.expect(n, ledger.StateFailed, ledger.ReasonExhausted)
		for i, got := range gaps(r.scripts["hooks"].of(n)) {
			if d := got - steps[i]; d < 0 || d > 10*time.Millisecond {
				t.Errorf("wait %d is %v, want %v", i+1, got, steps[i])
			}
		}
		if got := len(r.scripts["hooks2"].sent()); got != 0 {
			t.Errorf("%d requests at another webhook provider: there is no fail-over", got)
		}
	})
}

func TestLoop_RetryAfterStretchesAStep(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{time.Second: 30 * time.Second, 10 * time.Minute: 10 * time.Minute, 48 * time.Hour: time.Hour} {
		t.Run(after.String(), func(t *testing.T) {
			bubble(t, func(r *rig) { r.random = func() float64 { return 0.5 } }, func(t *testing.T, r *rig) {
				res := deferred
				res.RetryAfter = after
				r.scripts["a"].then(res)
				n := r.claim("e1")
				if wait := r.row(n).DueAt.Sub(n.ClaimedAt); wait != want {
					t.Errorf("waits %v, want %v", wait, want)
				}
			})
		})
	}
}

// F13: rows that fail in the same second must not come back in the same second.
func TestLoop_RowsThatFailTogetherSpread(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].then(deferred)
		var rows []ledger.Notification
		for i := range 500 {
			rows = append(rows, r.claim(fmt.Sprint("e", i)))
		}
		var first, last time.Time
		seconds := map[int64]int{}
		for _, n := range rows {
			due := r.row(n).DueAt
			if first.IsZero() || due.Before(first) {
				first = due
			}
			if due.After(last) {
				last = due
			}
			seconds[due.Unix()]++
		}
		if spread := last.Sub(first); spread < 10*time.Second {
			t.Errorf("500 rows are due within %v of each other, want a third of the wait of 30 s", spread)
		}
		for s, n := range seconds {
			if n > 100 {
				t.Errorf("%d rows are due in second %d", n, s)
			}
		}
	})
}
