package store

import (
	"cmp"
	"slices"
	"strings"

	"sendonce/ledger"
)

// Erased rows are read after the whole ones: a row that was erased in between is found then. The other way round it would be missed.
const (
	erasedColumns = `e.seq, e.id, e.source, e.dedupe_key, e.recipe, e.channel, e.state, e.reason, e.maybe_sent, e.delivery, e.attempt_count,
 e.version, e.duplicate_count, e.last_duplicate_at, e.claimed_at, e.confirmed_at, e.updated_at, e.erased_at`
	erasedRows    = `SELECT ` + erasedColumns + ` FROM erased e WHERE `
	erasedByKey   = erasedRows + `e.dedupe_key = $1 AND e.source = $2`
	erasedByOther = erasedByKey + ` AND (e.recipe = $3 OR e.recipe = '` + ledger.RecipeGiven + `')`
	erasedByID    = erasedRows + `e.id = $1`
	erasedBySeq   = erasedRows + `e.seq = $1`
)

func erasedTargets(n *ledger.Notification) []any {
	return []any{
		toInt[int64]{&n.Seq}, toID{&n.ID}, &n.Source, toKey{&n.DedupeKey}, &n.Recipe, toText[ledger.Channel]{&n.Channel},
		toText[ledger.State]{&n.State}, toText[ledger.Reason]{&n.Reason}, toBool{&n.MaybeSent}, toText[ledger.Delivery]{&n.Delivery},
		toInt[int]{&n.AttemptCount}, toInt[int64]{&n.Version}, toInt[int64]{&n.Duplicates}, toTime{&n.DuplicateAt},
		toTime{&n.ClaimedAt}, toTime{&n.ConfirmedAt}, toTime{&n.UpdatedAt}, toTime{&n.ErasedAt},
	}
}

// anyRow reads a row by the first query, or what is left of it by the second.
func anyRow(q queries, whole, erased string, args ...any) (n ledger.Notification, found bool, err error) {
	if n, found, err = notification(q, whole, args...); found || err != nil {
		return n, found, err
	}
	found, err = oneRow(q, erased, args, erasedTargets(&n)...)
	return n, found, err
}

// addErased adds to a page of the rows of a key what is left of those that were erased: one for each source at most.
func (r reader) addErased(f ledger.Filter, page *ledger.Page) error {
	if f.EventID+f.Recipient+f.MessageID+f.Provider+f.EventType+f.UserID != "" {
		return nil // nobody can say any more
	}
	l := listing{f: f}
	query := erasedRows + "e.dedupe_key = " + l.arg(keyOf(f.DedupeKey)) + l.span("e.seq")
	f.DedupeKey = ""
	for _, c := range l.conditions(f) {
		query += " AND " + strings.ReplaceAll(c, "n.", "e.")
	}
	query += strings.Replace(l.order(), "seq", "e.seq", 1) + " LIMIT " + l.arg(int64(f.Limit)+1)
	rows, err := r.tx.QueryContext(r.ctx, query, l.args...)
	erased, err := collect(rows, err, erasedTargets)
	page.Rows = append(page.Rows, erased...)
	slices.SortFunc(page.Rows, func(a, b ledger.Notification) int {
		if f.Oldest {
			a, b = b, a
		}
		return cmp.Compare(b.Seq, a.Seq)
	})
	return err
}
