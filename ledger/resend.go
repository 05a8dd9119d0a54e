package ledger

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Resend claims a second message on purpose: a new row with a key of its own, linked to its parent. The parent's version
// moves, so that a second click meets another version. ErrNotFound, *InvalidError, *StateError, *VersionError, ErrIfMatch,
// ErrNeedAccept, ErrContentGone, ErrNoChannel, ErrDraining, and what Store.Resend returns.
func (l *Ledger) Resend(_ context.Context, a Act, acceptDuplicate bool) (Notification, error) {
	a.Action = CauseResend
	if err := a.validate(); err != nil {
		return Notification{}, err
	}
	if l.draining.Load() {
		return Notification{}, ErrDraining
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Notification{}, err
	}
	var moved Notification // the parent, as this leaves it
	row, err := l.store.Resend(a.ID, func(parent Notification, n int) (Change, Claim, error) {
		moved = parent
		moved.Version++
		return l.decideResend(a, parent, n, id, acceptDuplicate)
	})
	if err != nil {
		return Notification{}, err
	}
	if row.Duplicate { // somebody brought the very key that this resend would have
		return Notification{}, &ReusedError{Existing: row.Notification, Differs: []string{"dedupe_key"}}
	}
	l.recent.doubt(moved.Seq)
	l.recent.made(row.Notification)
	l.watchers.row(&moved)
	l.watchers.row(&row.Notification)
	l.tallyOf(&row.Notification).count(row.ClaimedAt, func(s *slot) { s.Claims++ })
	l.log.Info("resend", "id", row.ID, "resend_of", a.ID, "actor", a.Actor)
	l.handOver(row.Notification)
	return row.Notification, nil
}

func (l *Ledger) decideResend(a Act, parent Notification, n int, id uuid.UUID, acceptDuplicate bool) (Change, Claim, error) {
	no := func(err error) (Change, Claim, error) { return Change{}, Claim{}, err }
	switch {
	case a.Source != nil && *a.Source != parent.Source:
		return no(ErrNotFound)
	case parent.Erased():
		return no(ErrContentGone)
	case a.IfMatch == 0:
		return no(ErrIfMatch)
	case a.IfMatch != parent.Version:
		return no(&VersionError{Existing: parent})
	case !parent.State.Final() && parent.State != StateAmbiguous:
		return no(&StateError{State: parent.State, Allowed: Allowed(parent.State, parent.MaybeSent)})
	case parent.MaybeSent && !acceptDuplicate:
		return no(ErrNeedAccept)
	case parent.ContentGone():
		return no(ErrContentGone)
	}
	provider := parent.Provider
	if o := l.outlets[provider]; !parent.Pinned || o == nil || o.provider == nil {
		e := Event{Channel: parent.Channel, Recipient: parent.Recipient, Message: parent.Message}
		var err error
		if provider, err = l.choose(&e); err != nil {
			return no(err)
		}
	}
	now := l.clock.now()
	child := parent
	child.Seq, child.ID, child.DedupeKey, child.ResendOf = 0, id, ResendKey(parent.DedupeKey, n), parent.ID
	child.Provider, child.State, child.Reason, child.MaybeSent = provider, StateClaimed, "", false
	if l.store.Condition().Restored {
		child.Reason = ReasonRestored
	}
	child.NextAction, child.DueAt, child.SendAt = DoSend, now, time.Time{}
	child.ExpiresAt = now.Add(l.rulesOf(parent.Channel, parent.EventType).expiresAfter)
	child.AttemptCount, child.Deferrals, child.Tried, child.MessageID, child.Delivery = 0, 0, "", "", NoDelivery
	child.SuspectedOf, child.Version, child.Duplicates, child.DuplicateAt = uuid.Nil, 1, 0, time.Time{}
	child.ClaimedAt, child.UpdatedAt, child.ConfirmedAt = now, now, time.Time{}
	evidence, err := json.Marshal(map[string]any{"resend": id.String(), "ordinal": n, "accept_duplicate": acceptDuplicate})
	if err != nil {
		return no(err)
	}
	c := keep(parent, now)
	c.Settlement = &Settlement{At: now, Action: CauseResend, From: parent.State, To: parent.State,
		Actor: a.Actor, Person: a.Person, Reason: a.Reason, Evidence: evidence}
	return c, Claim{Notification: child}, nil
}
