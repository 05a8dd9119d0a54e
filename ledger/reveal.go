package ledger

import (
	"context"
)

// Reveal returns a row with its recipient and message, and records who looked and why. Nothing of the row changes, its version
// neither: a look is no change. ErrNotFound, *InvalidError, ErrContentGone, and what Store.Settle returns.
func (l *Ledger) Reveal(_ context.Context, a Act) (Notification, error) {
	a.Action = CauseReveal
	if err := a.validate(); err != nil {
		return Notification{}, err
	}
	n, err := l.store.Settle(a.ID, func(n Notification) (Change, error) {
		switch {
		case a.Source != nil && *a.Source != n.Source:
			return Change{}, ErrNotFound
		case n.ContentGone():
			return Change{}, ErrContentGone
		}
		return Change{State: n.State, Note: true, Settlement: &Settlement{
			At: l.clock.now(), Action: CauseReveal, From: n.State, To: n.State, Actor: a.Actor, Person: a.Person, Reason: a.Reason,
		}}, nil
	})
	if err != nil {
		return Notification{}, err
	}
	l.log.Info("revealed", "id", n.ID, "actor", a.Actor)
	l.watchers.row(&n)
	l.repeats.addTo(&n)
	return n, nil
}
