package store

import (
	"context"

	"sendonce/ledger"
)

const (
	latelyRows     = `SELECT seq, provider, claimed_at FROM notifications WHERE seq < $1 ORDER BY seq DESC LIMIT $2`
	latelyAttempts = `SELECT notification, kind, provider, started_at, ended_at, outcome, phase FROM attempts
 WHERE notification BETWEEN $1 AND $2 AND outcome IS NOT NULL`
	latelySettlements = `SELECT notification, at, action, from_state, to_state, actor FROM settlements WHERE notification BETWEEN $1 AND $2`
)

// Lately returns the newest rows before a cursor, with what their history says of times and outcomes and nothing else.
func (s *Store) Lately(ctx context.Context, before int64, limit int) (list []ledger.Record, err error) {
	err = s.snapshot(ctx, func(r reader) error {
		rows, err := r.query(latelyRows, before, int64(limit))
		if list, err = collect(rows, err, func(n *ledger.Record) []any {
			return []any{toInt[int64]{&n.Seq}, &n.Provider, toTime{&n.ClaimedAt}}
		}); err != nil || len(list) == 0 {
			return err
		}
		newest, oldest := list[0].Seq, list[len(list)-1].Seq
		attempts, err := pieces(r, latelyAttempts, oldest, newest, func(a *ledger.Attempt) []any {
			return []any{toText[ledger.Kind]{&a.Kind}, &a.Provider, toTime{&a.StartedAt}, toTime{&a.EndedAt}, toOutcome{&a.Outcome}, toText[ledger.Phase]{&a.Phase}}
		})
		if err != nil {
			return err
		}
		settlements, err := pieces(r, latelySettlements, oldest, newest, func(s *ledger.Settlement) []any {
			return []any{toTime{&s.At}, toText[ledger.Cause]{&s.Action}, toText[ledger.State]{&s.From}, toText[ledger.State]{&s.To}, &s.Actor}
		})
		for i := range list {
			list[i].Attempts, list[i].Settlements = attempts[list[i].Seq], settlements[list[i].Seq]
		}
		return err
	})
	return list, err
}
