package store

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

func TestDue_OldestDueFirstByLane(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		due := func(i int, lane ledger.Lane, d time.Duration, set func(*ledger.Claim)) {
			c := claimOf(i)
			c.Lane, c.DueAt = lane, after(d)
			set(&c)
			claimed(t, s, c)
		}
		same := func(*ledger.Claim) {}
		due(1, ledger.Normal, 3*time.Second, same)
		due(2, ledger.Normal, time.Second, same)
		due(3, ledger.Urgent, 2*time.Second, same)
		due(4, ledger.Normal, 2*time.Second, func(c *ledger.Claim) { c.Pinned = true })
		due(5, ledger.Normal, 2*time.Second, func(c *ledger.Claim) { c.Provider = "vonage_main" })
		due(6, ledger.Normal, 0, func(c *ledger.Claim) { c.ExpiresAt = after(time.Second) })
		due(7, ledger.Normal, time.Hour, same)
		maybe := ambiguousRow(t, s, 8)
		settled(t, s, maybe, ledger.Change{State: ledger.StateClaimed, MaybeSent: true, NextAction: ledger.DoSend, DueAt: after(4 * time.Second)})
		q := ledger.DueQuery{Provider: "twilio_main", Lane: ledger.Normal, At: after(time.Minute), Limit: 10}
		wantEvents := func(name string, q ledger.DueQuery, want ...int) {
			t.Helper()
			rows, err := s.Due(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			if got := events(rows); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			for _, n := range rows {
				if n.Message == nil || n.Recipient == "" {
					t.Errorf("%s: row without its content", name)
				}
			}
		}
		wantEvents("all", q, 2, 4, 1, 8)
		wantEvents("limit", with(q, func(q *ledger.DueQuery) { q.Limit = 2 }), 2, 4)
		wantEvents("movable", with(q, func(q *ledger.DueQuery) { q.Movable, q.Channels = true, ledger.Channels }), 2, 1)
		wantEvents("movable of one channel", with(q, func(q *ledger.DueQuery) { q.Movable, q.Channels = true, []ledger.Channel{ledger.SMS} }), 2, 1)
		wantEvents("movable of another", with(q, func(q *ledger.DueQuery) { q.Movable, q.Channels = true, []ledger.Channel{ledger.Push, ledger.Email} }))
		wantEvents("at the very time", with(q, func(q *ledger.DueQuery) { q.At = after(time.Second) }), 2)
		wantEvents("urgent", with(q, func(q *ledger.DueQuery) { q.Lane = ledger.Urgent }), 3)
		wantEvents("another", with(q, func(q *ledger.DueQuery) { q.Provider = "vonage_main" }), 5)
		next, err := s.NextDue(context.Background(), "twilio_main", after(time.Minute))
		if err != nil || next != after(time.Hour) {
			t.Errorf("next due %v, %v", next, err)
		}
		if next, err := s.NextDue(context.Background(), "vonage_main", after(time.Minute)); err != nil || !next.IsZero() {
			t.Errorf("next due of none: %v, %v", next, err)
		}
		if names, err := s.Providers(context.Background()); err != nil || !reflect.DeepEqual(names, []string{"twilio_main", "vonage_main"}) {
			t.Errorf("providers %v, %v", names, err)
		}
	})
}

// events are the numbers that rows were claimed with.
func events(rows []ledger.Notification) []int {
	var out []int
	for _, n := range rows {
		var i int
		if _, err := fmt.Sscanf(n.EventID, "evt_%d", &i); err != nil {
			panic(err)
		}
		out = append(out, i)
	}
	return out
}

func TestWaiting_AmbiguousHeldAndExpired(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := ambiguousRow(t, s, 1)
		settled(t, s, n, ledger.Change{State: n.State, Reason: n.Reason, MaybeSent: true, NextAction: ledger.DoPolicy, DueAt: after(2 * time.Second)})
		ambiguousRow(t, s, 2) // nothing left to do: a person's
		h := claimOf(3)
		h.ExpiresAt = after(3 * time.Second)
		held := claimed(t, s, h)[0]
		settled(t, s, held, toHeld(held))
		expires := claimOf(4)
		expires.ExpiresAt = after(time.Second)
		far := claimOf(5)
		far.DueAt, far.ExpiresAt = after(time.Hour), after(2*time.Hour)
		claimed(t, s, expires, far, with(claimOf(6), func(c *ledger.Claim) { c.ExpiresAt = time.Time{} }))
		for _, c := range []struct {
			at    time.Duration
			limit int
			want  []int
			next  time.Time
		}{
			{0, 10, nil, after(time.Second)},
			{3 * time.Second, 10, []int{4, 1, 3}, after(2 * time.Hour)},
			{3 * time.Second, 2, []int{4, 1}, after(2 * time.Hour)},
			{3 * time.Hour, 10, []int{4, 1, 3, 5}, time.Time{}},
		} {
			rows, err := s.Waiting(context.Background(), after(c.at), c.limit)
			if err != nil || !reflect.DeepEqual(events(rows), c.want) {
				t.Errorf("at %v: %v, %v, want %v", c.at, events(rows), err, c.want)
			}
			if next, err := s.NextWaiting(context.Background(), after(c.at)); err != nil || next != c.next {
				t.Errorf("after %v: next %v, %v, want %v", c.at, next, err, c.next)
			}
		}
	})
}

