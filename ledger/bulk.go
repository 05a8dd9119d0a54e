package ledger

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"
)

const (
	maxBulk    = 100_000 // rows that one decision may move
	bulkAtOnce = 32      // so that they share commits
)

// Bulk is one decision over many rows.
type Bulk struct {
	Action   Cause // one of Actions
	Filter   Filter
	Reason   string
	Actor    string
	Person   string
	Expected int64
	DryRun   bool
}

// BulkResult counts. Skipped rows were moved by somebody else or may not be moved so.
type BulkResult struct{ Matched, Changed, Skipped int64 }

// SettleMany settles every row that matches the filter and allows the action. *InvalidError, ErrOneState, and
// ErrCountDiffers with Matched set, in which case nothing was changed.
func (l *Ledger) SettleMany(ctx context.Context, b Bulk) (BulkResult, error) {
	a := Act{Action: b.Action, Reason: b.Reason, Actor: b.Actor, Person: b.Person}
	if err := a.validate(); err != nil {
		return BulkResult{}, err
	}
	if !slices.Contains(Actions, b.Action) {
		return BulkResult{}, Invalid("action", "must be one of confirm, release, abandon, hold, unhold, cancel")
	}
	if b.Action == CauseRelease && len(b.Filter.States) != 1 {
		return BulkResult{}, ErrOneState
	}
	rows, err := l.matching(ctx, b)
	if err != nil {
		return BulkResult{}, err
	}
	res := BulkResult{Matched: int64(len(rows))}
	if b.DryRun {
		return res, nil
	}
	if b.Expected != res.Matched {
		return res, ErrCountDiffers
	}
	changed := l.settleAll(ctx, a, rows)
	res.Changed, res.Skipped = changed, res.Matched-changed
	return res, ctx.Err()
}

// target is a row that a bulk decision means, in the version that was counted.
type target struct {
	id      uuid.UUID
	version int64
}

// matching lists the rows that match and whose state has the action.
func (l *Ledger) matching(ctx context.Context, b Bulk) ([]target, error) {
	f := b.Filter
	f.Limit, f.Oldest, f.Cursor = MaxList, true, 0
	var rows []target
	for {
		p, err := l.store.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, n := range p.Rows {
			if _, ok := Next(n.State, b.Action, n.MaybeSent); ok {
				rows = append(rows, target{n.ID, n.Version})
			}
		}
		if len(rows) > maxBulk {
			return nil, Invalid("filter", "matches more than %d rows; narrow it", maxBulk)
		}
		if p.Next == 0 {
			return rows, nil
		}
		f.Cursor = p.Next
	}
}

func (l *Ledger) settleAll(ctx context.Context, a Act, rows []target) (changed int64) {
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, bulkAtOnce)
	for _, t := range rows {
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			one := a
			one.ID, one.IfMatch = t.id, t.version
			if _, err := l.Settle(ctx, one); err == nil {
				mu.Lock()
				changed++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return changed
}
