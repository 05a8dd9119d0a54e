package walk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sendonce/ledger"
)

// leastErased is how often erased rows are asked for by all walks.
const leastErased = 20

// gone asks something of a row that was erased: a repeat finds it, whatever it says, and nobody can decide about it.
func (w *world) gone() error {
	r := w.anyGone()
	if r == nil {
		return nil
	}
	w.again++
	switch w.random.IntN(5) {
	case 0, 1:
		return w.repeatOf(r, w.chance(50))
	case 2:
		action := Actions[w.random.IntN(len(Actions))]
		return w.settle(r, action, w.match(r), time.Time{})
	case 3:
		return w.resendOf(r)
	}
	if len(r.Attempts) == 0 {
		return nil
	}
	return w.prove(r, 1+w.random.IntN(len(r.Attempts)))
}

// anyGone picks a row that was erased; nil: there is none.
func (w *world) anyGone() *Row {
	var list []*Row
	for _, r := range w.model.Rows {
		if r.Gone {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[w.random.IntN(len(list))]
}

// repeatOf claims an event again: the same, or with another message under the same key.
func (w *world) repeatOf(r *Row, other bool) error {
	e := w.events[r.ID].event
	e.SendAt, e.ExpiresAt, e.Lane, e.Provider = time.Time{}, time.Time{}, "", ""
	if other {
		e.Message = message(e.Channel, "another text")
	}
	w.did("claim again %s (other message %v, erased %v)", name(r), other, r.Gone)
	res, err := w.ledger.Claim(context.Background(), e)
	w.touch(r)
	var reused *ledger.ReusedError
	n := &res.Notification
	switch {
	case other && !r.Gone && errors.As(err, &reused) && reused.Existing.ID == w.events[r.ID].id:
		return nil
	case other && !r.Gone:
		return fmt.Errorf("another message under a known key: %v", err)
	case err != nil:
		return err
	case !res.Duplicate || n.ID != w.events[r.ID].id || string(n.State) != r.State || n.Erased() != r.Gone:
		return fmt.Errorf("a known event: duplicate %v, state %s, erased %v, the model says %s, %v", res.Duplicate, n.State, n.Erased(), r.State, r.Gone)
	}
	return nil
}
