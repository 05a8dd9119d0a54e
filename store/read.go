package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// reader runs queries for one call: over the readers' pool, or inside its short read transaction.
type reader struct {
	ctx    context.Context
	s      *Store
	tx     *sql.Tx
	missed *[]string // queries that met no prepared statement; with tx only
}

func (s *Store) reader(ctx context.Context) reader { return reader{ctx: ctx, s: s} }

// query runs a query that is prepared once. Its text must be one of the few that stand in this package.
//
// Preparing takes a connection of the pool. Whoever has one already, for a transaction, must not wait for a second: as many
// first calls at once as there are connections would wait for each other for ever.
func (r reader) query(query string, args ...any) (rows, error) {
	found, err := r.run(query, args)
	if err != nil {
		return nil, err // not a nil pointer in an interface
	}
	return found, nil
}

func (r reader) run(query string, args []any) (*sql.Rows, error) {
	if r.tx == nil {
		st, err := r.s.prepare(r.ctx, query)
		if err != nil {
			return nil, err
		}
		return st.QueryContext(r.ctx, args...)
	}
	if st, ok := r.s.prepared.Load(query); ok {
		return r.tx.StmtContext(r.ctx, st.(*sql.Stmt)).QueryContext(r.ctx, args...)
	}
	*r.missed = append(*r.missed, query)
	return r.tx.QueryContext(r.ctx, query, args...)
}

func (s *Store) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if st, ok := s.prepared.Load(query); ok {
		return st.(*sql.Stmt), nil
	}
	st, err := s.reads.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if first, raced := s.prepared.LoadOrStore(query, st); raced {
		return first.(*sql.Stmt), st.Close()
	}
	return st, nil
}

// snapshot runs several queries that see the same rows. It is short: a reader that stays keeps the log from shrinking.
func (s *Store) snapshot(ctx context.Context, do func(reader) error) (err error) {
	tx, err := s.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	var missed []string
	defer func() {
		if e := tx.Rollback(); e != nil && !errors.Is(e, sql.ErrTxDone) {
			err = errors.Join(err, e)
		}
		for _, query := range missed {
			_, _ = s.prepare(ctx, query) // what fails now is tried again by the next call
		}
	}()
	return do(reader{ctx: ctx, s: s, tx: tx, missed: &missed})
}

// Get returns a row with its history. ErrNotFound.
func (s *Store) Get(ctx context.Context, id uuid.UUID) (ledger.Record, error) {
	var rec ledger.Record
	err := s.snapshot(ctx, func(r reader) error {
		n, found, err := anyRow(r, byID, erasedByID, id[:])
		if err != nil {
			return err
		}
		if !found {
			return ledger.ErrNotFound
		}
		h, err := r.history(n.Seq, n.Seq)
		if err != nil {
			return err
		}
		rec = h.record(n)
		rec.Resends, err = resends(r, id)
		return err
	})
	return rec, err
}

const resendsByID = "SELECT id FROM notifications WHERE resend_of = $1 ORDER BY resend_number"

func resends(q queries, id uuid.UUID) ([]uuid.UUID, error) {
	rows, err := q.query(resendsByID, id[:])
	return collect(rows, err, func(u *uuid.UUID) []any { return []any{toID{u}} })
}

// Newest is the newest time that the ledger holds.
func (s *Store) Newest(ctx context.Context) (time.Time, error) {
	var at int64
	_, err := oneRow(s.reader(ctx), "SELECT newest_at FROM counts WHERE one = 1", nil, toInt[int64]{&at})
	if err != nil || at == 0 {
		return time.Time{}, err
	}
	return fromMS(at), nil
}

const oldestUnknown = `SELECT min(coalesce((SELECT max(started_at) FROM attempts a WHERE a.notification = n.seq), n.claimed_at))
 FROM notifications n WHERE n.state = 'ambiguous'`

// Stats counts, without looking at every row. OldestUnknown is when the last attempt of the row began that has been
// ambiguous for longest.
func (s *Store) Stats(ctx context.Context) (ledger.Stats, error) {
	st := ledger.Stats{States: map[ledger.State]int64{}}
	err := s.snapshot(ctx, func(r reader) error {
		n := make([]int64, len(ledger.States))
		if _, err := oneRow(r, `SELECT claimed, held, sending, ambiguous, sent, failed, cancelled, expired, maybe_sent, duplicates, proven_twice, shared,
 receipts, unmatched, erased FROM counts WHERE one = 1`, nil, toInt[int64]{&n[0]}, toInt[int64]{&n[1]}, toInt[int64]{&n[2]}, toInt[int64]{&n[3]}, toInt[int64]{&n[4]},
			toInt[int64]{&n[5]}, toInt[int64]{&n[6]}, toInt[int64]{&n[7]}, toInt[int64]{&st.MaybeSent}, toInt[int64]{&st.Duplicates},
			toInt[int64]{&st.ProvenTwice}, toInt[int64]{&st.Shared}, toInt[int64]{&st.Receipts}, toInt[int64]{&st.Unmatched}, toInt[int64]{&st.Erased}); err != nil {
			return err
		}
		for i, state := range ledger.States {
			st.States[state] = n[i]
			st.Notifications += n[i]
		}
		st.Notifications += st.Erased
		_, err := oneRow(r, oldestUnknown, nil, toTime{&st.OldestUnknown})
		return err
	})
	return st, err
}
