package store

import (
	"context"
	"testing"
	"time"

	"sendonce/ledger"
)

// Keeps out F11: a row whose process died in the middle of an attempt stays "sending" for ever.
func TestRecover_ClosesWhatADeadProcessLeftOpen(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		waits := claimed(t, s, claimOf(1))[0]
		flies := taken(t, s, claimed(t, s, claimOf(2))[0])
		done := sentRow(t, s, 3, "SM3")
		s = open()
		moved, err := s.Recover(after(time.Minute), false, func(n ledger.Notification) (ledger.NextAction, time.Time) {
			if n.ID != flies.ID || n.State != ledger.StateAmbiguous || !n.MaybeSent || n.UpdatedAt != after(time.Minute) {
				t.Errorf("asked about %+v", n)
			}
			return ledger.DoPolicy, after(time.Hour)
		})
		if err != nil || moved != 1 {
			t.Fatalf("%d moved, %v", moved, err)
		}
		got := record(t, s, flies.ID)
		wantState(t, got.Notification, ledger.StateAmbiguous, ledger.ReasonProcessEnded)
		a := got.Attempts[0]
		if got.NextAction != ledger.DoPolicy || got.DueAt != after(time.Hour) || !got.MaybeSent || got.Version != flies.Version+1 {
			t.Errorf("%+v", got.Notification)
		}
		if a.Open() || a.EndedAt != after(time.Minute) || a.Outcome != ledger.Ambiguous || a.Error == "" || a.Phase != "" {
			t.Errorf("%+v", a)
		}
		wantState(t, row(t, s, waits.ID), ledger.StateClaimed, "")
		wantState(t, row(t, s, done.ID), ledger.StateSent, "")
		if again, err := s.Recover(after(time.Hour), false, expiry); err != nil || again != 0 {
			t.Fatalf("a second time: %d moved, %v", again, err)
		}
	})
}

func TestRecover_RestoredMovesEveryRowThatCouldBeSent(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		var claims []ledger.Claim
		for i := range 1200 { // more than are moved at once
			claims = append(claims, claimOf(i))
		}
		rows, err := s.Claim(claims)
		if err != nil {
			t.Fatal(err)
		}
		hold := claimed(t, s, claimOf(10_000))[0]
		settled(t, s, hold, toHeld(hold))
		flies := taken(t, s, claimed(t, s, claimOf(10_001))[0])
		proven := taken(t, s, claimed(t, s, claimOf(10_002))[0])
		if _, _, err := prove(s, about(proven, 1, ledger.Delivered), neverAsked(t)); err != nil {
			t.Fatal(err)
		}
		unknown := ambiguousRow(t, s, 10_003)
		sent := sentRow(t, s, 10_004, "SM1")
		moved, err := s.Recover(after(time.Minute), true, expiry)
		if err != nil || moved != len(rows)+3 {
			t.Fatalf("%d moved, %v", moved, err)
		}
		for _, n := range []ledger.Notification{rows[0].Notification, rows[len(rows)-1].Notification, hold, flies} {
			got := record(t, s, n.ID)
			wantState(t, got.Notification, ledger.StateAmbiguous, ledger.ReasonRestored)
			last := got.Settlements[len(got.Settlements)-1]
			if !got.MaybeSent || got.NextAction != ledger.DoExpire || got.DueAt != got.ExpiresAt || last.Action != ledger.CauseRestored || last.To != ledger.StateAmbiguous {
				t.Errorf("%+v", got)
			}
		}
		wantState(t, row(t, s, proven.ID), ledger.StateSent, ledger.ReasonProof)
		wantState(t, row(t, s, unknown.ID), ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		wantState(t, row(t, s, sent.ID), ledger.StateSent, "")
		st, err := s.Stats(context.Background())
		if err != nil || st.States[ledger.StateAmbiguous] != int64(len(rows)+3) || st.MaybeSent != int64(len(rows)+3) {
			t.Fatalf("%+v, %v", st, err)
		}
	})
}

func TestMarkMissing_TouchesPinnedRowsOnly(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		pinned, free, here := claimOf(1), claimOf(2), claimOf(3)
		pinned.Pinned, pinned.Provider, free.Provider, here.Pinned = true, "gone", "gone", true
		claimed(t, s, pinned, free, here)
		hold := claimOf(4)
		hold.Pinned, hold.Provider = true, "gone"
		h := claimed(t, s, hold)[0]
		settled(t, s, h, toHeld(h))
		check := func(reason ledger.Reason) {
			t.Helper()
			wantState(t, row(t, s, pinned.ID), ledger.StateClaimed, reason)
			wantState(t, row(t, s, free.ID), ledger.StateClaimed, "")
			wantState(t, row(t, s, here.ID), ledger.StateClaimed, "")
			wantState(t, row(t, s, hold.ID), ledger.StateHeld, "")
		}
		if err := s.MarkMissing(at0, []string{"twilio_main"}); err != nil {
			t.Fatal(err)
		}
		check(ledger.ReasonProviderMissing)
		if err := s.MarkMissing(at0, []string{"twilio_main", "gone"}); err != nil {
			t.Fatal(err)
		}
		check("")
	})
}
