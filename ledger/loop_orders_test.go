package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sendonce/ledger"
)

// fate is what a row's reports must lead to, whatever their order: all of it but times and history.
type fate struct {
	State     ledger.State
	Reason    ledger.Reason
	MaybeSent bool
	Next      ledger.NextAction
	Delivery  ledger.Delivery
	MessageID string
	Attempts  int
	Receipts  int
}

func (r *rig) fate(n ledger.Notification) fate {
	rec := r.row(n)
	return fate{rec.State, rec.Reason, rec.MaybeSent, rec.NextAction, rec.Delivery, rec.MessageID, rec.AttemptCount, len(rec.Receipts)}
}

// reportsOf are the reports of one message: some with our reference, some with the message id, some with both.
func reportsOf(n ledger.Notification) (list []ledger.Receipt) {
	id := "m-" + n.EventID
	for i, d := range []ledger.Delivery{ledger.Queued, ledger.PassedOn, ledger.Delayed, ledger.Delivered, ledger.NoDelivery, ledger.Bounced} {
		rc := receipt(n, 1, fmt.Sprint(i, d), d)
		switch i % 3 {
		case 0:
			rc.MessageID = id
		case 1:
			rc.ID, rc.Number, rc.MessageID = ledger.Receipt{}.ID, 0, id
		}
		list = append(list, rc)
	}
	return list
}

// F27, F28: the reports of one message, in any order and any number, before and after its answer, in bodies of any size, end in one
// and the same row. The version does not move with them once the row is sent.
func TestReceive_EveryOrderEndsInOneRow(t *testing.T) {
	results := map[string]ledger.Result{"lost": lost, "accepted": accepted(""), "deferred": deferred}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			bubble(t, reports, func(t *testing.T, r *rig) {
				want := fate{State: ledger.StateSent, Reason: ledger.ReasonProof, Delivery: ledger.Bounced, Attempts: 1, Receipts: 6}
				if result.Outcome == ledger.Accepted {
					want.Reason = ""
				}
				events := 0
				rapid.Check(struct{ rapid.TB }{t}, func(rt *rapid.T) { // a bubble lets nobody ask for its deadline
					events++
					r.scripts["a"].thenDo(after(10*time.Second, result))
					n := r.claim(fmt.Sprint(name, events))
					list := rapid.Permutation(reportsOf(n)).Draw(rt, "order")
					for i := range rapid.IntRange(0, 6).Draw(rt, "repeats") {
						list = append(list, list[rapid.IntRange(0, len(list)-1).Draw(rt, fmt.Sprint("again", i))])
					}
					answered := rapid.IntRange(0, len(list)).Draw(rt, "answer before")
					for i := 0; i < len(list); {
						size := rapid.IntRange(1, len(list)-i).Draw(rt, "body")
						if i <= answered && answered < i+size {
							r.advance(11 * time.Second)
						}
						r.receive(list[i : i+size]...)
						i += size
					}
					r.advance(11 * time.Second)
					want.MessageID = "m-" + n.EventID
					if got := r.fate(n); got != want {
						rt.Fatalf("got  %+v\nwant %+v", got, want)
					}
					version := r.row(n).Version
					r.receive(list...)
					if got := r.row(n); got.Version != version || len(r.scripts["a"].of(n)) != 1 {
						rt.Fatalf("version %d, was %d; %d requests", got.Version, version, len(r.scripts["a"].of(n)))
					}
				})
				if st := r.stats(); st.ProvenTwice != 0 || st.Unmatched != 0 {
					t.Errorf("%+v", st)
				}
			})
		})
	}
}

// A proof leads from every state to sent, and nothing is sent any more.
func TestReceive_ProvesFromEveryState(t *testing.T) {
	for name, c := range map[string]struct {
		result ledger.Result
		then   func(r *rig, n ledger.Notification)
		state  ledger.State
	}{
		"ambiguous": {lost, nil, ledger.StateAmbiguous},
		"released": {lost, func(r *rig, n ledger.Notification) {
			if _, err := r.ledger.Pause(context.Background(), "a", "ops", "test"); err != nil {
				r.t.Fatal(err)
			}
			r.release(n)
		}, ledger.StateClaimed},
		"held":      {deferred, func(r *rig, n ledger.Notification) { r.must(n, ledger.CauseHold) }, ledger.StateHeld},
		"deferred":  {deferred, nil, ledger.StateClaimed},
		"rejected":  {rejected, nil, ledger.StateFailed},
		"abandoned": {lost, func(r *rig, n ledger.Notification) { r.must(n, ledger.CauseAbandon) }, ledger.StateFailed},
		"cancelled": {deferred, func(r *rig, n ledger.Notification) { r.must(n, ledger.CauseCancel) }, ledger.StateCancelled},
		"expired": {deferred, func(r *rig, n ledger.Notification) {
			r.must(n, ledger.CauseHold)
			r.advance(3 * time.Hour)
		}, ledger.StateExpired},
		"unknown too long": {lost, func(r *rig, n ledger.Notification) { r.advance(3 * time.Hour) }, ledger.StateFailed},
		"sent":             {accepted("m1"), nil, ledger.StateSent},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, reports, func(t *testing.T, r *rig) {
				r.scripts["a"].then(c.result)
				n := r.claim("e1", func(e *ledger.Event) { e.ExpiresAt = time.Now().Add(2 * time.Hour) })
				if c.then != nil {
					c.then(r, n)
				}
				if got := r.row(n); got.State != c.state {
					t.Fatalf("the row is %s", got.State)
				}
				calls := len(r.scripts["a"].sent())
				rc := receipt(n, 1, "undelivered", ledger.Undelivered)
				rc.MessageID = "m1"
				r.receive(rc)
				rec := r.row(n)
				if rec.State != ledger.StateSent || rec.MaybeSent || rec.Delivery != ledger.Undelivered || rec.MessageID != "m1" || rec.ConfirmedAt.IsZero() {
					t.Errorf("%+v", rec.Notification)
				}
				_, _ = r.ledger.Resume(context.Background(), "a", "ops")
				r.scripts["a"].then(accepted("m2"))
				r.advance(5 * time.Hour)
				if got := len(r.scripts["a"].sent()); got != calls || r.stats().ProvenTwice != 0 {
					t.Errorf("%d requests after the proof, %d before", got, calls)
				}
			})
		})
	}
}

