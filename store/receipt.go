package store

import (
	"errors"

	sqlite3 "modernc.org/sqlite/lib"

	"sendonce/ledger"
)

var errNoKey = errors.New("a receipt needs an event key or a fact key")

// decideProof says what becomes of a row that a receipt is about.
type decideProof = func(ledger.Receipt, ledger.Notification, ledger.ProofFacts) (ledger.Change, error)

// Prove stores receipts, each once, and moves their rows as decide says. One commit holds them all, but where one of them is
// refused by the schema: then each is written by itself, so that it spoils no other.
func (s *Store) Prove(list []ledger.Receipt, decide decideProof) ([]ledger.Proved, error) {
	out := make([]ledger.Proved, len(list))
	err := s.write(len(list), func(t *tx) error {
		for i := range list {
			var err error
			if out[i], err = t.prove(list[i], decide); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err == nil:
		return out, nil
	case code(err) != sqlite3.SQLITE_CONSTRAINT:
		return nil, err
	case len(list) == 1:
		return []ledger.Proved{{Err: err}}, nil
	}
	for i := range list {
		one, err := s.Prove(list[i:i+1], decide)
		if err != nil {
			return nil, err
		}
		out[i] = one[0]
	}
	return out, nil
}

func (t *tx) prove(r ledger.Receipt, decide decideProof) (p ledger.Proved, err error) {
	if r.EventKey == "" {
		r.EventKey = r.FactKey
	}
	if r.FactKey == "" {
		r.FactKey = r.EventKey
	}
	if r.EventKey == "" {
		return ledger.Proved{Err: errNoKey}, nil
	}
	m, err := t.match(&r)
	if err != nil {
		return p, err
	}
	p.Notification, p.Matched = m.row, m.row.Seq != 0
	id, err := t.keepReceipt(&r, m)
	if p.Known = id == 0; err != nil || p.Known || !p.Matched {
		return p, err
	}
	facts, err := t.proofFacts(&r, m, id)
	if err != nil || m.row.State == ledger.StateSending { // it waits for the end of the attempt
		return p, err
	}
	c, refused := decide(r, m.row, facts)
	if p.Err = refused; refused != nil || c.State == "" {
		return p, nil
	}
	p.Settled = c.Settlement != nil
	p.Twice = p.Settled && m.row.State == ledger.StateSent
	if p.Notification, err = t.change(m.row, c); err != nil {
		return p, err
	}
	if p.State == ledger.StateSent && m.row.State != ledger.StateSent && p.AttemptCount > 0 {
		err = t.dropRequests(p.Seq)
	}
	return p, err
}

// keepReceipt stores a receipt unless it, or one with the same fact, is stored: 0 then. One that was stored without a row and
// has one now is given to it, and counts as new. An event's id that came with another message's before is no event's id.
func (t *tx) keepReceipt(r *ledger.Receipt, m match) (id int64, err error) {
	var owner int64
	var messageID string
	stored, err := t.row(`SELECT id, notification, coalesce(message_id, '') FROM receipts WHERE provider = $1 AND event_key = $2
 UNION ALL SELECT id, notification, coalesce(message_id, '') FROM receipts WHERE provider = $1 AND fact_key = $3 LIMIT 1`,
		[]any{r.Provider, r.EventKey, r.FactKey}, toInt[int64]{&id}, toInt[int64]{&owner}, &messageID)
	if err != nil {
		return 0, err
	}
	if stored && messageID != r.MessageID && r.EventKey != r.FactKey {
		r.EventKey = r.FactKey
		return t.keepReceipt(r, m)
	}
	var row, attempt any // NULL: no row is known yet
	if m.row.Seq != 0 {
		row, attempt = m.row.Seq, int64(m.number)
	}
	switch {
	case stored && (owner != 0 || row == nil):
		return 0, nil
	case stored:
		t.counts.unmatched--
		_, err = t.exec("UPDATE receipts SET notification = $1, number = $2 WHERE id = $3", row, attempt, id)
		return id, err
	}
	t.counts.receipts++
	if row == nil {
		t.counts.unmatched++
	}
	t.counts.at(r.ArrivedAt)
	return t.insert(`INSERT INTO receipts (provider, event_key, fact_key, notification, number, message_id, kind, delivery, code, provider_at,
 arrived_at, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		r.Provider, r.EventKey, r.FactKey, row, attempt, text(r.MessageID), r.Kind, text(r.Delivery), text(r.Code), ms(r.ProviderAt),
		ms(r.ArrivedAt), blob(r.Body))
}
