package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
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
		n, found, err := notification(r, byID, id[:])
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

const dueStart = `SELECT ` + rowColumns + ` FROM ` + rowTables + ` WHERE n.state = 'claimed' AND n.provider = $1 AND n.lane = $2 AND n.due_at <= $3
 AND (n.expires_at IS NULL OR n.expires_at > $3)`

const (
	dueAll     = dueStart + ` ORDER BY n.due_at LIMIT $4`
	dueMovable = dueStart + ` AND n.pinned = 0 AND n.maybe_sent = 0
 AND (n.channel = $5 OR n.channel = $6 OR n.channel = $7 OR n.channel = $8) ORDER BY n.due_at LIMIT $4`
)

// Due returns claimed rows that are due and have not expired, oldest due first.
func (s *Store) Due(ctx context.Context, q ledger.DueQuery) ([]ledger.Notification, error) {
	query, args := dueAll, []any{q.Provider, int64(q.Lane), ms(q.At), int64(q.Limit)}
	if q.Movable {
		query = dueMovable
		for _, ch := range ledger.Channels {
			if len(q.Channels) > 0 && !slices.Contains(q.Channels, ch) {
				ch = "" // no row has it
			}
			args = append(args, string(ch))
		}
	}
	rows, err := s.reader(ctx).query(query, args...)
	return collect(rows, err, rowTargets)
}

const nextDue = `SELECT min(due_at) FROM (
 SELECT min(due_at) AS due_at FROM notifications WHERE state = 'claimed' AND provider = $1 AND lane = 0 AND due_at > $2
 UNION ALL SELECT min(due_at) FROM notifications WHERE state = 'claimed' AND provider = $1 AND lane = 1 AND due_at > $2)`

// NextDue is when the provider's next claimed row after a time is due; zero: none.
func (s *Store) NextDue(ctx context.Context, provider string, after time.Time) (t time.Time, err error) {
	_, err = oneRow(s.reader(ctx), nextDue, []any{provider, ms(after)}, toTime{&t})
	return t, err
}

// claimedProviders jumps from name to name in the index of due rows.
const claimedProviders = `WITH RECURSIVE names (name) AS (
 SELECT min(provider) FROM notifications WHERE state = 'claimed'
 UNION ALL SELECT (SELECT min(provider) FROM notifications WHERE state = 'claimed' AND provider > names.name) FROM names WHERE names.name IS NOT NULL)
 SELECT name FROM names WHERE name IS NOT NULL`

// Providers names every provider that claimed rows stand under.
func (s *Store) Providers(ctx context.Context) ([]string, error) {
	rows, err := s.reader(ctx).query(claimedProviders)
	return collect(rows, err, func(p *string) []any { return []any{p} })
}

const waiting = `SELECT ` + rowColumns + ` FROM (SELECT seq, at FROM (
 SELECT * FROM (SELECT seq, due_at AS at FROM notifications WHERE state = 'ambiguous' AND due_at <= $1 ORDER BY due_at LIMIT $2)
 UNION ALL SELECT * FROM (SELECT seq, due_at FROM notifications WHERE state = 'held' AND due_at <= $1 ORDER BY due_at LIMIT $2)
 UNION ALL SELECT * FROM (SELECT seq, expires_at FROM notifications WHERE state = 'claimed' AND expires_at <= $1 ORDER BY expires_at LIMIT $2))
 ORDER BY at, seq LIMIT $2) w CROSS JOIN notifications n ON n.seq = w.seq LEFT JOIN contents c ON c.notification = n.seq ORDER BY w.at, w.seq`

// Waiting returns ambiguous and held rows whose next action is due, and claimed rows that have expired, oldest first.
func (s *Store) Waiting(ctx context.Context, at time.Time, limit int) ([]ledger.Notification, error) {
	rows, err := s.reader(ctx).query(waiting, ms(at), int64(limit))
	return collect(rows, err, rowTargets)
}

