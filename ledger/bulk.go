package ledger

import (
	"context"
	"errors"
	"fmt"
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

// SettleMany settles every row that matches the filter and allows the action. *InvalidError, ErrOneState,
// ErrCountDiffers with Matched set, in which case nothing was changed, and what Store.Settle returns; ErrUnknown, too, when it breaks
// off and some are changed.
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
	changed, err := l.settleAll(ctx, a, rows)
	res.Changed, res.Skipped = changed, res.Matched-changed
	if err != nil && changed > 0 { // that nothing was written is true of the rest at most
		err = fmt.Errorf("%w: %d of %d rows are settled: %v", ErrUnknown, changed, res.Matched, err)
	}
	return res, errors.Join(err, ctx.Err())
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
			if _, ok := Next(n.State, b.Action, n.MaybeSent); ok && !n.Erased() {
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

// settleAll settles each row and counts. A row that refuses is skipped; what is the store's own trouble ends it.
func (l *Ledger) settleAll(ctx context.Context, a Act, rows []target) (changed int64, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, bulkAtOnce)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, t := range rows {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			one := a
			one.ID, one.IfMatch = t.id, t.version
			_, e := l.settleOne(one)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e == nil:
				changed++
			case storeTrouble(e):
				if !errors.Is(err, ErrUnknown) { // which promises least
					err = e
				}
				stop()
			}
		})
	}
	all.Wait()
	return changed, err
}

// storeTrouble tells a store that cannot write from a row that refuses.
func storeTrouble(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnknown) || errors.Is(err, ErrOverload)
}
