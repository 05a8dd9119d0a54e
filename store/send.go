package store

import (
	"errors"
	"fmt"
	"slices"

	"sendonce/ledger"
)

const (
	takeClaimed = `UPDATE notifications SET state = 'sending', reason = NULL, next_action = NULL, due_at = NULL, provider = $1,
 attempt_count = attempt_count + 1, version = version + 1, updated_at = $2
 WHERE seq = $3 AND state = 'claimed' AND version = $4 AND attempt_count = $5 AND due_at <= $2 AND (expires_at IS NULL OR expires_at > $2)`
	takeAmbiguous = `UPDATE notifications SET state = 'sending', reason = NULL, next_action = NULL, due_at = NULL, provider = $1,
 attempt_count = attempt_count + 1, version = version + 1, updated_at = $2
 WHERE seq = $3 AND state = 'ambiguous' AND next_action = 'repeat' AND version = $4 AND attempt_count = $5 AND due_at <= $2
 AND (expires_at IS NULL OR expires_at > $2)`
)

// Take moves a row to sending and opens its attempt. ErrMoved.
func (s *Store) Take(k ledger.Taking) error {
	c := s.Condition()
	switch {
	case c.Restored:
		return errRestored
	case c.Err != nil && !errors.Is(c.Err, ledger.ErrStorageLow):
		return c.Err
	}
	var moved bool
	err := s.write(1, func(t *tx) (err error) {
		moved, err = t.take(&k)
		return err
	})
	if err == nil && moved {
		return ledger.ErrMoved
	}
	return err
}

func (t *tx) take(k *ledger.Taking) (moved bool, err error) {
	query, from := takeClaimed, ledger.StateClaimed
	if k.Kind == ledger.KindRepeat {
		query, from = takeAmbiguous, ledger.StateAmbiguous
	}
	a := &k.Attempt
	n, err := t.exec(query, k.Provider, ms(a.StartedAt), a.Seq, k.Version, int64(a.Number-1))
	if err != nil || n == 0 {
		return err == nil, err
	}
	t.counts.moved(from, ledger.StateSending, false, false, a.StartedAt) // maybe_sent stays as it is
	return false, t.open(a, a.Seq)
}

