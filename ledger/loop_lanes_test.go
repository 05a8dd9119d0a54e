package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

// backlog claims many events straight through the store, as a restart or a full memory would leave them.
func (r *rig) backlog(rows int, due time.Time) {
	r.t.Helper()
	now := time.Now()
	for made := 0; made < rows; made += 5000 {
		claims := make([]ledger.Claim, 0, 5000)
		for i := made; i < min(rows, made+5000); i++ {
			c := ledger.Claim{Notification: ledger.Notification{
				DedupeKey: fmt.Sprintf("backlog-%d", i), Recipe: ledger.RecipeGiven, EventID: fmt.Sprint("b", i), Channel: ledger.SMS,
				Recipient: "+15550100001", RecipientKey: "+15550100001", Message: []byte(`{"text":"news"}`), Provider: "a", Lane: ledger.Normal,
				State: ledger.StateClaimed, NextAction: ledger.DoSend, DueAt: due, ExpiresAt: now.Add(72 * time.Hour),
				ClaimedAt: now, UpdatedAt: now, Version: 1,
			}}
			c.ContentHash = ledger.ContentHash(c.Channel, c.RecipientKey, c.Message)
			c.ID[0], c.ID[1], c.ID[2], c.ID[3] = byte(i>>24), byte(i>>16), byte(i>>8), byte(i)
			claims = append(claims, c)
		}
		if _, err := r.disk.Claim(claims); err != nil {
			r.t.Fatal(err)
		}
	}
}

// A one-time code never waits behind a newsletter.
func TestLoop_UrgentPassesABacklog(t *testing.T) {
	rows := 100_000
	if testing.Short() || raced {
		rows = 5_000
	}
	bubble(t, func(r *rig) { r.scripts["a"].rate = 10 }, func(t *testing.T, r *rig) {
		r.unchecked = true // a hundred thousand rows that nothing happens to
		r.backlog(rows, time.Now())
		r.stop()
		r.start() // the loop finds them
		r.advance(10 * time.Second)
		before := len(r.scripts["a"].sent())
		if before < 90 || before > 110 {
			t.Errorf("%d requests in ten seconds at 10/s", before)
		}
		for i := range 5 {
			code := r.claim(fmt.Sprint("code", i), func(e *ledger.Event) { e.Lane = "urgent" })
			r.advance(time.Second)
			r.expect(code, ledger.StateSent, "")
		}
		normal := r.claim("normal")
		r.advance(10 * time.Second)
		r.expect(normal, ledger.StateClaimed, "")
	})
}

// F13: what is overdue at a start leaves at the configured rate and no faster; missed time is not made up.
func TestLoop_OverdueRowsKeepTheRate(t *testing.T) {
	bubble(t, func(r *rig) { r.scripts["a"].rate, r.scripts["a"].workers = 10, 4 }, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.thenDo(func(ctx context.Context, _ *call) ledger.Result {
			time.Sleep(200 * time.Millisecond)
			return accepted("")
		})
		r.stop()
		r.open()
		r.backlog(2000, time.Now().Add(-time.Hour))
		r.advance(time.Hour) // the laptop slept
		r.run()
		r.advance(201 * time.Second)
		calls := a.sent()
		if len(calls) < 1990 {
			t.Errorf("%d requests in 200 s at 10/s", len(calls))
		}
		if a.most > 4 {
			t.Errorf("%d requests at the same time with 4 workers", a.most)
		}
		for i := 11; i < len(calls); i++ {
			if d := calls[i].at.Sub(calls[i-11].at); d < 990*time.Millisecond {
				t.Fatalf("twelve requests within %v", d)
			}
		}
		seen := map[string]bool{}
		for _, c := range calls {
			if seen[c.ID] {
				t.Fatalf("row %s was sent twice", c.ID)
			}
			seen[c.ID] = true
		}
	})
}

func TestLoop_WorkersBoundWhatIsInFlight(t *testing.T) {
	bubble(t, func(r *rig) { r.scripts["a"].workers = 3 }, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		free := make(chan struct{})
		a.thenDo(func(ctx context.Context, _ *call) ledger.Result {
			<-free
			return accepted("")
		})
		for i := range 10 {
			r.claim(fmt.Sprint("e", i))
		}
		if st, err := r.ledger.Stats(context.Background()); err != nil || st.States[ledger.StateSending] != 3 {
			t.Errorf("%d rows sending with 3 workers (%v): sending means in flight", st.States[ledger.StateSending], err)
		}
		close(free)
		r.advance(time.Second)
		if got := len(a.sent()); got != 10 || a.most != 3 {
			t.Errorf("%d sent, %d at the same time", got, a.most)
		}
	})
}
