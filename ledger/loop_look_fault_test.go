package ledger_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"sendonce/ledger"
)

// lose loses the answers of some more rows, each to a recipient of its own.
func (r *rig) lose(rows int) (list []ledger.Notification) {
	for i := range rows {
		list = append(list, r.claim(fmt.Sprint("other", i), func(e *ledger.Event) { e.Recipient = fmt.Sprint("+1555010010", i) }))
	}
	return list
}

// Keeps out a row whose look always fails, and that keeps every other row of its provider from being found.
func TestLook_OneThatFailsHoldsUpNoOther(t *testing.T) {
	for name, wide := range map[string]bool{"each alone": false, "all in one call": true} {
		t.Run(name, func(t *testing.T) {
			looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, bad ledger.Notification) {
				f.wide = wide
				f.does(func(_ context.Context, searches []ledger.Search) ([][]ledger.Found, error) {
					out := make([][]ledger.Found, len(searches))
					for i, s := range searches {
						if s.ID == bad.ID.String() {
							return nil, &ledger.LookUpError{Status: 400, Fault: ledger.FaultUnexpectedReply}
						}
						out[i] = []ledger.Found{message("m"+s.ID, 1, time.Time{})}
					}
					return out, nil
				})
				others := r.lose(3)
				r.advance(15 * time.Minute)
				for _, n := range others {
					r.expect(n, ledger.StateSent, ledger.ReasonProof)
				}
				late := r.claim("late", func(e *ledger.Event) { e.Recipient = "+15550100200" })
				r.advance(time.Hour)
				r.expect(late, ledger.StateSent, ledger.ReasonProof)
				r.expect(bad, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
			})
		})
	}
}

// Whatever waits for a service that fails, it is asked once, and more and more seldom.
func TestLook_AnOutageIsAskedSeldom(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		f.fails(&ledger.LookUpError{Fault: ledger.FaultUnreachable})
		all := append(r.lose(9), n)
		r.advance(6 * time.Hour)
		at := f.looks()
		if len(at) < 8 || len(at) > 12 { // 1, 2, 4, 8, 16, 32 minutes, then an hour
			t.Errorf("%d looks in six hours", len(at))
		}
		asked := map[string]bool{}
		for _, a := range at {
			for _, s := range a.searches {
				asked[s.ID] = true
			}
		}
		if len(asked) < 8 {
			t.Errorf("%d of %d rows were asked about: they take turns", len(asked), len(all))
		}
		if !slices.IsSortedFunc(at, func(a, b asking) int { return a.at.Compare(b.at) }) {
			t.Error("two at once")
		}
		f.does(func(_ context.Context, searches []ledger.Search) ([][]ledger.Found, error) {
			return [][]ledger.Found{{message("m"+searches[0].ID, 1, time.Time{})}}, nil
		})
		r.advance(time.Hour + 5*time.Minute)
		for _, n := range all {
			r.expect(n, ledger.StateSent, ledger.ReasonProof)
		}
	})
}