func TestSuppress_CountsAllAndKeepsTheLast20(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		other := claimed(t, s, claimOf(2))[0]
		list := []ledger.Suppressed{{Seq: other.Seq, At: after(time.Hour), Caller: "shop", Differs: []string{"message", "user_id"}}, {Seq: 999, At: at0, Caller: "shop"}}
		for i := range 15 {
			list = append(list, ledger.Suppressed{Seq: n.Seq, At: after(time.Duration(i) * time.Second), Caller: "shop"})
		}
		var counted []ledger.Counted
		var err error
		for range 2 {
			if counted, err = s.Suppress(list); err != nil {
				t.Fatal(err)
			}
		}
		if want := []ledger.Counted{{Seq: other.Seq, Count: 2, At: after(time.Hour)}, {Seq: n.Seq, Count: 30, At: after(14 * time.Second)}}; !reflect.DeepEqual(counted, want) {
			t.Errorf("counted %v, want %v", counted, want)
		}
		got := record(t, s, n.ID)
		if got.Duplicates != 30 || got.DuplicateAt != after(14*time.Second) || len(got.Suppressed) != ledger.MaxDuplicates {
			t.Fatalf("%d counted, last %v, %d kept", got.Duplicates, got.DuplicateAt, len(got.Suppressed))
		}
		if got.Suppressed[0].At != after(10*time.Second) || got.Suppressed[19].At != after(14*time.Second) {
			t.Fatalf("kept %v to %v", got.Suppressed[0].At, got.Suppressed[19].At)
		}
		if got.Version != n.Version || got.UpdatedAt != n.UpdatedAt {
			t.Fatal("a repeat moved the row")
		}
		if o := record(t, s, other.ID); o.Duplicates != 2 || !reflect.DeepEqual(o.Suppressed[1], list[0]) {
			t.Fatalf("%+v", o)
		}
		if st, err := s.Stats(context.Background()); err != nil || st.Duplicates != 32 {
			t.Fatalf("%+v, %v", st, err)
		}
	})
}

func TestStats_FollowEveryMove(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		claimed(t, s, claimOf(1), claimOf(2))
		h := claimed(t, s, claimOf(3))[0]
		settled(t, s, h, toHeld(h))
		taken(t, s, claimed(t, s, claimOf(4))[0])
		ambiguousRow(t, s, 5)
		settled(t, s, ambiguousRow(t, s, 6), toFailed())
		sentRow(t, s, 7, "SM7")
		if _, err := s.Claim([]ledger.Claim{claimOf(1)}); err != nil { // a duplicate is no row
			t.Fatal(err)
		}
		want := ledger.Stats{Notifications: 7, MaybeSent: 2, OldestUnknown: at0, States: map[ledger.State]int64{
			ledger.StateClaimed: 2, ledger.StateHeld: 1, ledger.StateSending: 1, ledger.StateAmbiguous: 1, ledger.StateSent: 1, ledger.StateFailed: 1,
			ledger.StateCancelled: 0, ledger.StateExpired: 0}}
		s = open()
		if got, err := s.Stats(context.Background()); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("\n got %+v (%v)\nwant %+v", got, err, want)
		}
	})
}

func TestNewest_IsTheNewestTimeWritten(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		if got, err := s.Newest(context.Background()); err != nil || !got.IsZero() {
			t.Fatalf("an empty ledger: %v, %v", got, err)
		}
		n := ambiguousRow(t, s, 1)
		r := receiptOf("SM1", ledger.Queued)
		r.ArrivedAt = after(time.Hour)
		if _, _, err := prove(s, r, neverAsked(t)); err != nil {
			t.Fatal(err)
		}
		settled(t, s, n, toFailed()) // at an earlier time
		if got, err := open().Newest(context.Background()); err != nil || got != after(time.Hour) {
			t.Fatalf("%v, %v", got, err)
		}
	})
}

func TestPauses_OutliveARestart(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		first := ledger.Pause{Provider: "twilio_main", Since: at0, Actor: "desk", Reason: "bill"}
		second := ledger.Pause{Provider: "twilio_main", Since: after(time.Hour), Actor: "ada", Reason: "still the bill"}
		for _, p := range []ledger.Pause{first, second} {
			if err := s.SetPause(p); err != nil {
				t.Fatal(err)
			}
		}
		s = open()
		if got, err := s.Pauses(context.Background()); err != nil || !reflect.DeepEqual(got, []ledger.Pause{second}) {
			t.Fatalf("%+v, %v", got, err)
		}
		for range 2 {
			if err := s.ClearPause("twilio_main"); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Pauses(context.Background()); err != nil || len(got) != 0 {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

func TestGet_NotFound(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		_, err := open().Get(context.Background(), uuid.New())
		wantErr(t, err, ledger.ErrNotFound)
	})
}
