package store

import (
	"github.com/google/uuid"

	"sendonce/ledger"
)

const (
	attemptProvider = "SELECT provider FROM attempts WHERE notification = $1 AND number = $2"

	// rowsOfID asks for two rows: a message id that several have tells none of them.
	rowsOfID = `SELECT notification, min(number) FROM message_id_rows WHERE message_id = $1 AND provider = $2 GROUP BY notification LIMIT 2`

	// standing says what is known of a message id beside a row's attempt: whether it is noted there, whether another row has it,
	// and how many receipts wait for it.
	standing = `SELECT EXISTS (SELECT 1 FROM message_id_rows WHERE message_id = $1 AND provider = $2 AND notification = $3 AND number = $4),
 EXISTS (SELECT 1 FROM message_id_rows WHERE message_id = $1 AND provider = $2 AND notification <> $3),
 (SELECT count(*) FROM receipts WHERE notification IS NULL AND message_id = $1 AND provider = $2)`

	// provenAttempts lists a row's attempts that receipts prove; $2 is left out.
	provenAttempts = `SELECT a.number FROM attempts a WHERE a.notification = $1
 AND EXISTS (SELECT 1 FROM receipts r WHERE r.notification = a.notification AND r.number = a.number AND r.id <> $2) ORDER BY a.number`
)

// match is the attempt that a receipt is about. The zero row: none is known.
type match struct {
	row         ledger.Notification
	number      int
	byReference bool
}

// match finds the attempt by our own reference, else by the provider's message id. A reference counts only where it names an
// attempt that was handed to this very provider; any other says nothing.
func (t *tx) match(r *ledger.Receipt) (m match, err error) {
	if r.ID != uuid.Nil && r.Number > 0 {
		n, found, err := notification(t, byID, r.ID[:])
		if err != nil {
			return m, err
		}
		if found {
			var provider string
			if _, err := t.row(attemptProvider, []any{n.Seq, int64(r.Number)}, &provider); err != nil {
				return m, err
			}
			if provider == r.Provider {
				return match{row: n, number: r.Number, byReference: true}, nil
			}
		}
	}
	if r.MessageID == "" {
		return m, nil
	}
	rows, err := t.query(rowsOfID, r.MessageID, r.Provider)
	list, err := collect(rows, err, func(m *match) []any { return []any{toInt[int64]{&m.row.Seq}, toInt[int]{&m.number}} })
	if err != nil || len(list) != 1 {
		return m, err
	}
	m = list[0]
	m.row, _, err = notification(t, bySeq, m.row.Seq)
	return m, err
}

// proofFacts notes the receipt's message id, since the next report may come without our reference, and reads what a decision
// needs. What it reads does not grow with the row's receipts.
func (t *tx) proofFacts(r *ledger.Receipt, m match, id int64) (f ledger.ProofFacts, err error) {
	f.Number, f.ByReference = m.number, m.byReference
	f.Highest = ledger.Higher(m.row.Delivery, r.Delivery)
	if m.byReference && r.MessageID != "" {
		var waited int64
		if f.Shared, waited, err = t.learnMessageID(r, m); err != nil {
			return f, err
		}
		if waited > 0 {
			if f.Highest, err = highest(t, m.row.Seq); err != nil {
				return f, err
			}
		}
	}
	if m.row.AttemptCount < 2 || m.row.State == ledger.StateSending {
		return f, nil // a single message cannot be a second one
	}
	attempts, err := pieces(t, attemptsOf, m.row.Seq, m.row.Seq, attemptTargets)
	if err != nil {
		return f, err
	}
	f.Attempts = attempts[m.row.Seq]
	rows, err := t.query(provenAttempts, m.row.Seq, id)
	f.Proven, err = collect(rows, err, func(n *int) []any { return []any{toInt[int]{n}} })
	return f, err
}

// learnMessageID notes an id that came with our reference, and gives the attempt the receipts that waited for it. shared: it is
// another row's too, and what waits for it may be about either.
func (t *tx) learnMessageID(r *ledger.Receipt, m match) (shared bool, waited int64, err error) {
	var noted bool
	if _, err := t.row(standing, []any{r.MessageID, r.Provider, m.row.Seq, int64(m.number)},
		toBool{&noted}, toBool{&shared}, toInt[int64]{&waited}); err != nil || noted {
		return shared, 0, err
	}
	if err := t.noteMessageID(r.MessageID, r.Provider, m.row.Seq, m.number); err != nil {
		return shared, 0, err
	}
	if shared {
		t.counts.shared++
	}
	if waited > 0 {
		waited, err = t.matchReceipts(r.MessageID, r.Provider, m.row.Seq, m.number)
	}
	return shared, waited, err
}
