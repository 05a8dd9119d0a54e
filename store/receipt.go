package store

import (
	"errors"

	"sendonce/ledger"
)

var errNoKey = errors.New("a receipt needs an event key or a fact key")

// Prove stores a receipt once and moves its row as decide says; while the row is sending the receipt waits for Close.
// matched is false when no row is known yet.
func (s *Store) Prove(r ledger.Receipt, decide func(ledger.Notification, ledger.ProofFacts) (ledger.Change, error)) (n ledger.Notification, matched bool, err error) {
	if r.EventKey == "" {
		r.EventKey = r.FactKey
	}
	if r.FactKey == "" {
		r.FactKey = r.EventKey
	}
	if r.EventKey == "" {
		return n, false, errNoKey
	}
	var refused error
	err = s.write(1, func(t *tx) (err error) {
		n, matched, refused, err = t.prove(&r, decide)
		return err
	})
	if err == nil {
		err = refused
	}
	return n, matched, err
}

func (t *tx) prove(r *ledger.Receipt, decide func(ledger.Notification, ledger.ProofFacts) (ledger.Change, error)) (n ledger.Notification, matched bool, refused, err error) {
	n, number, matched, err := t.match(r)
	if err != nil {
		return n, false, nil, err
	}
	known, err := t.keepReceipt(r, n.Seq, number)
	if err != nil || !matched {
		return n, false, nil, err
	}
	if r.MessageID != "" { // the next report may come without our reference
		if err := t.noteMessageID(r.MessageID, r.Provider, n.Seq, number); err != nil {
			return n, true, nil, err
		}
	}
	if n.State == ledger.StateSending {
		return n, true, nil, nil
	}
	facts, err := t.proofFacts(r, n.Seq, number)
	if err != nil {
		return n, true, nil, err
	}
	facts.Known = known
	c, refused := decide(n, facts)
	if refused != nil || c.State == "" {
		return n, true, refused, nil
	}
	if n, err = t.change(n, c); err != nil {
		return n, true, nil, err
	}
	if n.State == ledger.StateSent && n.AttemptCount > 0 {
		err = t.dropRequests(n.Seq)
	}
	return n, true, nil, err
}

// match finds the row and the attempt that a receipt is about: by our own reference, else by the provider's message id.
func (t *tx) match(r *ledger.Receipt) (n ledger.Notification, number int, matched bool, err error) {
	if r.ID != (ledger.Receipt{}).ID {
		n, found, err := notification(t, byID, r.ID[:])
		if err != nil {
			return n, 0, false, err
		}
		if found && r.Number >= 0 && r.Number <= n.AttemptCount {
			number := r.Number
			if number == 0 {
				number = n.AttemptCount // the reference names no attempt: the newest, unless its id says another
				_, err = t.row("SELECT number FROM message_id_rows WHERE message_id = $1 AND provider = $2 AND notification = $3 ORDER BY number LIMIT 1",
					[]any{r.MessageID, r.Provider, n.Seq}, toInt[int]{&number})
			}
			return n, number, err == nil, err
		}
	}
	if r.MessageID == "" {
		return ledger.Notification{}, 0, false, nil
	}
	var seq int64
	found, err := t.row("SELECT notification, number FROM message_id_rows WHERE message_id = $1 AND provider = $2 ORDER BY notification, number LIMIT 1",
		[]any{r.MessageID, r.Provider}, toInt[int64]{&seq}, toInt[int]{&number})
	if err != nil || !found {
		return ledger.Notification{}, 0, false, err
	}
	n, matched, err = notification(t, bySeq, seq)
	return n, number, matched, err
}

// keepReceipt stores a receipt unless it, or one with the same fact, is stored. One that was stored without a row and has
// one now is given to it, and counts as new.
func (t *tx) keepReceipt(r *ledger.Receipt, seq int64, number int) (known bool, err error) {
	var id, owner int64
	stored, err := t.row(`SELECT id, notification FROM receipts WHERE provider = $1 AND event_key = $2
 UNION ALL SELECT id, notification FROM receipts WHERE provider = $1 AND fact_key = $3 LIMIT 1`,
		[]any{r.Provider, r.EventKey, r.FactKey}, toInt[int64]{&id}, toInt[int64]{&owner})
	if err != nil {
		return false, err
	}
	var row, attempt any // NULL: no row is known yet
	if seq != 0 {
		row, attempt = seq, int64(number)
	}
	switch {
	case stored && (owner != 0 || seq == 0):
		return true, nil
	case stored:
		_, err = t.exec("UPDATE receipts SET notification = $1, number = $2 WHERE id = $3", row, attempt, id)
		return false, err
	}
	_, err = t.exec(`INSERT INTO receipts (provider, event_key, fact_key, notification, number, message_id, kind, delivery, code, provider_at,
 arrived_at, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		r.Provider, r.EventKey, r.FactKey, row, attempt, text(r.MessageID), r.Kind, text(r.Delivery), text(r.Code), ms(r.ProviderAt),
		ms(r.ArrivedAt), blob(r.Body))
	t.counts.at(r.ArrivedAt)
	return false, err
}

// proofFacts reads the row's attempts, which of them other receipts prove, and the highest delivery.
func (t *tx) proofFacts(r *ledger.Receipt, seq int64, number int) (f ledger.ProofFacts, err error) {
	f.Number = number
	attempts, err := pieces(t, attemptsOf, seq, seq, attemptTargets)
	if err != nil {
		return f, err
	}
	f.Attempts = attempts[seq]
	rows, err := t.query("SELECT DISTINCT number FROM receipts WHERE notification = $1 AND NOT (provider = $2 AND event_key = $3) ORDER BY number",
		seq, r.Provider, r.EventKey)
	if f.Proven, err = collect(rows, err, func(n *int) []any { return []any{toInt[int]{n}} }); err != nil {
		return f, err
	}
	f.Highest, err = highest(t, seq)
	return f, err
}
