package store

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestTake_OnceOf64(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		var won, lost atomic.Int64
		together(64, 64, func(int) {
			switch err := s.Take(takingOf(n)); err {
			case nil:
				won.Add(1)
			case ledger.ErrMoved:
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
		if won.Load() != 1 || lost.Load() != 63 {
			t.Fatalf("%d took the row, %d did not", won.Load(), lost.Load())
		}
		if r := record(t, s, n.ID); len(r.Attempts) != 1 || r.State != ledger.StateSending || r.AttemptCount != 1 {
			t.Fatalf("%s with %d attempts", r.State, len(r.Attempts))
		}
	})
}

func TestTake_MeetsAnotherRowThanWasRead(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		later := claimOf(2)
		later.DueAt, later.ExpiresAt = after(time.Minute), after(time.Hour)
		l := claimed(t, s, later)[0]
		h := claimed(t, s, claimOf(3))[0]
		settled(t, s, h, toHeld(h))
		for name, k := range map[string]ledger.Taking{
			"another version": with(takingOf(n), func(k *ledger.Taking) { k.Version = 2 }),
			"another attempt": with(takingOf(n), func(k *ledger.Taking) { k.Number = 2 }),
			"not due":         with(takingOf(l), func(k *ledger.Taking) { k.StartedAt = after(time.Minute - time.Millisecond) }),
			"expired":         with(takingOf(l), func(k *ledger.Taking) { k.StartedAt = after(time.Hour) }),
			"held":            with(takingOf(h), func(k *ledger.Taking) { k.Version = 2 }),
			"no repeat":       with(takingOf(n), func(k *ledger.Taking) { k.Kind = ledger.KindRepeat }),
			"no such row":     with(takingOf(n), func(k *ledger.Taking) { k.Seq = 99 }),
		} {
			if err := s.Take(k); err != ledger.ErrMoved {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Take(with(takingOf(l), func(k *ledger.Taking) { k.StartedAt = after(time.Minute) })); err != nil {
			t.Errorf("at its due time: %v", err)
		}
	})
}

func with[T any](v T, set func(*T)) T {
	set(&v)
	return v
}

func TestTake_RepeatOfAnAmbiguousRow(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := ambiguousRow(t, s, 1)
		n = settled(t, s, n, ledger.Change{State: n.State, Reason: n.Reason, MaybeSent: true, NextAction: ledger.DoRepeat, DueAt: at0})
		k := takingOf(n)
		if err := s.Take(k); err != ledger.ErrMoved {
			t.Fatalf("a send of an ambiguous row: %v", err)
		}
		k.Kind, k.Provider, k.Attempt.Provider = ledger.KindRepeat, "resend_main", "resend_main"
		if err := s.Take(k); err != nil {
			t.Fatal(err)
		}
		got := record(t, s, n.ID)
		wantState(t, got.Notification, ledger.StateSending, "")
		if !got.MaybeSent || got.Provider != "resend_main" || got.Version != n.Version+1 || got.Attempts[1].Kind != ledger.KindRepeat || !got.DueAt.IsZero() {
			t.Fatalf("%+v", got)
		}
	})
}

func TestClose_KeepsTheWholeAttempt(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		k := takingOf(n)
		k.Account, k.RequestHash, k.Request = [8]byte{1, 7: 8}, [16]byte{2, 15: 9}, []byte("body")
		if err := s.Take(k); err != nil {
			t.Fatal(err)
		}
		open1 := k.Attempt
		if got := record(t, s, n.ID).Attempts[0]; !reflect.DeepEqual(got, open1) || !got.Open() {
			t.Fatalf("open attempt:\n got %+v\nwant %+v", got, open1)
		}
		a := open1
		a.EndedAt, a.Outcome, a.Phase, a.Status, a.Code = after(time.Second), ledger.Ambiguous, ledger.Answered, 500, "E1"
		a.MessageID, a.Error, a.Answer = "SM1", "read: connection reset", []byte{0xff, 0}
		row := n
		row.State, row.AttemptCount, row.Version = ledger.StateSending, 1, 2
		if _, err := s.Close(ledger.Closing{Notification: row, Attempt: a, MessageIDs: []string{"SM1", "SM2", ""}}, toAmbiguous); err != nil {
			t.Fatal(err)
		}
		got := record(t, open(), n.ID)
		if !reflect.DeepEqual(got.Attempts[0], a) {
			t.Fatalf("closed attempt:\n got %+v\nwant %+v", got.Attempts[0], a)
		}
		if want := []ledger.MessageID{{ID: "SM1", Provider: "twilio_main", Seq: n.Seq, Number: 1}, {ID: "SM2", Provider: "twilio_main", Seq: n.Seq, Number: 1}}; !reflect.DeepEqual(got.MessageIDs, want) {
			t.Fatalf("message ids %+v", got.MessageIDs)
		}
	})
}

