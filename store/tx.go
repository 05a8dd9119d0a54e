package store

import (
	"errors"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"sendonce/ledger"
)

// queries is what reads inside and outside of a write have in common.
type queries interface {
	query(query string, args ...any) (rows, error)
}

// tx is the open transaction of the writer, as operations see it.
type tx struct {
	conn   *connection
	counts tally
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	if err := t.conn.exec(query, args); err != nil {
		return 0, err
	}
	return int64(t.conn.conn.Changes()), nil
}

// insert runs an INSERT ... ON CONFLICT DO NOTHING and returns the new row's id, or 0 when the conflict was there:
// SQLite's last id is then another row's.
func (t *tx) insert(query string, args ...any) (int64, error) {
	n, err := t.exec(query, args...)
	if err != nil || n == 0 {
		return 0, err
	}
	return t.conn.conn.LastInsertRowID(), nil
}

func (t *tx) query(query string, args ...any) (rows, error) { return t.conn.query(query, args) }

// row reads one row; false: there is none.
func (t *tx) row(query string, args []any, targets ...any) (bool, error) {
	return oneRow(t, query, args, targets...)
}

func oneRow(q queries, query string, args []any, targets ...any) (found bool, err error) {
	rows, err := q.query(query, args...)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(targets...); err != nil {
		return false, err
	}
	return true, nil
}

// tally is what a transaction changes in the counts. It is written once, before the commit.
type tally struct {
	states     [8]int64 // as ledger.States
	maybeSent  int64
	duplicates int64
	twice      int64
	shared     int64
	receipts   int64
	unmatched  int64
	erased     int64
	newest     int64 // Unix milliseconds
}

func place(s ledger.State) int {
	for i, k := range ledger.States {
		if k == s {
			return i
		}
	}
	return 0 // no such state: the schema refuses the row that has it
}

func (c *tally) claimed(at time.Time) {
	c.states[place(ledger.StateClaimed)]++
	c.at(at)
}

// moved counts a row that went from one state to another.
func (c *tally) moved(from, to ledger.State, before, after bool, at time.Time) {
	c.states[place(from)]--
	c.states[place(to)]++
	c.maybeSent += flag(after) - flag(before)
	c.at(at)
}

// erasedRow counts a row that was erased.
func (c *tally) erasedRow(state ledger.State, maybeSent bool) {
	c.states[place(state)]--
	c.maybeSent -= flag(maybeSent)
	c.erased++
}

// at notes a time that was written.
func (c *tally) at(t time.Time) {
	if !t.IsZero() {
		c.newest = max(c.newest, t.UnixMilli())
	}
}

// write adds the tally to the counts.
func (c *tally) write(t *tx) error {
	if *c == (tally{}) {
		return nil
	}
	s := c.states
	_, err := t.exec(`UPDATE counts SET claimed = claimed + $1, held = held + $2, sending = sending + $3, ambiguous = ambiguous + $4,
 sent = sent + $5, failed = failed + $6, cancelled = cancelled + $7, expired = expired + $8, maybe_sent = maybe_sent + $9,
 duplicates = duplicates + $10, proven_twice = proven_twice + $11, shared = shared + $12, newest_at = max(newest_at, $13),
 receipts = receipts + $14, unmatched = unmatched + $15, erased = erased + $16 WHERE one = 1`,
		s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], c.maybeSent, c.duplicates, c.twice, c.shared, c.newest, c.receipts, c.unmatched, c.erased)
	return err
}

// begin opens a transaction. One that an earlier failure left open is rolled back first.
func (w *writer) begin() error {
	_, err := w.tx.exec("BEGIN IMMEDIATE")
	if err == nil || code(err) == sqlite3.SQLITE_BUSY {
		return err
	}
	w.rollback()
	_, err = w.tx.exec("BEGIN IMMEDIATE")
	return err
}

func (w *writer) commit() error {
	defer w.commits.Add(1)
	return w.hooks.commit(func() error {
		_, err := w.tx.exec("COMMIT")
		return err
	})
}

// rollback ends the transaction. After a full disk or an I/O error SQLite has done so by itself and says that there is none.
func (w *writer) rollback() {
	w.tx.conn.conn.SetInterrupt(nil) // whatever ended the operation does not keep its transaction open
	if _, err := w.tx.exec("ROLLBACK"); err != nil {
		w.store.log.Debug("rollback", "error", err)
	}
	if w.tx.conn.conn.AutocommitEnabled() { // it is over
		w.tx.conn.log.forget()
	}
}