const nextWaiting = `SELECT min(at) FROM (
 SELECT min(due_at) AS at FROM notifications WHERE state = 'ambiguous' AND due_at > $1
 UNION ALL SELECT min(due_at) FROM notifications WHERE state = 'held' AND due_at > $1
 UNION ALL SELECT min(expires_at) FROM notifications WHERE state = 'claimed' AND expires_at > $1)`

// NextWaiting is when the next of the rows that Waiting returns is due; zero: none.
func (s *Store) NextWaiting(ctx context.Context, after time.Time) (t time.Time, err error) {
	_, err = oneRow(s.reader(ctx), nextWaiting, []any{ms(after)}, toTime{&t})
	return t, err
}

const firstAttempt = "SELECT " + attemptColumns + " FROM attempts WHERE notification = $1 AND account = $2 ORDER BY number LIMIT 1"

// FirstAttempt returns the first attempt to an account with its request. ErrNotFound.
func (s *Store) FirstAttempt(ctx context.Context, seq int64, account [8]byte) (a ledger.Attempt, err error) {
	found, err := oneRow(s.reader(ctx), firstAttempt, []any{seq, account[:]}, attemptTargets(&a)...)
	if err == nil && !found {
		err = ledger.ErrNotFound
	}
	return a, err
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

// Pauses returns what people paused.
func (s *Store) Pauses(ctx context.Context) ([]ledger.Pause, error) {
	rows, err := s.reader(ctx).query("SELECT provider, since, actor, reason FROM pauses ORDER BY provider")
	return collect(rows, err, func(p *ledger.Pause) []any { return []any{&p.Provider, toTime{&p.Since}, &p.Actor, &p.Reason} })
}

// SetPause notes that a provider is not to be used.
func (s *Store) SetPause(p ledger.Pause) error {
	return s.write(1, func(t *tx) error {
		_, err := t.exec(`INSERT INTO pauses (provider, since, actor, reason) VALUES ($1, $2, $3, $4)
 ON CONFLICT (provider) DO UPDATE SET since = excluded.since, actor = excluded.actor, reason = excluded.reason`,
			p.Provider, ms(p.Since), p.Actor, p.Reason)
		return err
	})
}

// ClearPause ends a pause; there need be none.
func (s *Store) ClearPause(provider string) error {
	return s.write(1, func(t *tx) error {
		_, err := t.exec("DELETE FROM pauses WHERE provider = $1", provider)
		return err
	})
}

const oldestUnknown = `SELECT min(coalesce((SELECT max(started_at) FROM attempts a WHERE a.notification = n.seq), n.claimed_at))
 FROM notifications n WHERE n.state = 'ambiguous'`

// Stats counts, without looking at every row. OldestUnknown is when the last attempt of the row began that has been
// ambiguous for longest.
func (s *Store) Stats(ctx context.Context) (ledger.Stats, error) {
	st := ledger.Stats{States: map[ledger.State]int64{}}
	err := s.snapshot(ctx, func(r reader) error {
		n := make([]int64, len(ledger.States))
		if _, err := oneRow(r, `SELECT claimed, held, sending, ambiguous, sent, failed, cancelled, expired, maybe_sent, duplicates, proven_twice, shared
 FROM counts WHERE one = 1`, nil, toInt[int64]{&n[0]}, toInt[int64]{&n[1]}, toInt[int64]{&n[2]}, toInt[int64]{&n[3]}, toInt[int64]{&n[4]},
			toInt[int64]{&n[5]}, toInt[int64]{&n[6]}, toInt[int64]{&n[7]}, toInt[int64]{&st.MaybeSent}, toInt[int64]{&st.Duplicates},
			toInt[int64]{&st.ProvenTwice}, toInt[int64]{&st.Shared}); err != nil {
			return err
		}
		for i, state := range ledger.States {
			st.States[state] = n[i]
			st.Notifications += n[i]
		}
		_, err := oneRow(r, oldestUnknown, nil, toTime{&st.OldestUnknown})
		return err
	})
	return st, err
}