func TestClose_Twice(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		taken(t, s, n)
		if _, err := s.Close(closingOf(n, ledger.Accepted, "SM1"), toSent); err != nil {
			t.Fatal(err)
		}
		_, err := s.Close(closingOf(n, ledger.Deferred), func(ledger.CloseFacts) ledger.Change {
			t.Error("decide was asked about a closed attempt")
			return toClaimed(at0)
		})
		wantErr(t, err, ledger.ErrMoved)
		got := record(t, s, n.ID)
		wantState(t, got.Notification, ledger.StateSent, "")
		if got.Attempts[0].Outcome != ledger.Accepted {
			t.Fatalf("the attempt became %s", got.Attempts[0].Outcome)
		}
	})
}

func TestClose_ReturnsTheRowAsItIs(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		taken(t, s, n)
		if _, err := s.Suppress([]ledger.Suppressed{{Seq: n.Seq, At: after(time.Second), Caller: "shop"}}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Close(closingOf(n, ledger.Deferred), func(ledger.CloseFacts) ledger.Change {
			return ledger.Change{State: ledger.StateClaimed, Reason: ledger.ReasonRetry, NextAction: ledger.DoSend, DueAt: after(time.Minute),
				Provider: "vonage_main", Deferrals: 1, Tried: "twilio_main", At: after(time.Second)}
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := row(t, s, n.ID); !reflect.DeepEqual(got, want) {
			t.Fatalf("\n got %+v\nwant %+v", got, want)
		}
	})
}

func TestClose_KnowsWhoseMessageIDItIs(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		sentRow(t, s, 1, "SM1")
		shared := func(i int, ids ...string) bool {
			var f ledger.CloseFacts
			n := taken(t, s, claimed(t, s, claimOf(i))[0])
			closed(t, s, n, ledger.Accepted, func(facts ledger.CloseFacts) ledger.Change {
				f = facts
				c := toSent(f)
				if f.Shared {
					c.Reason = ledger.ReasonMessageIDShared
				}
				return c
			}, ids...)
			return f.Shared
		}
		if !shared(2, "SM1") || shared(3, "SM3") || !shared(4, "SM4", "SM3") || shared(5) {
			t.Fatal("an id of another row was taken for new, or a new one for another row's")
		}
		if st, err := s.Stats(context.Background()); err != nil || st.Shared != 2 {
			t.Fatalf("%d shared ids counted (%v), want 2", st.Shared, err)
		}
	})
}

func TestFirstAttempt_KeepsItsBodyUntilTheRowIsSent(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		k := takingOf(n)
		k.Account, k.Request = [8]byte{1}, []byte("first body")
		if err := s.Take(k); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Close(closingOf(n, ledger.Ambiguous), toAmbiguous); err != nil {
			t.Fatal(err)
		}
		a, err := s.FirstAttempt(context.Background(), n.Seq, [8]byte{1})
		if err != nil || string(a.Request) != "first body" {
			t.Fatalf("%q, %v", a.Request, err)
		}
		if _, err := s.FirstAttempt(context.Background(), n.Seq, [8]byte{2}); err != ledger.ErrNotFound {
			t.Fatalf("another account: %v", err)
		}
		settled(t, s, n, ledger.Change{State: ledger.StateSent, Reason: ledger.ReasonConfirmed, ConfirmedAt: at0})
		if a, err := s.FirstAttempt(context.Background(), n.Seq, [8]byte{1}); err != nil || a.Request != nil {
			t.Fatalf("the body of a sent row is still there: %q, %v", a.Request, err)
		}
	})
}
