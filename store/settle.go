package store

import (
	"fmt"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// Settle changes a row as decide says, which sees it inside the write. ErrNotFound, and decide's error as it is.
func (s *Store) Settle(id uuid.UUID, decide func(ledger.Notification) (ledger.Change, error)) (ledger.Notification, error) {
	var out ledger.Notification
	var refused error
	err := s.write(1, func(t *tx) (err error) {
		out, refused, err = t.settle(id, decide)
		return err
	})
	if err == nil {
		err = refused
	}
	return out, err
}

func (t *tx) settle(id uuid.UUID, decide func(ledger.Notification) (ledger.Change, error)) (n ledger.Notification, refused, err error) {
	n, found, err := anyRow(t, byID, erasedByID, id[:])
	if err != nil {
		return n, nil, err
	}
	if !found {
		return n, ledger.ErrNotFound, nil
	}
	c, refused := decide(n)
	if refused != nil || c.State == "" {
		return n, refused, nil
	}
	if c.Note {
		t.counts.moved(n.State, n.State, n.MaybeSent, n.MaybeSent, c.Settlement.At)
		return n, nil, t.settlement(n.Seq, n.State, n.State, c.Settlement)
	}
	if c.MessageID != "" && c.MessageID != n.MessageID {
		if err := t.bringMessageID(&n, &c); err != nil {
			return n, nil, err
		}
	}
	if n, err = t.change(n, c); err != nil {
		return n, nil, err
	}
	if n.State == ledger.StateSent && n.AttemptCount > 0 {
		err = t.dropRequests(n.Seq)
	}
	return n, nil, err
}

// bringMessageID notes an id that a person brought, and matches receipts that waited for it.
func (t *tx) bringMessageID(n *ledger.Notification, c *ledger.Change) error {
	provider := n.Provider
	if c.Provider != "" {
		provider = c.Provider
	}
	if err := t.noteMessageID(c.MessageID, provider, n.Seq, n.AttemptCount); err != nil {
		return err
	}
	matched, err := t.matchReceipts(c.MessageID, provider, n.Seq, n.AttemptCount)
	if err != nil || matched == 0 {
		return err
	}
	c.Delivery, err = highest(t, n.Seq)
	return err
}

// apply is a row after a change. The version moves with the state and with settlements.
func apply(n ledger.Notification, c ledger.Change) ledger.Notification {
	if n.State != c.State || c.Settlement != nil {
		n.Version++
	}
	if n.State != c.State && c.Settlement != nil && c.Settlement.From == c.State {
		n.Version++ // moved, and then settled where it had come to
	}
	n.State, n.Reason, n.MaybeSent = c.State, c.Reason, c.MaybeSent
	n.NextAction, n.DueAt, n.ConfirmedAt = c.NextAction, kept(c.DueAt), kept(c.ConfirmedAt)
	n.Deferrals, n.Tried = c.Deferrals, c.Tried
	if c.Provider != "" {
		n.Provider = c.Provider
	}
	if c.MessageID != "" {
		n.MessageID = c.MessageID
	}
	if c.Delivery != ledger.NoDelivery {
		n.Delivery = c.Delivery
	}
	if !c.ExpiresAt.IsZero() {
		n.ExpiresAt = kept(c.ExpiresAt)
	}
	if !c.At.IsZero() {
		n.UpdatedAt = kept(c.At)
	}
	return n
}

// change writes a row's change and its settlement. The row was read in this transaction, so another state or version is no
// ordinary answer but a fault.
func (t *tx) change(old ledger.Notification, c ledger.Change) (ledger.Notification, error) {
	n := apply(old, c)
	changed, err := t.exec(`UPDATE notifications SET state = $1, reason = $2, maybe_sent = $3, next_action = $4, due_at = $5, provider = $6,
 deferrals = $7, tried = $8, message_id = $9, delivery = $10, expires_at = $11, confirmed_at = $12, version = $13, updated_at = $14
 WHERE seq = $15 AND state = $16 AND version = $17`,
		string(n.State), text(n.Reason), flag(n.MaybeSent), text(n.NextAction), ms(n.DueAt), n.Provider,
		int64(n.Deferrals), n.Tried, text(n.MessageID), text(n.Delivery), ms(n.ExpiresAt), ms(n.ConfirmedAt), n.Version, ms(n.UpdatedAt),
		n.Seq, string(old.State), old.Version)
	if err == nil && changed != 1 {
		err = fmt.Errorf("row %d changed under its own transaction", n.Seq)
	}
	if err != nil {
		return old, err
	}
	t.counts.moved(old.State, n.State, old.MaybeSent, n.MaybeSent, n.UpdatedAt)
	if c.Settlement == nil {
		return n, nil
	}
	return n, t.settlement(n.Seq, old.State, n.State, c.Settlement)
}

func (t *tx) settlement(seq int64, from, to ledger.State, s *ledger.Settlement) error {
	if s.From != "" {
		from = s.From
	}
	if s.To != "" {
		to = s.To
	}
	if s.Action == ledger.CauseProof && from == ledger.StateSent {
		t.counts.twice++
	}
	_, err := t.exec(`INSERT INTO settlements (notification, at, action, from_state, to_state, actor, person, reason, evidence)
 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		seq, ms(s.At), string(s.Action), string(from), string(to), s.Actor, text(s.Person), text(s.Reason), jsonText(s.Evidence))
	return err
}

// Resend writes a settlement on the parent and claims the child, in one operation. ErrNotFound, decide's error, and what
// Claim returns. A child whose key somebody brought already changes nothing and comes back as a duplicate.
func (s *Store) Resend(parent uuid.UUID, decide func(parent ledger.Notification, n int) (ledger.Change, ledger.Claim, error)) (ledger.Claimed, error) {
	var child ledger.Claimed
	var refused error
	err := s.claim(1, func(t *tx) (err error) {
		child, refused, err = t.resend(parent, decide)
		return err
	})
	if err == nil {
		err = refused
	}
	return child, err
}

func (t *tx) resend(id uuid.UUID, decide func(ledger.Notification, int) (ledger.Change, ledger.Claim, error)) (child ledger.Claimed, refused, err error) {
	parent, found, err := anyRow(t, byID, erasedByID, id[:])
	if err != nil {
		return child, nil, err
	}
	if !found {
		return child, ledger.ErrNotFound, nil
	}
	var ordinal int
	if _, err := t.row("SELECT coalesce(max(resend_number), 0) + 1 FROM notifications WHERE resend_of = $1", []any{id[:]}, toInt[int]{&ordinal}); err != nil {
		return child, nil, err
	}
	change, claim, refused := decide(parent, ordinal)
	if refused != nil {
		return child, refused, nil
	}
	claim.ResendOf = id
	if n, found, err := prior(t, &claim, true); found || err != nil {
		return ledger.Claimed{Notification: n, Duplicate: true}, nil, err
	}
	if change.State != "" {
		if _, err := t.change(parent, change); err != nil {
			return child, nil, err
		}
	}
	child, err = t.claim(&claim, int64(ordinal))
	return child, nil, err
}
