package ledger_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// resend presses the button on a row in the version that it has now.
func (r *rig) resend(n ledger.Notification, accept bool) (ledger.Notification, error) {
	child, err := r.ledger.Resend(context.Background(), ledger.Act{ID: n.ID, Reason: "customer asked", Actor: "ops", IfMatch: r.row(n).Version}, accept)
	synctest.Wait()
	return child, err
}

// paused keeps everything that is claimed from being sent.
func (r *rig) pause(name string) {
	r.t.Helper()
	if _, err := r.ledger.Pause(context.Background(), name, "ops", "test"); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

// Resend is allowed where nothing more happens by itself, and for an unknown. Where a first message may have left, whatever the
// state says, a second one has to be accepted.
func TestResend_StatesThatAllowIt(t *testing.T) {
	lostOne := func(r *rig) ledger.Notification {
		r.scripts["a"].then(lost)
		return r.claim("e1")
	}
	act := func(r *rig, n ledger.Notification, action ledger.Cause) ledger.Notification {
		out, err := r.act(n, ledger.Act{Action: action})
		if err != nil {
			r.t.Fatal(err)
		}
		return out
	}
	sentAgain := func(r *rig) { // by a policy, which leaves maybe_sent
		r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousSendAgain, time.Minute })
	}
	releasedAndStuck := func(r *rig) ledger.Notification {
		n := lostOne(r)
		r.pause("a")
		r.advance(2 * time.Minute)
		return r.expect(n, ledger.StateClaimed, ledger.ReasonReleased).Notification
	}
	for name, c := range map[string]struct {
		set    func(*rig)
		parent func(*rig) ledger.Notification
		state  ledger.State
		accept bool // is needed
		no     bool
	}{
		"sent":      {nil, func(r *rig) ledger.Notification { return r.claim("e1") }, ledger.StateSent, false, false},
		"failed":    {func(r *rig) { r.scripts["a"].then(rejected) }, func(r *rig) ledger.Notification { return r.claim("e1") }, ledger.StateFailed, false, false},
		"ambiguous": {nil, lostOne, ledger.StateAmbiguous, true, false},
		"abandoned": {nil, func(r *rig) ledger.Notification { return act(r, lostOne(r), ledger.CauseAbandon) }, ledger.StateFailed, true, false},
		"expired": {nil, func(r *rig) ledger.Notification {
			r.pause("a")
			n := r.claim("e1")
			r.advance(73 * time.Hour)
			return n
		}, ledger.StateExpired, false, false},
		"expired, maybe sent": {sentAgain, func(r *rig) ledger.Notification {
			n := releasedAndStuck(r)
			r.advance(73 * time.Hour)
			return n
		}, ledger.StateExpired, true, false},
		"cancelled": {nil, func(r *rig) ledger.Notification {
			r.pause("a")
			return act(r, r.claim("e1"), ledger.CauseCancel)
		}, ledger.StateCancelled, false, false},
		"cancelled, maybe sent": {sentAgain, func(r *rig) ledger.Notification { return act(r, releasedAndStuck(r), ledger.CauseCancel) }, ledger.StateCancelled, true, false},
		"claimed": {nil, func(r *rig) ledger.Notification {
			r.pause("a")
			return r.claim("e1")
		}, ledger.StateClaimed, false, true},
		"held": {nil, func(r *rig) ledger.Notification {
			r.pause("a")
			return act(r, r.claim("e1"), ledger.CauseHold)
		}, ledger.StateHeld, false, true},
		"sending": {func(r *rig) { r.scripts["a"].thenDo(hang) }, func(r *rig) ledger.Notification { return r.claim("e1") }, ledger.StateSending, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.set, func(t *testing.T, r *rig) {
				parent := r.row(c.parent(r))
				if parent.State != c.state || parent.MaybeSent != c.accept {
					t.Fatalf("the parent is %s, maybe_sent %t", parent.State, parent.MaybeSent)
				}
				if c.accept {
					if _, err := r.resend(parent.Notification, false); !errors.Is(err, ledger.ErrNeedAccept) {
						t.Errorf("without a word: %v", err)
					}
				}
				child, err := r.resend(parent.Notification, c.accept)
				var state *ledger.StateError
				if c.no {
					if !errors.As(err, &state) || len(r.row(parent.Notification).Resends) != 0 {
						t.Errorf("got %v", err)
					}
					return
				}
				if err != nil || child.ResendOf != parent.ID || child.DedupeKey != ledger.ResendKey(parent.DedupeKey, 1) || child.MaybeSent {
					t.Fatalf("%+v, %v", child, err)
				}
				after := r.row(parent.Notification)
				if after.State != c.state || after.Version != parent.Version+1 || after.NextAction != parent.NextAction || len(after.Resends) != 1 || after.Resends[0] != child.ID {
					t.Errorf("the parent is %s in version %d, next %q, resends %v", after.State, after.Version, after.NextAction, after.Resends)
				}
			})
		})
	}
}

