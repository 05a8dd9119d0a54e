package store

import (
	"strings"

	"sendonce/ledger"
)

// Suppress counts repeats that sent nothing and keeps each row's last MaxDuplicates. It returns the rows' counts as they are
// then; what names no row is left out.
func (s *Store) Suppress(list []ledger.Suppressed) ([]ledger.Counted, error) {
	if len(list) == 0 {
		return nil, nil
	}
	rows := map[int64][]ledger.Suppressed{}
	var order []int64 // of first appearance, so that a group always writes the same
	for _, d := range list {
		if rows[d.Seq] == nil {
			order = append(order, d.Seq)
		}
		rows[d.Seq] = append(rows[d.Seq], d)
	}
	var counted []ledger.Counted
	err := s.write(len(order), func(t *tx) error {
		counted = make([]ledger.Counted, 0, len(order))
		for _, seq := range order {
			c, found, err := t.suppress(seq, rows[seq])
			if err != nil {
				return err
			}
			if found {
				counted = append(counted, c)
			}
		}
		return nil
	})
	return counted, err
}

const (
	countRepeats = `UPDATE notifications SET duplicate_count = duplicate_count + $1,
 last_duplicate_at = max(coalesce(last_duplicate_at, $2), $2) WHERE seq = $3 RETURNING duplicate_count, last_duplicate_at`
	countErasedRepeats = `UPDATE erased SET duplicate_count = duplicate_count + $1,
 last_duplicate_at = max(coalesce(last_duplicate_at, $2), $2) WHERE seq = $3 RETURNING duplicate_count, last_duplicate_at`
)

// suppress notes the repeats of one row. Neither version nor updated_at move: a repeat changes nothing about the row. Those
// of an erased row are only counted.
func (t *tx) suppress(seq int64, list []ledger.Suppressed) (c ledger.Counted, found bool, err error) {
	last, count := list[0].At, int64(0)
	for _, d := range list {
		count += max(d.Count, 1)
		if d.At.After(last) {
			last = d.At
		}
	}
	c.Seq = seq
	add := func(query string) (bool, error) {
		return t.row(query, []any{count, ms(last), seq}, toInt[int64]{&c.Count}, toTime{&c.At})
	}
	whole, err := add(countRepeats)
	if found = whole; err == nil && !whole {
		found, err = add(countErasedRepeats)
	}
	if err != nil || !found {
		return c, false, err
	}
	t.counts.duplicates += count
	t.counts.at(last)
	if !whole {
		return c, true, nil
	}
	for _, d := range list[max(0, len(list)-ledger.MaxDuplicates):] {
		if _, err := t.exec("INSERT INTO duplicates (notification, at, caller, differs) VALUES ($1, $2, $3, $4)",
			seq, ms(d.At), d.Caller, text(strings.Join(d.Differs, ","))); err != nil {
			return c, false, err
		}
	}
	_, err = t.exec(`DELETE FROM duplicates WHERE notification = $1
 AND id <= (SELECT id FROM duplicates WHERE notification = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)`, seq, int64(ledger.MaxDuplicates))
	return c, err == nil, err
}

// toNames reads names with commas between.
type toNames struct{ p *[]string }

func (d toNames) Scan(src any) error {
	*d.p = nil
	if s, ok := src.(string); ok {
		*d.p = strings.Split(s, ",")
	}
	return nil
}
