package ledger_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

func (r *rig) view(name string) ledger.ProviderView {
	r.t.Helper()
	list, err := r.ledger.ProviderViews(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	r.t.Fatalf("no provider %s", name)
	return ledger.ProviderView{}
}

func TestProviderViews_ShowsWorkAndItsTimes(t *testing.T) {
	bubble(t, func(r *rig) {
		r.scripts["a"].workers, r.scripts["a"].rate = 2, 50
	}, func(t *testing.T, r *rig) {
		answer := make(chan struct{})
		r.scripts["a"].thenDo(func(context.Context, *call) ledger.Result {
			<-answer
			return accepted("")
		})
		for _, id := range []string{"e1", "e2", "e3"} {
			r.claim(id)
		}
		r.advance(200 * time.Millisecond)
		if v := r.view("a"); v.InFlight != 2 || v.Workers != 2 || v.Rate != 50 || v.Waiting != 1 || v.Hour.Attempts() != 0 || v.Missing {
			t.Errorf("at work: %+v", v)
		}
		close(answer)
		synctest.Wait()
		r.advance(time.Second)
		v := r.view("a")
		if v.InFlight != 0 || v.Waiting != 0 || v.Hour != (ledger.Counts{Claims: 3, Accepted: 3}) {
			t.Errorf("afterwards: %+v", v)
		}
		if v.Latency.Answers != 3 || v.Latency.P50 < 160*time.Millisecond || v.Latency.P50 > 250*time.Millisecond || v.Latency.P99 < v.Latency.P50 {
			t.Errorf("answers took %+v", v.Latency)
		}
	})
}

func TestProviderViews_SaysSinceWhenAndWhy(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		if g := r.view("a").Gate; g.State != "open" || !g.Since.IsZero() {
			t.Errorf("open: %+v", g)
		}
		r.scripts["a"].then(credentials)
		r.claim("e1")
		closed := r.view("a").Gate
		if closed.State != "paused" || closed.Since.IsZero() || !closed.ByItself() {
			t.Errorf("closed by itself: %+v", closed)
		}
		r.advance(time.Minute) // probes go on failing
		if g := r.view("a").Gate; !g.Since.Equal(closed.Since) || !g.Until.After(closed.Until) {
			t.Errorf("a minute later: %+v, it closed as %+v", g, closed)
		}
		if _, err := r.ledger.Pause(t.Context(), "a", "ops", "they move house"); err != nil {
			t.Fatal(err)
		}
		if g := r.view("a").Gate; g.By != "ops" || g.Reason != "they move house" || !g.Since.After(closed.Since) || g.ByItself() {
			t.Errorf("paused: %+v", g)
		}
	})
}

// box is a provider that lets nothing leave.
type box struct {
	*script
	printed []ledger.Printed
}

func (b box) Printed() []ledger.Printed { return b.printed }

func TestMailbox_IsWhatDidNotLeave(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	bubble(t, func(r *rig) {
		b, c := newScript("b"), newScript("c")
		b.disguise = func(s *script) ledger.Provider {
			return box{s, []ledger.Printed{{MessageID: "b1", At: at}, {MessageID: "b2", At: at.Add(2 * time.Second)}}}
		}
		c.disguise = func(s *script) ledger.Provider {
			return box{s, []ledger.Printed{{MessageID: "c1", At: at.Add(time.Second)}}}
		}
		r.use(b, c)
	}, func(t *testing.T, r *rig) {
		list, ok := r.ledger.Mailbox()
		if !ok || len(list) != 3 || list[0].MessageID != "b2" || list[0].Provider != "b" || list[1].MessageID != "c1" || list[2].MessageID != "b1" {
			t.Errorf("%+v, %t", list, ok)
		}
	})
	bubble(t, nil, func(t *testing.T, r *rig) {
		if list, ok := r.ledger.Mailbox(); ok || len(list) != 0 {
			t.Errorf("a provider that sends has a mailbox: %+v", list)
		}
	})
}
