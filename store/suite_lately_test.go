package store

import (
	"math"
	"slices"
	"testing"

	"sendonce/ledger"
)

// Times, providers and outcomes of the newest rows, page by page, as their whole record has them.
func TestLately_NewestFirst(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		sent := sentRow(t, s, 1, "m1")
		unknown := ambiguousRow(t, s, 2)
		settled(t, s, unknown, toFailed())
		taken(t, s, claimed(t, s, claimOf(3))[0]) // its attempt has not ended
		claimed(t, s, claimOf(4))
		var got []ledger.Record
		before := int64(math.MaxInt64)
		for range 3 {
			page, err := s.Lately(t.Context(), before, 2)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			got, before = append(got, page...), page[len(page)-1].Seq
		}
		if len(got) != 4 || !slices.IsSortedFunc(got, func(a, b ledger.Record) int { return int(b.Seq - a.Seq) }) {
			t.Fatalf("%d rows: %+v", len(got), got)
		}
		if len(got[0].Attempts) != 0 || len(got[1].Attempts) != 0 {
			t.Errorf("attempts that have not ended: %+v, %+v", got[0].Attempts, got[1].Attempts)
		}
		for i, n := range map[int]ledger.Notification{3: sent, 2: unknown} {
			want := record(t, s, n.ID)
			r := got[i]
			if r.Seq != want.Seq || r.Provider != want.Provider || !r.ClaimedAt.Equal(want.ClaimedAt) || len(r.Attempts) != len(want.Attempts) || len(r.Settlements) != len(want.Settlements) {
				t.Fatalf("%+v, want %+v", r, want)
			}
			a, w := r.Attempts[0], want.Attempts[0]
			if a.Kind != w.Kind || a.Provider != w.Provider || !a.StartedAt.Equal(w.StartedAt) || !a.EndedAt.Equal(w.EndedAt) || a.Outcome != w.Outcome || a.Phase != w.Phase {
				t.Errorf("attempt %+v, want %+v", a, w)
			}
			for k, st := range r.Settlements {
				w := want.Settlements[k]
				if !st.At.Equal(w.At) || st.Action != w.Action || st.From != w.From || st.To != w.To || st.Actor != w.Actor {
					t.Errorf("settlement %+v, want %+v", st, w)
				}
			}
		}
	})
}

func TestBacklog_CountsClaimedRowsOfAProvider(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		sentRow(t, s, 1, "m1")
		for i := 2; i < 7; i++ {
			c := claimOf(i)
			if i == 6 {
				c.Provider = "vonage_main"
			}
			claimed(t, s, c)
		}
		for _, c := range []struct {
			provider    string
			limit, want int
		}{{"twilio_main", 100, 4}, {"twilio_main", 3, 3}, {"vonage_main", 100, 1}, {"nobody", 100, 0}} {
			if n, err := s.Backlog(t.Context(), c.provider, c.limit); err != nil || n != c.want {
				t.Errorf("%s to %d: %d (%v), want %d", c.provider, c.limit, n, err, c.want)
			}
		}
	})
}
