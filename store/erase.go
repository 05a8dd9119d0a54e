package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"sendonce/ledger"
)

const (
	// isOld says of a row n that it ended and was not changed after $2.
	isOld = `(n.state = 'sent' OR n.state = 'failed' OR n.state = 'cancelled' OR n.state = 'expired') AND n.updated_at <= $2`

	// oldRows are looked at in the order of claiming. A resend is erased with its parent.
	oldRows = `SELECT n.seq, n.claimed_at, ` + isOld + ` AND n.resend_of IS NULL, EXISTS (SELECT 1 FROM notifications k WHERE k.resend_of = n.id)
 FROM notifications n WHERE n.seq > $1 ORDER BY n.seq LIMIT $3`

	familyOf = `WITH RECURSIVE family (seq) AS (SELECT $1
 UNION ALL SELECT k.seq FROM family f JOIN notifications n ON n.seq = f.seq JOIN notifications k ON k.resend_of = n.id)
 SELECT n.seq, ` + isOld + ` FROM family f JOIN notifications n ON n.seq = f.seq`

	// stillOld are those of a list of rows that may be erased. The newest row of all stays: its number would be given again.
	stillOld = `SELECT n.seq FROM notifications n WHERE n.seq IN (SELECT value FROM json_each($1)) AND ` + isOld + `
 AND n.seq < (SELECT max(seq) FROM notifications)
 AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.notification = n.seq AND r.arrived_at > $2)`

	// eraseRows writes what stays; the trigger erased_moves deletes all else.
	eraseRows = `INSERT INTO erased (seq, id, source, dedupe_key, recipe, channel, state, reason, maybe_sent, delivery, attempt_count, version,
 duplicate_count, last_duplicate_at, claimed_at, confirmed_at, updated_at, erased_at)
SELECT seq, id, source, dedupe_key, recipe, channel, state, reason, maybe_sent, delivery, attempt_count, version + 1,
 duplicate_count, last_duplicate_at, claimed_at, confirmed_at, updated_at, $2
 FROM notifications WHERE seq IN (SELECT value FROM json_each($1)) ORDER BY seq RETURNING seq, state, maybe_sent`

	receiptsOfRows = `SELECT count(*) FROM receipts WHERE notification IS NOT NULL AND notification IN (SELECT value FROM json_each($1))`

	ageOut = `DELETE FROM receipts WHERE id IN (SELECT id FROM receipts WHERE notification IS NULL AND arrived_at < $1 ORDER BY arrived_at LIMIT $2)`

	lookAtOnce = 512 // rows of one step: most are erased, but those that never ended are passed each time
)

// Old returns rows behind a place in the order of claiming that may be erased.
func (s *Store) Old(ctx context.Context, q ledger.OldQuery) (ledger.OldRows, error) {
	var out ledger.OldRows
	err := s.snapshot(ctx, func(r reader) error {
		rows, err := r.query(oldRows, q.After, ms(q.Before), int64(lookAtOnce))
		type row struct {
			seq         int64
			claimed     time.Time
			old, parent bool
		}
		list, err := collect(rows, err, func(v *row) []any {
			return []any{toInt[int64]{&v.seq}, toTime{&v.claimed}, toBool{&v.old}, toBool{&v.parent}}
		})
		if err != nil {
			return err
		}
		out = ledger.OldRows{Last: q.After}
		for _, v := range list {
			switch {
			case v.claimed.After(q.Before):
				out.Next = v.claimed
				return nil
			case len(out.Families) == q.Limit:
				return nil
			}
			out.Last = v.seq
			if !v.old {
				continue
			}
			family := ledger.Family{v.seq}
			if v.parent {
				if family, err = r.family(v.seq, q.Before); err != nil {
					return err
				}
			}
			if family != nil {
				out.Families = append(out.Families, family)
			}
		}
		out.End = len(list) < lookAtOnce
		return nil
	})
	return out, err
}

// family is a row with its resends; nil: they may not be erased yet.
func (r reader) family(seq int64, before time.Time) (ledger.Family, error) {
	type row struct {
		seq int64
		old bool
	}
	rows, err := r.query(familyOf, seq, ms(before))
	list, err := collect(rows, err, func(v *row) []any { return []any{toInt[int64]{&v.seq}, toBool{&v.old}} })
	if err != nil {
		return nil, err
	}
	var family ledger.Family
	for _, v := range list {
		if !v.old {
			return nil, nil
		}
		family = append(family, v.seq)
	}
	return family, nil
}

// Erase erases each family of which every row ended and was neither changed nor reported on after before. It waits its turn among
// claims. ErrStorageLow.
func (s *Store) Erase(families []ledger.Family, before, at time.Time) ([]int64, error) {
	var erased []int64
	err := s.writeBehind(len(families), func(t *tx) (err error) {
		erased, err = t.erase(families, before, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	return erased, nil
}

func (t *tx) erase(families []ledger.Family, before, at time.Time) ([]int64, error) {
	var all []int64
	for _, f := range families {
		all = append(all, f...)
	}
	rows, err := t.query(stillOld, seqList(all), ms(before))
	list, err := collect(rows, err, func(s *int64) []any { return []any{toInt[int64]{s}} })
	if err != nil {
		return nil, err
	}
	old := map[int64]bool{}
	for _, seq := range list {
		old[seq] = true
	}
	all = all[:0]
	for _, f := range families {
		whole := true
		for _, seq := range f {
			whole = whole && old[seq]
		}
		if whole {
			all = append(all, f...)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return t.eraseRows(all, at)
}

// eraseRows erases rows that may be.
func (t *tx) eraseRows(seqs []int64, at time.Time) ([]int64, error) {
	var receipts int64
	if _, err := t.row(receiptsOfRows, []any{seqList(seqs)}, toInt[int64]{&receipts}); err != nil {
		return nil, err
	}
	type row struct {
		seq       int64
		state     ledger.State
		maybeSent bool
	}
	rows, err := t.query(eraseRows, seqList(seqs), ms(at))
	list, err := collect(rows, err, func(v *row) []any {
		return []any{toInt[int64]{&v.seq}, toText[ledger.State]{&v.state}, toBool{&v.maybeSent}}
	})
	if err != nil {
		return nil, err
	}
	if len(list) != len(seqs) {
		return nil, errors.New("a row was erased under its own transaction")
	}
	for i, v := range list {
		t.counts.erasedRow(v.state, v.maybeSent)
		seqs[i] = v.seq
	}
	t.counts.receipts -= receipts
	t.counts.at(at)
	ledger.Reach(ledger.PointErasing)
	return seqs, nil
}

// AgeOut deletes receipts that found no row and came before a time, the oldest first.
func (s *Store) AgeOut(before time.Time, limit int) (int, error) {
	var waits bool // most looks find nothing, and cost no commit
	found, err := oneRow(s.reader(context.Background()), "SELECT 1 FROM receipts WHERE notification IS NULL AND arrived_at < $1 LIMIT 1",
		[]any{ms(before)}, toBool{&waits})
	if err != nil || !found {
		return 0, err
	}
	var n int64
	err = s.writeBehind(limit, func(t *tx) (err error) {
		n, err = t.exec(ageOut, ms(before), int64(limit))
		t.counts.receipts -= n
		t.counts.unmatched -= n
		return err
	})
	return int(n), err
}

// seqList is a list of rows as the one value of a statement.
func seqList(seqs []int64) string {
	b, _ := json.Marshal(seqs) // numbers always are JSON
	return string(b)
}
