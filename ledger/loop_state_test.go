package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestState_AskedThreeTimesAndStoredOnce(t *testing.T) {
	stating(t, nil, func(t *testing.T, r *rig, s *stater) {
		n := r.claim("e1")
		r.advance(5 * time.Hour)
		wantAsks(t, s, "[1m0s 10m0s 1h0m0s]")
		rec := r.expect(n, ledger.StateSent, "")
		if rec.Delivery != ledger.PassedOn || len(rec.Receipts) != 1 || len(rec.Settlements) != 0 || rec.AttemptCount != 1 {
			t.Fatalf("%+v, receipts %+v, settlements %+v", rec.Notification, rec.Receipts, rec.Settlements)
		}
		if got := rec.Receipts[0]; got.Kind != "sent" || got.MessageID != "m-"+n.ID.String() || string(got.Body) != "sent" {
			t.Errorf("receipt %+v", got)
		}
	})
}

func TestState_NotAskedAgainOnceItIsKnown(t *testing.T) {
	for _, d := range []ledger.Delivery{ledger.Delivered, ledger.Undelivered, ledger.Bounced} {
		t.Run(string(d), func(t *testing.T) {
			stating(t, nil, func(t *testing.T, r *rig, s *stater) {
				s.says("end", d)
				n := r.claim("e1")
				r.advance(5 * time.Hour)
				wantAsks(t, s, "[1m0s]")
				if rec := r.expect(n, ledger.StateSent, ""); rec.Delivery != d {
					t.Errorf("delivery %q", rec.Delivery)
				}
			})
		})
	}
}

// An unknown word is kept and says nothing; a message that the provider does not know changes nothing; both are asked for again.
func TestState_WhatSaysNothing(t *testing.T) {
	for name, c := range map[string]struct {
		state    func(string) (ledger.Receipt, error)
		receipts int
	}{
		"a word":    {func(id string) (ledger.Receipt, error) { return ledger.Receipt{MessageID: id, Kind: "melted"}, nil }, 1},
		"not known": {func(string) (ledger.Receipt, error) { return ledger.Receipt{}, nil }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stating(t, nil, func(t *testing.T, r *rig, s *stater) {
				s.does(c.state)
				n := r.claim("e1")
				before := r.row(n).Version
				r.advance(5 * time.Hour)
				wantAsks(t, s, "[1m0s 10m0s 1h0m0s]")
				rec := r.expect(n, ledger.StateSent, "")
				if rec.Delivery != ledger.NoDelivery || len(rec.Receipts) != c.receipts || rec.Version != before {
					t.Errorf("%+v, receipts %+v", rec.Notification, rec.Receipts)
				}
			})
		})
	}
}

// Only what was accepted with an id is asked for: a lost answer and a refusal are not, nor a yes without an id.
func TestState_OnlyWhatHasAnID(t *testing.T) {
	for name, result := range map[string]ledger.Result{"lost": lost, "rejected": rejected, "no id": accepted("")} {
		t.Run(name, func(t *testing.T) {
			stating(t, func(_ *rig, s *stater) { s.then(result) }, func(t *testing.T, r *rig, s *stater) {
				r.claim("e1")
				r.advance(5 * time.Hour)
				wantAsks(t, s, "[]")
			})
		})
	}
}

