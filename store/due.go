package store

import (
	"context"
	"slices"
	"time"

	"sendonce/ledger"
)

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

const backlog = `SELECT count(*) FROM (SELECT 1 FROM notifications WHERE state = 'claimed' AND provider = $1 LIMIT $2)`

// Backlog counts a provider's claimed rows, as far as limit.
func (s *Store) Backlog(ctx context.Context, provider string, limit int) (n int, err error) {
	_, err = oneRow(s.reader(ctx), backlog, []any{provider, int64(limit)}, toInt[int]{&n})
	return n, err
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
