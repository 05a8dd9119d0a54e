package store

import (
	"strings"

	"sendonce/ledger"
)

// Suppress counts repeats that sent nothing and keeps each row's last MaxDuplicates. What names no row is left out.
func (s *Store) Suppress(list []ledger.Suppressed) error {
	if len(list) == 0 {
		return nil
	}
	rows := map[int64][]ledger.Suppressed{}
	var order []int64 // of first appearance, so that a group always writes the same
	for _, d := range list {
		if rows[d.Seq] == nil {
			order = append(order, d.Seq)
		}
		rows[d.Seq] = append(rows[d.Seq], d)
	}
	return s.write(len(order), func(t *tx) error {
		for _, seq := range order {
			if err := t.suppress(seq, rows[seq]); err != nil {
				return err
			}
		}
		return nil
	})
}

// suppress notes the repeats of one row. Neither version nor updated_at move: a repeat changes nothing about the row.
func (t *tx) suppress(seq int64, list []ledger.Suppressed) error {
	last, count := list[0].At, int64(0)
	for _, d := range list {
		count += max(d.Count, 1)
		if d.At.After(last) {
			last = d.At
		}
	}
	changed, err := t.exec(`UPDATE notifications SET duplicate_count = duplicate_count + $1,
 last_duplicate_at = max(coalesce(last_duplicate_at, $2), $2) WHERE seq = $3`, count, ms(last), seq)
	if err != nil || changed == 0 {
		return err
	}
	t.counts.duplicates += count
	t.counts.at(last)
	for _, d := range list[max(0, len(list)-ledger.MaxDuplicates):] {
		if _, err := t.exec("INSERT INTO duplicates (notification, at, caller, differs) VALUES ($1, $2, $3, $4)",
			seq, ms(d.At), d.Caller, text(strings.Join(d.Differs, ","))); err != nil {
			return err
		}
	}
	_, err = t.exec(`DELETE FROM duplicates WHERE notification = $1
 AND id <= (SELECT id FROM duplicates WHERE notification = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)`, seq, int64(ledger.MaxDuplicates))
	return err
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
