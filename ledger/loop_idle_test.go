package ledger_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

// claimMany claims n events, e0 and so on, in few commits.
func (r *rig) claimMany(n int, change ...func(*ledger.Event)) (rows []ledger.Notification) {
	r.t.Helper()
	events := make([]ledger.Event, n)
	for i := range events {
		events[i] = event(fmt.Sprint("e", i), change...)
	}
	for batch := range slices.Chunk(events, 500) {
		list, err := r.ledger.ClaimBatch(context.Background(), batch)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, c := range list {
			if c.Err != nil {
				r.t.Fatal(c.Err)
			}
			rows = append(rows, c.Notification)
		}
	}
	synctest.Wait()
	return rows
}

// An idle hour costs one glance of each loop, whatever waits for another day: two providers with two lanes each, and the
// housekeeper, who make two reads each.
func TestIdle_AnHourCostsOneGlance(t *testing.T) {
	for name, rows := range map[string]int{"empty": 0, "a thousand rows wait for tomorrow": 1000} {
		t.Run(name, func(t *testing.T) {
			var s counted
			bubble(t, func(r *rig) {
				twoProviders(r)
				finding(r, byReference) // a look-up and a state query wait for their time
				r.wrap = func(disk *store.Store) ledger.Store {
					s = counted{disk, new(atomic.Int64)}
					return s
				}
			}, func(t *testing.T, r *rig) {
				everyReadCounts(t, s)
				tomorrow := time.Now().Add(24 * time.Hour)
				r.claimMany(rows, func(e *ledger.Event) { e.SendAt = tomorrow })
				if rows > 0 {
					r.claim("lost")
					if _, err := r.act(r.claim("held", func(e *ledger.Event) { e.SendAt = tomorrow }), ledger.Act{Action: ledger.CauseHold}); err != nil {
						t.Fatal(err)
					}
				}
				r.advance(61 * time.Minute) // behind the last look-up of what was lost
				before := s.reads.Load()
				r.advance(time.Hour)
				if got := s.reads.Load() - before; got > 2*2*2+2 {
					t.Errorf("%d reads in an idle hour", got)
				}
			})
		})
	}
}

// written is a store in which something is written right behind a reading of the loop.
type written struct {
	*store.Store
	due, waiting *atomic.Pointer[func()] // once
}

func (s written) Due(ctx context.Context, q ledger.DueQuery) ([]ledger.Notification, error) {
	rows, err := s.Store.Due(ctx, q)
	if f := s.due.Swap(nil); f != nil {
		(*f)()
	}
	return rows, err
}

func (s written) Waiting(ctx context.Context, at time.Time, limit int) ([]ledger.Notification, error) {
	rows, err := s.Store.Waiting(ctx, at, limit)
	if f := s.waiting.Swap(nil); f != nil {
		(*f)()
	}
	return rows, err
}

// A row that some other path changes in the store is seen within a minute although nobody tells the loop of it, also when the
// change comes while the loop reads.
func TestIdle_WhatIsWrittenIsSeen(t *testing.T) {
	for _, during := range []bool{false, true} {
		t.Run(fmt.Sprint("during the reading: ", during), func(t *testing.T) {
			var due, waiting atomic.Pointer[func()]
			bubble(t, func(r *rig) {
				r.wrap = func(disk *store.Store) ledger.Store { return written{disk, &due, &waiting} }
			}, func(t *testing.T, r *rig) {
				tomorrow := func(e *ledger.Event) { e.SendAt = time.Now().Add(24 * time.Hour) }
				sent, held := r.claim("sent", tomorrow), r.claim("held", tomorrow)
				if _, err := r.act(held, ledger.Act{Action: ledger.CauseHold}); err != nil {
					t.Fatal(err)
				}
				r.advance(5*time.Minute + 20*time.Second)
				sendSoon, endSoon := func() { r.hasten(sent) }, func() { r.hasten(held) }
				if during {
					due.Store(&sendSoon)
					waiting.Store(&endSoon)
					r.claim("wakes the loop", func(e *ledger.Event) { e.SendAt = time.Now().Add(time.Second) })
					r.advance(time.Minute)
					if due.Load() != nil || waiting.Load() != nil {
						t.Fatal("the loop did not read")
					}
				} else {
					sendSoon()
					endSoon()
				}
				r.advance(61 * time.Second)
				r.expect(sent, ledger.StateSent, "")
				r.expect(held, ledger.StateExpired, "")
			})
		})
	}
}

// hasten makes a row due in half a minute, behind the ledger's back.
func (r *rig) hasten(n ledger.Notification) {
	due := time.Now().Add(30 * time.Second)
	if _, err := r.disk.Settle(n.ID, func(cur ledger.Notification) (ledger.Change, error) {
		c := ledger.Change{State: cur.State, Reason: cur.Reason, NextAction: cur.NextAction, DueAt: due, At: time.Now()}
		if cur.State == ledger.StateHeld {
			c.ExpiresAt = due
		}
		return c, nil
	}); err != nil {
		r.t.Error(err)
	}
}

// What another process writes into the file of a running ledger is none of the loop's business; it is seen within the hour.
func TestIdle_AnotherHandIsSeenWithinTheHour(t *testing.T) {
	bubble(t, func(r *rig) { r.unchecked = true }, func(t *testing.T, r *rig) {
		n := r.claim("e1", func(e *ledger.Event) { e.SendAt = time.Now().Add(24 * time.Hour) })
		r.advance(5 * time.Minute)
		r.plant(fmt.Sprintf("UPDATE notifications SET due_at = claimed_at WHERE seq = %d", n.Seq))
		r.advance(61 * time.Minute)
		r.expect(n, ledger.StateSent, "")
	})
}
