package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
	"sendonce/store"
)

// bulk settles as an operator does.
func (r *rig) bulk(b ledger.Bulk) (ledger.BulkResult, error) {
	b.Reason, b.Actor = "test", "ops"
	res, err := r.ledger.SettleMany(context.Background(), b)
	synctest.Wait()
	return res, err
}

// A decision over many: counting changes nothing, another count changes nothing, and the right one moves each row once.
func TestSettleMany_CountsFirst(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.then(lost)
		source := "shop"
		var shop, other []ledger.Notification
		for i := range 40 {
			shop = append(shop, r.claim(fmt.Sprint("s", i), func(e *ledger.Event) { e.Source = source }))
			other = append(other, r.claim(fmt.Sprint("o", i)))
		}
		a.then(accepted(""))
		sent := r.claim("sent", func(e *ledger.Event) { e.Source = source })
		unknown := ledger.Filter{States: []ledger.State{ledger.StateAmbiguous}, Source: &source}
		unchanged := func() {
			t.Helper()
			for _, n := range append(shop, other...) {
				r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
			}
		}

		if res, err := r.bulk(ledger.Bulk{Action: ledger.CauseRelease, Filter: unknown, DryRun: true}); err != nil || res != (ledger.BulkResult{Matched: 40}) {
			t.Errorf("counted %+v, %v", res, err)
		}
		for _, count := range []int64{0, 39, 41} {
			if res, err := r.bulk(ledger.Bulk{Action: ledger.CauseRelease, Filter: unknown, Expected: count}); !errors.Is(err, ledger.ErrCountDiffers) || res.Matched != 40 || res.Changed != 0 {
				t.Errorf("with %d: %+v, %v", count, res, err)
			}
		}
		several := unknown
		several.States = []ledger.State{ledger.StateAmbiguous, ledger.StateFailed}
		for _, f := range []ledger.Filter{{Source: &source}, several} {
			for _, dry := range []bool{true, false} {
				if _, err := r.bulk(ledger.Bulk{Action: ledger.CauseRelease, Filter: f, Expected: 40, DryRun: dry}); !errors.Is(err, ledger.ErrOneState) {
					t.Errorf("release in states %v: %v", f.States, err)
				}
			}
		}
		unchanged()

		// Without a state only rows count that allow the action.
		if res, err := r.bulk(ledger.Bulk{Action: ledger.CauseConfirm, Filter: ledger.Filter{Source: &source}, DryRun: true}); err != nil || res.Matched != 40 {
			t.Errorf("to confirm: %+v, %v", res, err)
		}
		before := len(a.sent())
		if res, err := r.bulk(ledger.Bulk{Action: ledger.CauseRelease, Filter: unknown, Expected: 40}); err != nil || res != (ledger.BulkResult{Matched: 40, Changed: 40}) {
			t.Fatalf("%+v, %v", res, err)
		}
		r.advance(time.Millisecond) // the writer waits a moment for company after a crowd
		if got := len(a.sent()) - before; got != 40 {
			t.Errorf("%d messages left for 40 released rows", got)
		}
		for _, n := range shop {
			if rec := r.expect(n, ledger.StateSent, ""); len(rec.Settlements) != 1 || rec.Settlements[0].Actor != "ops" || rec.Settlements[0].Reason != "test" || rec.MaybeSent {
				t.Errorf("%+v", rec.Settlements)
			}
		}
		for _, n := range other {
			r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		}
		if rec := r.row(sent); len(rec.Settlements) != 0 {
			t.Errorf("a sent row has %+v", rec.Settlements)
		}
		if res, err := r.bulk(ledger.Bulk{Action: ledger.CauseRelease, Filter: unknown, Expected: 40}); !errors.Is(err, ledger.ErrCountDiffers) || res.Matched != 0 {
			t.Errorf("once more: %+v, %v", res, err)
		}
	})
}

// meanwhile is a store in which somebody settles a row just after it was counted.
type meanwhile struct {
	*store.Store
	then func()
}

func (m *meanwhile) List(ctx context.Context, f ledger.Filter) (ledger.Page, error) {
	p, err := m.Store.List(ctx, f)
	if m.then != nil {
		m.then()
	}
	return p, err
}

// What moved after the count is skipped, and told: a decision is about the rows that its author counted.
func TestSettleMany_SkipsWhatMovedMeanwhile(t *testing.T) {
	var m *meanwhile
	bubble(t, func(r *rig) {
		r.scripts["a"].then(lost)
		r.wrap = func(s *store.Store) ledger.Store { m = &meanwhile{Store: s}; return m }
	}, func(t *testing.T, r *rig) {
		first, second := r.claim("e1"), r.claim("e2")
		m.then = func() {
			m.then = nil
			if _, err := r.act(first, ledger.Act{Action: ledger.CauseAbandon}); err != nil {
				t.Error(err)
			}
		}
		res, err := r.bulk(ledger.Bulk{Action: ledger.CauseConfirm, Filter: ledger.Filter{States: []ledger.State{ledger.StateAmbiguous}}, Expected: 2})
		if err != nil || res != (ledger.BulkResult{Matched: 2, Changed: 1, Skipped: 1}) {
			t.Errorf("%+v, %v", res, err)
		}
		r.expect(first, ledger.StateFailed, ledger.ReasonAbandoned)
		r.expect(second, ledger.StateSent, ledger.ReasonConfirmed)
	})
}

// endless is a store with more rows than one decision may move.
type endless struct {
	*store.Store
	rows, pages int
}

func (e *endless) List(_ context.Context, f ledger.Filter) (ledger.Page, error) {
	e.pages++
	p := ledger.Page{Rows: make([]ledger.Notification, min(f.Limit, e.rows-int(f.Cursor)))}
	for i := range p.Rows {
		p.Rows[i] = ledger.Notification{ID: uuid.New(), State: ledger.StateAmbiguous, Version: 1}
	}
	if next := f.Cursor + int64(len(p.Rows)); int(next) < e.rows {
		p.Next = next
	}
	return p, nil
}

// Counting ends at the bound too: nobody may count what he cannot settle.
func TestSettleMany_Bound(t *testing.T) {
	for rows, good := range map[int]bool{100_000: true, 100_001: false, 1_000_000: false} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			var e *endless
			bubble(t, func(r *rig) {
				r.wrap = func(s *store.Store) ledger.Store { e = &endless{Store: s}; return e }
			}, func(t *testing.T, r *rig) {
				e.rows = rows
				res, err := r.bulk(ledger.Bulk{Action: ledger.CauseAbandon, Filter: ledger.Filter{States: []ledger.State{ledger.StateAmbiguous}}, DryRun: true})
				var invalid *ledger.InvalidError
				if good && (err != nil || res.Matched != int64(rows)) || !good && (!errors.As(err, &invalid) || invalid.Fields[0].Field != "filter") {
					t.Errorf("%+v, %v", res, err)
				}
				if e.pages > 210 {
					t.Errorf("%d pages were read", e.pages)
				}
			})
		})
	}
}