// A failure lets the provider rest, longer each time, never touches the gate, and costs the message that turn.
func TestState_AFailureBacksOff(t *testing.T) {
	for name, c := range map[string]struct {
		state func(string) (ledger.Receipt, error)
		want  string
	}{
		"5xx": {func(string) (ledger.Receipt, error) {
			return ledger.Receipt{}, &ledger.LookUpError{Fault: ledger.FaultUnexpectedReply, Status: 503}
		}, "[1m0s 2m0s 4m0s 10m0s]"},
		"too many": {func(string) (ledger.Receipt, error) {
			return ledger.Receipt{}, &ledger.LookUpError{Fault: ledger.FaultThrottled, Status: 429, RetryAfter: 20 * time.Minute}
		}, "[1m0s 21m0s]"},
		"another message": {func(string) (ledger.Receipt, error) {
			return ledger.Receipt{MessageID: "m-other", Kind: "sent", Delivery: ledger.Bounced}, nil
		}, "[1m0s 2m0s 4m0s 10m0s]"},
		"panic": {func(string) (ledger.Receipt, error) { panic(errors.New("broken")) }, "[1m0s 2m0s 4m0s 10m0s]"},
	} {
		t.Run(name, func(t *testing.T) {
			stating(t, nil, func(t *testing.T, r *rig, s *stater) {
				s.does(c.state)
				for i := range 3 {
					r.claim(fmt.Sprint("e", i))
				}
				r.advance(11*time.Minute + 30*time.Second)
				if name == "too many" {
					r.advance(10 * time.Minute)
				}
				wantAsks(t, s, c.want)
				if g := r.gate("a"); g.State != "open" {
					t.Errorf("the gate is %+v", g)
				}
				n := r.claim("e9")
				if rec := r.expect(n, ledger.StateSent, ""); rec.Delivery != ledger.NoDelivery {
					t.Errorf("%+v", rec.Notification)
				}
			})
		})
	}
}

func TestState_LookUpOff(t *testing.T) {
	stating(t, func(_ *rig, s *stater) { s.at = nil }, func(t *testing.T, r *rig, s *stater) {
		r.claim("e1")
		r.advance(5 * time.Hour)
		wantAsks(t, s, "[]")
		if list := r.ledger.Providers()[0].Capabilities; len(list) != 0 {
			t.Errorf("uses %v", list)
		}
	})
}

func TestState_APersonsPause(t *testing.T) {
	stating(t, nil, func(t *testing.T, r *rig, s *stater) {
		r.claim("e1")
		if list := fmt.Sprint(r.ledger.Providers()[0].Capabilities); list != "[status_by_id]" {
			t.Errorf("uses %s", list)
		}
		if _, err := r.ledger.Pause(context.Background(), "a", "ops", "bill"); err != nil {
			t.Fatal(err)
		}
		r.advance(30 * time.Minute)
		wantAsks(t, s, "[]")
		if _, err := r.ledger.Resume(context.Background(), "a", "ops"); err != nil {
			t.Fatal(err)
		}
		r.advance(5 * time.Minute)
		wantAsks(t, s, "[31m0s]") // for the two turns that have come
	})
}

// What waits is memory: a restart forgets it. A call that runs is cut by the stop and holds it up no longer.
func TestState_ARestartForgets(t *testing.T) {
	stating(t, func(_ *rig, s *stater) { s.took = 30 * time.Second }, func(t *testing.T, r *rig, s *stater) {
		n := r.claim("e1")
		r.advance(70 * time.Second)
		stopping := time.Now()
		r.stop()
		if took := time.Since(stopping); took > time.Second {
			t.Errorf("the stop took %v", took)
		}
		r.start()
		r.advance(5 * time.Hour)
		wantAsks(t, s, "[1m0s]")
		if rec := r.expect(n, ledger.StateSent, ""); rec.Delivery != ledger.NoDelivery {
			t.Errorf("%+v", rec.Notification)
		}
	})
}

// What waits is bounded: the oldest goes, and one line tells.
func TestState_Bounded(t *testing.T) {
	log := &lines{}
	stating(t, func(r *rig, _ *stater) { r.log = log.logger() }, func(t *testing.T, r *rig, s *stater) {
		const more = 5
		s.does(func(string) (ledger.Receipt, error) { return ledger.Receipt{}, nil })
		first := r.claim("e1")
		for i := range ledger.StateRoom + more - 1 {
			r.ledger.NoteAccepted("a", fmt.Sprint("other-", i))
		}
		r.advance(2 * time.Minute)
		s.mu.Lock()
		for _, id := range s.ids {
			if id == "m-"+first.ID.String() || id == fmt.Sprint("other-", more-2) {
				t.Errorf("asked for %s", id)
			}
		}
		if s.ids[0] != fmt.Sprint("other-", more-1) || len(s.ids) > 5*60+1 {
			t.Errorf("%d calls, the first for %s", len(s.ids), s.ids[0])
		}
		s.mu.Unlock()
		if got := log.has("dropped=5"); got != 1 {
			t.Errorf("%d lines", got)
		}
	})
}
