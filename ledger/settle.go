package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Act is one settlement by a person.
type Act struct {
	Action    Cause // one of Actions
	ID        uuid.UUID
	Source    *string // as in Get
	Reason    string
	Actor     string // name of the API key
	Person    string
	MessageID string    // confirm only
	ExpiresAt time.Time // release only; zero: keep
	IfMatch   int64     // 0: not given
	Surely    bool      // role send: release only of a failed row that is surely not sent
}

// Settle does what a person decided. ErrNotFound, *InvalidError, *StateError, *VersionError, ErrIfMatch, ErrContentGone,
// ErrPast, ErrMayBeSent where Surely is set.
// The same action on a row that it already moved changes nothing and is no error.
func (l *Ledger) Settle(ctx context.Context, a Act) (Notification, error) {
	if err := a.validate(); err != nil {
		return Notification{}, err
	}
	n, err := l.settleOne(a)
	var state *StateError
	var version *VersionError
	if errors.As(err, &state) || errors.As(err, &version) {
		return l.again(ctx, a, err)
	}
	return n, err
}

// settleOne settles a row and hands it on.
func (l *Ledger) settleOne(a Act) (Notification, error) {
	n, err := l.settle(a.ID, func(n Notification) (Change, error) { return l.decideAct(a, n) })
	if err != nil {
		return Notification{}, err
	}
	l.log.Info("settled", "id", n.ID, "action", a.Action, "actor", a.Actor, "state", n.State, "reason", n.Reason)
	if a.Action.settles() {
		l.tallyOf(&n).count(n.UpdatedAt, func(s *slot) { s.ByPerson++ })
	}
	l.repeats.addTo(&n)
	if n.State.Final() || n.State == StateHeld {
		l.waiters.ended(n)
	}
	l.moveOn(n)
	return n, nil
}

// settle settles in the store, and in memory.
func (l *Ledger) settle(id uuid.UUID, decide func(Notification) (Change, error)) (Notification, error) {
	var before Notification
	n, err := l.store.Settle(id, func(cur Notification) (Change, error) {
		before = cur
		return decide(cur)
	})
	if err == nil {
		l.recent.moved(n)
		l.watchers.row(&n)
		l.tellRow(&before, &n)
	}
	return n, err
}

func (a *Act) validate() error {
	var f []FieldError
	if a.Reason == "" {
		f = append(f, FieldError{"reason", "say why; it is kept with the settlement"})
	}
	f = append(f, checkText("reason", a.Reason, MaxReason)...)
	f = append(f, checkText("by", a.Person, MaxPerson)...)
	f = append(f, checkText("message_id", a.MessageID, MaxMessageID)...)
	if a.MessageID != "" && a.Action != CauseConfirm {
		f = append(f, FieldError{"message_id", "belongs to confirm only"})
	}
	if !a.ExpiresAt.IsZero() && a.Action != CauseRelease {
		f = append(f, FieldError{"expires_at", "belongs to release only"})
	}
	if f != nil {
		return &InvalidError{Fields: f}
	}
	return nil
}

