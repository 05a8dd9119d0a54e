package store

import "sendonce/ledger"

// decideLook says what becomes of a row that was looked for.
type decideLook = func(ledger.Notification, ledger.LookFacts) (ledger.LookDecision, error)

// LookUp writes what a look-up showed of a row: the change and its settlement, then the receipts as Prove does. ErrNotFound.
func (s *Store) LookUp(q ledger.LookQuery, decide decideLook, prove decideProof) (n ledger.Notification, proved []ledger.Proved, err error) {
	var refused error
	err = s.write(1, func(t *tx) (err error) {
		n, proved, refused, err = t.lookUp(q, decide, prove)
		return err
	})
	if err == nil {
		err = refused
	}
	return n, proved, err
}

func (t *tx) lookUp(q ledger.LookQuery, decide decideLook, prove decideProof) (n ledger.Notification, proved []ledger.Proved, refused, err error) {
	n, found, err := notification(t, byID, q.ID[:])
	if err != nil {
		return n, nil, nil, err
	}
	if !found {
		return n, nil, ledger.ErrNotFound, nil
	}
	facts, err := t.lookFacts(&q, &n)
	if err != nil {
		return n, nil, nil, err
	}
	d, refused := decide(n, facts)
	if refused != nil {
		return n, nil, refused, nil
	}
	if d.Change.State != "" {
		if n, err = t.change(n, d.Change); err != nil {
			return n, nil, nil, err
		}
	}
	for _, r := range d.Receipts {
		p, err := t.prove(r, prove)
		if err != nil {
			return n, nil, nil, err
		}
		if proved = append(proved, p); p.Matched {
			n = p.Notification
		}
	}
	return n, proved, nil, nil
}

// otherRows are rows of the same recipient and channel with an attempt that ran between two times and was not surely without a
// message.
const otherRows = `SELECT ` + rowColumns + ` FROM contents c JOIN notifications n ON n.seq = c.notification
 WHERE c.recipient_key = $1 AND n.seq <> $2 AND n.channel = $3 AND EXISTS (SELECT 1 FROM attempts a WHERE a.notification = n.seq
 AND a.started_at <= $4 AND (a.outcome IS NULL OR a.ended_at >= $5 AND (a.outcome = 'accepted' OR a.outcome = 'ambiguous')))`

// lookFacts reads what else the ledger knows of a message that was found by its content.
func (t *tx) lookFacts(q *ledger.LookQuery, n *ledger.Notification) (f ledger.LookFacts, err error) {
	if q.MessageID == "" {
		return f, nil
	}
	var owner int64
	f.Foreign, err = t.row("SELECT notification FROM message_id_rows WHERE message_id = $1 AND notification <> $2 LIMIT 1",
		[]any{q.MessageID, n.Seq}, toInt[int64]{&owner})
	if err != nil {
		return f, err
	}
	rows, err := t.query(otherRows, n.RecipientKey, n.Seq, string(n.Channel), ms(q.Until), ms(q.From))
	f.Others, err = collect(rows, err, rowTargets)
	return f, err
}