// A resend is meant: it is no duplicate of its parent in any count, whichever of the two is proven, and in whatever order.
func TestResend_IsNoAccidentalDuplicate(t *testing.T) {
	for name, order := range map[string][2]int{"parent first": {0, 1}, "child first": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(r *rig) { r.settings.NearDuplicate.Window = 10 * time.Minute }, func(t *testing.T, r *rig) {
				r.scripts["a"].then(lost)
				parent := r.claim("e1")
				r.scripts["a"].then(accepted("m2"))
				child, err := r.resend(parent, true)
				if err != nil {
					t.Fatal(err)
				}
				proofs := []ledger.Receipt{receipt(parent, 1, "delivered", ledger.Delivered), receipt(child, 1, "delivered", ledger.Delivered)}
				proofs[0].MessageID, proofs[1].MessageID = "m1", "m2"
				for _, i := range order {
					r.prove(proofs[i])
				}
				again, err := r.ledger.Claim(context.Background(), event("e1"))
				if err != nil || !again.Duplicate || again.Notification.ID != parent.ID {
					t.Errorf("the event again finds %+v, %v", again.Notification, err)
				}
				if err := r.ledger.Flush(); err != nil {
					t.Fatal(err)
				}
				p, c := r.expect(parent, ledger.StateSent, ledger.ReasonProof), r.expect(child, ledger.StateSent, "")
				if len(p.Receipts) != 1 || len(c.Receipts) != 1 || p.MessageID != "m1" || c.MessageID != "m2" || len(p.Settlements) != 2 || len(c.Settlements) != 0 {
					t.Errorf("parent %+v\nchild %+v", p, c)
				}
				if p.Duplicates != 1 || c.Duplicates != 0 || c.SuspectedOf != (ledger.Notification{}).ID {
					t.Errorf("suppressed %d and %d, suspected %s", p.Duplicates, c.Duplicates, c.SuspectedOf)
				}
				s, err := r.ledger.Stats(context.Background())
				if err != nil || s.ProvenTwice != 0 || s.Shared != 0 || s.Duplicates != 1 {
					t.Errorf("counts %+v, %v", s, err)
				}
			})
		})
	}
}

// Resends of one row are numbered, and a resend of a resend is its own parent's.
func TestResend_OrdinalsAndChains(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		parent := r.claim("e1", func(e *ledger.Event) { e.DedupeKey, e.Source = "brought", "shop" })
		var children []ledger.Notification
		for n := 1; n <= 3; n++ {
			child, err := r.resend(parent, false)
			if err != nil || child.DedupeKey != ledger.ResendKey("brought", n) || child.Source != "shop" {
				t.Fatalf("resend %d: %+v, %v", n, child, err)
			}
			children = append(children, child)
		}
		grandchild, err := r.resend(children[0], false)
		if err != nil || grandchild.ResendOf != children[0].ID || grandchild.DedupeKey != ledger.ResendKey(children[0].DedupeKey, 1) {
			t.Fatalf("%+v, %v", grandchild, err)
		}
		if got := r.row(parent).Resends; len(got) != 3 || got[0] != children[0].ID || got[2] != children[2].ID {
			t.Errorf("the parent names %v", got)
		}
		keys := map[string]bool{}
		for _, c := range r.scripts["a"].sent() {
			keys[c.WireKey] = true
		}
		if len(keys) != 5 { // else the provider takes a wanted message for a repeat
			t.Errorf("5 messages under %d keys at the provider", len(keys))
		}
	})
}

// However many press at once on what they all saw, one message leaves; who presses again on what they see then makes a second.
func TestResend_PressedAtOnce(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		parent := r.row(r.claim("e1"))
		var mu sync.Mutex
		var made, late int
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				_, err := r.ledger.Resend(context.Background(), ledger.Act{ID: parent.ID, Reason: "customer asked", Actor: "ops", IfMatch: parent.Version}, false)
				var version *ledger.VersionError
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					made++
				case errors.As(err, &version) && version.Existing.Version == parent.Version+1:
					late++
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		r.advance(time.Millisecond) // the writer waits a moment for company after a crowd
		if made != 1 || late != 29 || len(r.scripts["a"].sent()) != 2 {
			t.Errorf("%d rows, %d refusals, %d messages", made, late, len(r.scripts["a"].sent()))
		}
		if _, err := r.ledger.Resend(context.Background(), ledger.Act{ID: parent.ID, Reason: "customer asked", Actor: "ops"}, false); !errors.Is(err, ledger.ErrIfMatch) {
			t.Errorf("without having looked: %v", err)
		}
	})
}