// decideAct says what becomes of a row that a person decides about; pure but for the clock.
func (l *Ledger) decideAct(a Act, n Notification) (Change, error) {
	if a.Source != nil && *a.Source != n.Source {
		return Change{}, ErrNotFound
	}
	if n.Erased() {
		return Change{}, ErrContentGone
	}
	if a.IfMatch != 0 && a.IfMatch != n.Version {
		return Change{}, &VersionError{Existing: n}
	}
	to, ok := Next(n.State, a.Action, n.MaybeSent)
	if ok && a.Surely && a.Action == CauseRelease && (n.State != StateFailed || n.MaybeSent) {
		return Change{}, ErrMayBeSent
	}
	if !ok {
		return Change{}, &StateError{State: n.State, Allowed: Allowed(n.State, n.MaybeSent)}
	}
	now := l.clock.now()
	c := keep(n, now)
	switch a.Action {
	case CauseConfirm:
		c.sent(a.MessageID, ReasonConfirmed)
	case CauseAbandon:
		c.failed(ReasonAbandoned)
	case CauseHold:
		c.State, c.Reason = to, ""
		c.NextAction, c.DueAt = expiry(n)
	case CauseUnhold:
		due := now
		if n.SendAt.After(now) {
			due = n.SendAt
		}
		c.claimed("", due, n.ExpiresAt)
		if due.After(now) {
			c.Reason = ReasonScheduled
		}
		l.settleIn(&c, n)
	case CauseCancel:
		c.State, c.Reason, c.NextAction, c.DueAt = to, "", DoNothing, time.Time{}
	case CauseRelease:
		if err := l.release(&c, a, n, now); err != nil {
			return Change{}, err
		}
	}
	c.Settlement = &Settlement{At: now, Action: a.Action, From: n.State, To: c.State, Actor: a.Actor, Person: a.Person, Reason: a.Reason}
	return c, nil
}

// release says that a row was not sent, so send it: the ladder starts anew.
func (l *Ledger) release(c *Change, a Act, n Notification, now time.Time) error {
	if n.MaybeSent && a.IfMatch == 0 {
		return ErrIfMatch
	}
	if n.ContentGone() {
		return ErrContentGone
	}
	expires := n.ExpiresAt
	if !a.ExpiresAt.IsZero() {
		expires = milli(a.ExpiresAt)
		c.ExpiresAt = expires
	}
	if !expires.IsZero() && !expires.After(now) {
		return ErrPast
	}
	c.MaybeSent, c.Deferrals, c.Tried = false, 0, ""
	c.claimed(ReasonReleased, now, expires)
	n.MaybeSent = false
	c.Provider = l.firstChoice(n)
	l.settleIn(c, n)
	return nil
}

// again answers an action that the row does not allow: when this very action brought the row where it is, the caller has
// what he wanted.
func (l *Ledger) again(ctx context.Context, a Act, refused error) (Notification, error) {
	r, err := l.store.Get(ctx, a.ID)
	if err != nil {
		return Notification{}, err
	}
	var version *VersionError
	if errors.As(refused, &version) && (a.IfMatch != r.Version-1 || !lastMove(&r)) || !a.did(&r) {
		return Notification{}, refused
	}
	l.repeats.addTo(&r.Notification)
	return r.Notification, nil
}

// did reports whether the last settlement that moved the row was this action, with the same particulars. A policy's release
// accepts a duplicate where a person's says that nothing was sent, so it is another.
func (a *Act) did(r *Record) bool {
	for i := len(r.Settlements) - 1; i >= 0; i-- {
		s := &r.Settlements[i]
		if s.From == s.To {
			continue
		}
		return s.Action == a.Action && !(a.Action == CauseRelease && s.byPolicy()) &&
			(a.MessageID == "" || a.MessageID == r.MessageID) && (a.ExpiresAt.IsZero() || milli(a.ExpiresAt).Equal(r.ExpiresAt))
	}
	return false
}

// lastMove reports whether nothing has moved the row since its last settlement: only claimed rows are left by attempts.
func lastMove(r *Record) bool {
	i := len(r.Settlements) - 1
	for i >= 0 && r.Settlements[i].Action == CauseReveal { // nobody moves a row by looking at it
		i--
	}
	if i < 0 {
		return false
	}
	s := &r.Settlements[i]
	attempted := len(r.Attempts) > 0 && !r.Attempts[len(r.Attempts)-1].StartedAt.Before(s.At)
	return s.From != s.To && s.To == r.State && !(s.To == StateClaimed && attempted)
}

// checkText applies the rules of names to what people write.
func checkText(field, s string, most int) []FieldError {
	v := eventFaults{}
	v.id(field, s, most, false)
	return v.faults
}
