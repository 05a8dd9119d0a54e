package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// readsAfterRepeat is how many events, of those that memory does not know, the store is asked for before it is guessed again that
// they are new.
const readsAfterRepeat = 1000

// guesses say whether an event that memory does not know is taken for new. Then the store is not asked first: the claim itself
// asks the same index, and tells. Repeats that come long after their event come in crowds (a queue that is played again), so one
// of them is enough to ask first for a while; so is a start.
type guesses struct {
	off atomic.Int64 // less readsAfterRepeat: how many reads are still to come
}

func (g *guesses) wrong() { g.off.Store(0) }

func (g *guesses) new() bool {
	if g.off.Load() >= readsAfterRepeat {
		return true
	}
	g.off.Add(1)
	return false
}

// guess reports whether an event that memory does not know may be claimed without asking the store first. While the store takes no
// claim, repeats are still answered, so it is asked.
func (l *Ledger) guess() bool {
	return l.guesses.new() && l.store.Condition().Err == nil
}

// again says whether a claim that was guessed to be new and was not written is to be looked up after all: it may be a repeat, and
// those are answered whatever keeps claims from being written. Not where its own commit may hold: what is read then may be lost yet.
func (g *guesses) again(err error) bool {
	switch {
	case errors.Is(err, ErrOverload), errors.Is(err, ErrStorageLow), errors.Is(err, ErrUnavailable):
		g.wrong()
		return true
	case errors.Is(err, ErrUnknown):
		g.wrong()
	}
	return false
}

// place finds the row that has one of a claim's keys, or makes the claim ready. What it does not find proves nothing: only the
// claim does. ErrUnavailable: it could not look, and surely nothing was claimed.
func (l *Ledger) place(ctx context.Context, c *Claim, e *Event, guess bool) (Notification, bool, error) {
	n, epoch, found := l.recent.find(c.Source, c.DedupeKey)
	if found {
		return n, true, nil
	}
	var refusal error
	if guess && len(c.Others) == 0 && ctx.Err() == nil { // with other keys there is more to look up than the writer should
		if refusal = l.complete(c, e); refusal == nil {
			return n, false, nil
		}
	}
	n, found, err := l.store.Prior(ctx, *c)
	switch {
	case err != nil:
		return n, false, fmt.Errorf("%w: %w", ErrUnavailable, err)
	case found:
		l.guesses.wrong()
		l.recent.read(n, epoch)
		return n, true, nil
	case refusal != nil:
		return n, false, refusal
	}
	return n, false, l.complete(c, e)
}
