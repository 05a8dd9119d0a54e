package ledger

import (
	"context"
	"time"
)

// Retention says for how long the ledger keeps more than keys, outcomes and times.
type Retention struct {
	After     time.Duration // how long a row stays whole after its last change or report, once it ended; 0: for ever
	Unmatched time.Duration // how long a receipt waits for its row; 0: for ever
}

// Eraser is what a Store does for the retention. A row that was erased keeps its key for ever, and is found by its key and its id only.
type Eraser interface {
	// Old returns rows behind a place in the order of claiming that may be erased.
	Old(ctx context.Context, q OldQuery) (OldRows, error)

	// Erase erases each family of which every row ended and was neither changed nor reported on after before. It returns the rows
	// that it erased.
	Erase(families []Family, before, at time.Time) (erased []int64, err error)

	// AgeOut deletes receipts that found no row and came before a time, the oldest first. It returns how many.
	AgeOut(before time.Time, limit int) (int, error)
}

// Family is a row and the resends of it and of them, by Seq: they are erased together, since each tells of the other.
type Family []int64

// OldQuery asks for rows that may be erased.
type OldQuery struct {
	After  int64     // Seq behind which to look
	Before time.Time // they ended, and were not changed after
	Limit  int       // of families
}

// OldRows are a step through the order of claiming.
type OldRows struct {
	Families []Family
	Last     int64     // Seq that was looked at last
	Next     time.Time // when the first row was claimed that is too young; zero: the ledger was not looked at to there
	End      bool      // there is no row behind Last
}

const (
	eraseAtOnce = 16                   // families to a commit: a claim that comes meanwhile waits for them, some 3 ms
	ageAtOnce   = 64                   // receipts to a commit
	eraseShare  = 8                    // at most an eighth of the time is spent on erasing
	erasePause  = 5 * time.Millisecond // between two commits at least
	eraseLook   = time.Hour            // at most between looks at the rows that were too young when the others of their time were erased
)

// keepRetention erases what is old, in small steps, from the oldest row on.
func (l *Ledger) keepRetention(ctx context.Context) {
	var sweep sweep
	for ctx.Err() == nil {
		began := time.Now()
		next, err := l.retain(ctx, &sweep)
		if err != nil && ctx.Err() == nil {
			l.troubles.Tell("retention", "error", err)
			next = l.clock.now().Add(storeRetry)
		}
		wait := max(erasePause, (eraseShare-1)*time.Since(began))
		if !next.IsZero() {
			wait = max(wait, min(next.Sub(l.clock.now()), eraseLook))
		}
		sleep(ctx, nil, wait)
	}
}

// sweep is how far the retention has come. It is memory only: what was erased is not met again.
type sweep struct {
	last  int64     // Seq
	again time.Time // when to begin anew
}

// retain does one step and returns when to do the next; zero: soon.
func (l *Ledger) retain(ctx context.Context, s *sweep) (time.Time, error) {
	now := l.clock.now()
	switch c := l.store.Condition(); {
	case c.Restored:
		return now.Add(eraseLook), nil // a person decides about the copy first
	case c.Err != nil || l.unclosed.Load() > 0:
		return now.Add(storeRetry), nil
	case !l.clock.steady():
		return now.Add(unsteadyLook), nil
	}
	busy := false
	if d := l.settings.Retention.Unmatched; d > 0 {
		n, err := l.store.AgeOut(now.Add(-d), ageAtOnce)
		if err != nil {
			return time.Time{}, err
		}
		busy = n == ageAtOnce
	}
	next := now.Add(eraseLook)
	if l.settings.Retention.After > 0 {
		var err error
		if next, err = l.eraseOld(ctx, s, now); err != nil {
			return time.Time{}, err
		}
	}
	if busy {
		return time.Time{}, nil
	}
	return next, nil
}

// eraseOld erases the next rows in the order of claiming, and returns when to go on; zero: soon. At the first row that is too young
// it waits; from there it begins anew from time to time, for rows that ended late.
func (l *Ledger) eraseOld(ctx context.Context, s *sweep, now time.Time) (time.Time, error) {
	after := l.settings.Retention.After
	if s.again.IsZero() {
		s.again = now.Add(min(after, eraseLook))
	}
	before := now.Add(-after)
	old, err := l.store.Old(ctx, OldQuery{After: s.last, Before: before, Limit: eraseAtOnce})
	if err != nil {
		return time.Time{}, err
	}
	if len(old.Families) > 0 {
		erased, err := l.store.Erase(old.Families, before, now)
		if err != nil {
			return time.Time{}, err
		}
		Reach(PointErased)
		l.recent.forget(erased)
	}
	s.last = old.Last
	switch {
	case old.Next.IsZero() && !old.End:
		return time.Time{}, nil
	case !now.Before(s.again):
		*s = sweep{}
		return time.Time{}, nil
	case old.End: // what is claimed from now on
		return earlier(s.again, now.Add(after)), nil
	}
	return earlier(s.again, old.Next.Add(after)), nil
}
