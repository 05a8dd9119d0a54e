package ledger_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// ask claims with Prefer: wait and returns the answer with the time that it took.
func (r *rig) ask(wait time.Duration, id string, change ...func(*ledger.Event)) (ledger.Notification, time.Duration) {
	r.t.Helper()
	e := event(id, change...)
	e.Wait = true
	began := time.Now()
	res, err := r.ledger.Claim(context.Background(), e)
	if err != nil {
		r.t.Fatal(err)
	}
	n := r.ledger.Wait(context.Background(), res.Notification, wait, nil)
	return n, time.Since(began)
}

func TestWait_ReturnsAtTheFirstAttemptsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		result ledger.Result
		state  ledger.State
	}{
		"accepted": {accepted("m1"), ledger.StateSent}, "rejected": {rejected, ledger.StateFailed},
		"deferred": {deferred, ledger.StateClaimed}, "lost": {lost, ledger.StateAmbiguous}, "unreachable": {unreachable, ledger.StateClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.scripts["a"].thenDo(after(2*time.Second, c.result))
				n, took := r.ask(30*time.Second, "e1")
				if n.State != c.state || n.AttemptCount != 1 || took < 2*time.Second || took > 2100*time.Millisecond {
					t.Errorf("%s after %d attempts and %v", n.State, n.AttemptCount, took)
				}
			})
		})
	}
}

func TestWait_EndsWithItsTime(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(10*time.Second, accepted("")))
		n, took := r.ask(3*time.Second, "e1")
		if n.State != ledger.StateSending || took != 3*time.Second {
			t.Errorf("%s after %v", n.State, took)
		}
		r.advance(8 * time.Second)
		r.expect(n, ledger.StateSent, "")
	})
}

// A service that stops ends the waiting, not the attempt.
func TestWait_EndsWithTheService(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(10*time.Second, accepted("")))
		e := event("e1")
		e.Wait = true
		res, err := r.ledger.Claim(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		began, stop := time.Now(), make(chan struct{})
		time.AfterFunc(2*time.Second, func() { close(stop) })
		if n := r.ledger.Wait(t.Context(), res.Notification, 30*time.Second, stop); n.State != ledger.StateSending || time.Since(began) != 2*time.Second {
			t.Errorf("%s after %v", n.State, time.Since(began))
		}
		r.advance(9 * time.Second)
		r.expect(res.Notification, ledger.StateSent, "")
	})
}

func TestWait_KnownRowWaitsForTheRunningAttempt(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(10*time.Second, accepted("")))
		r.claim("e1")
		r.advance(4 * time.Second)
		n, took := r.ask(30*time.Second, "e1")
		if n.State != ledger.StateSent || took < 6*time.Second || took > 6100*time.Millisecond || n.Duplicates != 1 {
			t.Errorf("%s after %v, %d duplicates", n.State, took, n.Duplicates)
		}
		n, took = r.ask(30*time.Second, "e1")
		if n.State != ledger.StateSent || took != 0 || n.Duplicates != 2 {
			t.Errorf("a settled row: %s after %v, %d duplicates", n.State, took, n.Duplicates)
		}
		if got := len(r.scripts["a"].sent()); got != 1 {
			t.Errorf("%d requests: asking again never sends", got)
		}
	})
}

func TestWait_ManyCallersOneAttempt(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(2*time.Second, accepted("")))
		answers := make(chan ledger.Notification, 20)
		for range 20 {
			go func() {
				n, _ := r.ask(30*time.Second, "e1")
				answers <- n
			}()
		}
		for range 20 {
			if n := <-answers; n.State != ledger.StateSent {
				t.Errorf("a caller was told %s", n.State)
			}
		}
		if got := len(r.scripts["a"].sent()); got != 1 {
			t.Errorf("%d requests", got)
		}
	})
}

// F04: a caller that hangs up changes nothing, neither right after the claim nor during the attempt.
func TestWait_CallerThatGoesAwayChangesNothing(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.scripts["a"].thenDo(after(500*time.Millisecond, accepted("m1")))
		ctx, hangUp := context.WithCancel(context.Background())
		e := event("e1")
		e.Wait = true
		res, err := r.ledger.Claim(ctx, e)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan ledger.Notification, 1)
		go func() { done <- r.ledger.Wait(ctx, res.Notification, 30*time.Second, nil) }()
		r.advance(100 * time.Millisecond)
		hangUp()
		if n := <-done; n.State != ledger.StateSending {
			t.Errorf("the caller that left was told %s", n.State)
		}
		r.advance(time.Second)
		if rec := r.expect(res.Notification, ledger.StateSent, ""); rec.MessageID != "m1" {
			t.Errorf("message id %q", rec.MessageID)
		}

		r.scripts["a"].thenDo(after(500*time.Millisecond, accepted("m2")))
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := r.ledger.Claim(gone, event("e2")); err == nil {
			synctest.Wait()
		}
		again := r.claim("e2") // whatever became of the first request, the same one again is safe
		r.advance(time.Second)
		r.expect(again, ledger.StateSent, "")
		if got := len(r.scripts["a"].of(again)); got != 1 {
			t.Errorf("%d requests", got)
		}
	})
}

// Waiting for what nobody will do soon would only hold a connection.
func TestWait_ScheduledAndHeldRowsComeBackAtOnce(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		if n, took := r.ask(30*time.Second, "later", sendIn(time.Hour)); n.State != ledger.StateClaimed || took != 0 {
			t.Errorf("a scheduled row: %s after %v", n.State, took)
		}
		n := r.claim("held", sendIn(time.Minute))
		r.act(n, ledger.Act{Action: ledger.CauseHold})
		if n, took := r.ask(30*time.Second, "held"); n.State != ledger.StateHeld || took != 0 {
			t.Errorf("a held row: %s after %v", n.State, took)
		}
		if n, took := r.ask(30*time.Second, "soon", sendIn(5*time.Second)); n.State != ledger.StateSent || took < 5*time.Second {
			t.Errorf("a row of in five seconds: %s after %v", n.State, took)
		}
	})
}

func TestWait_CancelEndsIt(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		if _, err := r.ledger.Pause(context.Background(), "a", "ops", "test"); err != nil {
			t.Fatal(err)
		}
		done := make(chan ledger.Notification, 1)
		go func() {
			n, _ := r.ask(30*time.Second, "e1")
			done <- n
		}()
		synctest.Wait()
		n := r.claim("e1")
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseCancel}); err != nil {
			t.Fatal(err)
		}
		if n := <-done; n.State != ledger.StateCancelled {
			t.Errorf("told %s", n.State)
		}
	})
}