// must settles a row as a person, who must be allowed to.
func (r *rig) must(n ledger.Notification, action ledger.Cause) {
	r.t.Helper()
	if _, err := r.act(n, ledger.Act{Action: action}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) release(n ledger.Notification) {
	r.t.Helper()
	if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(n).Version}); err != nil {
		r.t.Fatal(err)
	}
}

// A receipt of the first attempt is never taken for the second, however it names the first and wherever the second stands.
func TestReceive_OfTheFirstAttemptIsNotOfTheSecond(t *testing.T) {
	partial := ledger.Result{Outcome: ledger.Ambiguous, Reason: ledger.ReasonPartial, Phase: ledger.Answered, Status: 200, MessageIDs: []string{"m1"}}
	byReference := func(n ledger.Notification) ledger.Receipt { return receipt(n, 1, "delivered", ledger.Delivered) }
	byID := func(n ledger.Notification) ledger.Receipt {
		rc := byReference(n)
		rc.ID, rc.Number, rc.MessageID = ledger.Receipt{}.ID, 0, "m1"
		return rc
	}
	for name, of := range map[string]func(ledger.Notification) ledger.Receipt{"by reference": byReference, "by message id": byID} {
		for second, c := range map[string]struct {
			result ledger.Result
			open   bool // the second is still on its way when the receipt comes
			reason ledger.Reason
			twice  int64
		}{
			"open, then accepted": {accepted("m2"), true, "", 1}, "accepted": {accepted("m2"), false, "", 1},
			"open, then deferred": {deferred, true, ledger.ReasonProof, 0}, "deferred": {deferred, false, ledger.ReasonProof, 0},
			"open, then lost": {lost, true, ledger.ReasonProof, 0}, "lost": {lost, false, ledger.ReasonProof, 0},
			"open, then rejected": {rejected, true, ledger.ReasonProof, 0},
		} {
			t.Run(name+", "+second, func(t *testing.T) {
				bubble(t, reports, func(t *testing.T, r *rig) {
					r.scripts["a"].then(partial)
					n := r.claim("e1")
					r.scripts["a"].thenDo(after(time.Second, c.result))
					r.release(n)
					if !c.open {
						r.advance(2 * time.Second)
					}
					r.receive(of(n))
					r.advance(5 * time.Hour)
					rec := r.expect(n, ledger.StateSent, c.reason)
					if len(rec.Receipts) != 1 || rec.Receipts[0].Number != 1 || rec.AttemptCount != 2 {
						t.Errorf("%d attempts, receipts %+v", rec.AttemptCount, rec.Receipts)
					}
					if st := r.stats(); st.ProvenTwice != c.twice {
						t.Errorf("%d proven duplicates, want %d", st.ProvenTwice, c.twice)
					}
				})
			})
		}
	}
}

// A release, then the late receipt before the second send: the second send does not happen, not even when the loop has the row
// in its hands.
func TestReceive_BeforeTheSecondSend(t *testing.T) {
	bubble(t, func(r *rig) {
		reports(r)
		r.scripts["a"].rate = 0.01 // the released row waits for the rate in memory
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		r.scripts["a"].then(accepted("m2"))
		r.release(n)
		r.advance(10 * time.Second)
		r.expect(n, ledger.StateClaimed, ledger.ReasonReleased)
		r.receive(receipt(n, 1, "undelivered", ledger.Undelivered))
		r.advance(time.Hour)
		if rec := r.expect(n, ledger.StateSent, ledger.ReasonProof); rec.AttemptCount != 1 || len(r.scripts["a"].sent()) != 1 {
			t.Errorf("%d attempts, %d requests", rec.AttemptCount, len(r.scripts["a"].sent()))
		}
	})
}