// open writes an attempt that begins.
func (t *tx) open(a *ledger.Attempt, seq int64) error {
	_, err := t.exec(`INSERT INTO attempts (notification, number, kind, provider, account, request_hash, request, started_at)
 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		seq, int64(a.Number), string(a.Kind), a.Provider, a.Account[:], a.RequestHash[:], blob(a.Request), ms(a.StartedAt))
	return err
}

// evidenceQuery asks for all in one: each part is one look into an index that is empty of this row as a rule.
const evidenceQuery = `SELECT n.state, n.delivery, n.maybe_sent, n.version, n.duplicate_count, n.last_duplicate_at, n.expires_at,
 (SELECT count(*) FROM receipts WHERE notification = $1),
 (SELECT count(*) FROM receipts WHERE notification IS NULL AND message_id = $2 AND provider = $3),
 (SELECT notification FROM message_id_rows WHERE message_id = $2 AND provider = $3 AND notification <> $1 LIMIT 1)
 FROM notifications n WHERE n.seq = $1`

// Close ends the open attempt, notes its message ids, and moves the row as decide says. ErrMoved: it was closed already.
func (s *Store) Close(c ledger.Closing, decide func(ledger.CloseFacts) ledger.Change) (ledger.Notification, error) {
	var out ledger.Notification
	var moved bool
	err := s.write(1, func(t *tx) (err error) {
		out, moved, err = t.close(&c, decide)
		return err
	})
	if err == nil && moved {
		return ledger.Notification{}, ledger.ErrMoved
	}
	return out, err
}

func (t *tx) close(c *ledger.Closing, decide func(ledger.CloseFacts) ledger.Change) (n ledger.Notification, moved bool, err error) {
	a, ids := c.Attempt, given(c.MessageIDs)
	n = asKept(c.Notification)
	n.Seq, n.AttemptCount = a.Seq, a.Number
	closed, err := t.closeAttempt(&a)
	if err != nil || closed == 0 {
		return n, err == nil, err
	}
	facts, err := t.evidence(&n, &a, ids)
	if err != nil {
		return n, false, err
	}
	if n.State != ledger.StateSending { // an open attempt stands only under a sending row
		return n, false, fmt.Errorf("attempt %d of row %d was open while the row was %s", a.Number, a.Seq, n.State)
	}
	change := decide(facts)
	if change.Reason == ledger.ReasonMessageIDShared {
		t.counts.shared++
	}
	if n, err = t.change(n, change); err != nil {
		return n, false, err
	}
	for _, id := range ids {
		if id == a.MessageID {
			continue // the attempt itself has it
		}
		if err := t.noteMessageID(id, a.Provider, a.Seq, a.Number); err != nil {
			return n, false, err
		}
	}
	if n.State == ledger.StateSent && (a.Request != nil || a.Number > 1) {
		err = t.dropRequests(a.Seq)
	}
	return n, false, err
}

// given leaves empty ids out: no provider's answer may keep an attempt open.
func given(ids []string) []string {
	if !slices.Contains(ids, "") {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
}

// dropRequests erases the bodies of a row that is sent: nothing of it will ever be repeated.
func (t *tx) dropRequests(seq int64) error {
	_, err := t.exec("UPDATE attempts SET request = NULL WHERE notification = $1 AND request IS NOT NULL", seq)
	return err
}

func (t *tx) closeAttempt(a *ledger.Attempt) (int64, error) {
	return t.exec(`UPDATE attempts SET ended_at = $1, outcome = $2, phase = $3, status = $4, code = $5, message_id = $6, error = $7, answer = $8
 WHERE notification = $9 AND number = $10 AND outcome IS NULL`,
		ms(a.EndedAt), a.Outcome.String(), text(a.Phase), number(a.Status), text(a.Code), text(a.MessageID), text(a.Error), blob(a.Answer),
		a.Seq, int64(a.Number))
}

// evidence reads the row as it is now into n and what a decision needs. Receipts that waited for one of the message ids
// are matched with the attempt.
func (t *tx) evidence(n *ledger.Notification, a *ledger.Attempt, ids []string) (f ledger.CloseFacts, err error) {
	first := a.MessageID
	if len(ids) > 0 {
		first = ids[0]
	}
	var proofs, waiting, owner int64
	if _, err := t.row(evidenceQuery, []any{a.Seq, first, a.Provider},
		toText[ledger.State]{&n.State}, toText[ledger.Delivery]{&n.Delivery}, toBool{&n.MaybeSent}, toInt[int64]{&n.Version},
		toInt[int64]{&n.Duplicates}, toTime{&n.DuplicateAt}, toTime{&n.ExpiresAt},
		toInt[int64]{&proofs}, toInt[int64]{&waiting}, toInt[int64]{&owner}); err != nil {
		return f, err
	}
	f.Shared = owner != 0
	for i, id := range ids { // rare: a long text in several parts
		if i == 0 {
			continue
		}
		var more, other int64
		if _, err := t.row(`SELECT (SELECT count(*) FROM receipts WHERE notification IS NULL AND message_id = $1 AND provider = $2),
 (SELECT notification FROM message_id_rows WHERE message_id = $1 AND provider = $2 AND notification <> $3 LIMIT 1)`,
			[]any{id, a.Provider, a.Seq}, toInt[int64]{&more}, toInt[int64]{&other}); err != nil {
			return f, err
		}
		waiting, f.Shared = waiting+more, f.Shared || other != 0
	}
	if waiting > 0 {
		for _, id := range ids {
			if _, err := t.matchReceipts(id, a.Provider, a.Seq, a.Number); err != nil {
				return f, err
			}
		}
	}
	if proofs+waiting == 0 {
		return f, nil
	}
	if err := t.proven(a.Seq, &f); err != nil {
		return f, err
	}
	if f.MessageID, err = broughtID(t, a.Seq, a.Number); err != nil {
		return f, err
	}
	f.Highest, err = highest(t, a.Seq)
	return f, err
}

// proven reads which attempts receipts prove, and where those are several the attempts too.
func (t *tx) proven(seq int64, f *ledger.CloseFacts) error {
	rows, err := t.query("SELECT DISTINCT number FROM receipts WHERE notification = $1 ORDER BY number", seq)
	f.Proven, err = collect(rows, err, func(n *int) []any { return []any{toInt[int]{n}} })
	if err != nil || len(f.Proven) < 2 {
		return err
	}
	attempts, err := pieces(t, attemptsOf, seq, seq, attemptTargets)
	f.Attempts = attempts[seq]
	return err
}

// noteMessageID keeps an id that its attempt does not have.
func (t *tx) noteMessageID(id, provider string, seq int64, number int) error {
	_, err := t.exec(`INSERT INTO message_ids (message_id, provider, notification, number)
 SELECT $1, $2, $3, $4 WHERE NOT EXISTS (SELECT 1 FROM attempts WHERE notification = $3 AND number = $4 AND message_id = $1 AND provider = $2)
 ON CONFLICT DO NOTHING`, id, provider, seq, int64(number))
	return err
}

// matchReceipts gives receipts that came before their row was known to the attempt that they are about. Those of an id that
// another row has as well may be about either, and wait on.
func (t *tx) matchReceipts(id, provider string, seq int64, number int) (int64, error) {
	n, err := t.exec(`UPDATE receipts SET notification = $1, number = $2 WHERE notification IS NULL AND message_id = $3 AND provider = $4
 AND NOT EXISTS (SELECT 1 FROM message_id_rows WHERE message_id = $3 AND provider = $4 AND notification <> $1)`,
		seq, int64(number), id, provider)
	t.counts.unmatched -= n
	return n, err
}

// broughtID is a message id that a row's receipts brought, those of the attempt before others.
func broughtID(q queries, seq int64, number int) (id string, err error) {
	_, err = oneRow(q, "SELECT message_id FROM receipts WHERE notification = $1 AND message_id IS NOT NULL ORDER BY number <> $2, id LIMIT 1",
		[]any{seq, int64(number)}, &id)
	return id, err
}

// highest is the highest delivery among a row's receipts.
func highest(q queries, seq int64) (top ledger.Delivery, err error) {
	rows, err := q.query("SELECT DISTINCT delivery FROM receipts WHERE notification = $1", seq)
	list, err := collect(rows, err, func(d *ledger.Delivery) []any { return []any{toText[ledger.Delivery]{d}} })
	for _, d := range list {
		top = ledger.Higher(top, d)
	}
	return top, err
}
