package store

import (
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"sendonce/ledger"
)

const (
	auditRows      = 200 // of one read transaction
	afterSeq       = `SELECT ` + rowColumns + ` FROM ` + rowTables + ` WHERE n.seq > $1 ORDER BY n.seq LIMIT $2`
	erasedAfterSeq = `SELECT ` + erasedColumns + `, EXISTS (SELECT 1 FROM notifications n WHERE n.dedupe_key = e.dedupe_key AND n.source = e.source)
 FROM erased e WHERE e.seq > $1 ORDER BY e.seq LIMIT $2`
	resendsOf = `SELECT p.seq, n.id FROM notifications p CROSS JOIN notifications n ON n.resend_of = p.id
 WHERE n.resend_of IS NOT NULL AND p.seq BETWEEN $1 AND $2 ORDER BY p.seq, n.resend_number`
	lostContents = `SELECT notification, recipient, recipient_key, message, metadata, content_hash FROM contents
 WHERE notification BETWEEN $1 AND $2 AND NOT EXISTS (SELECT 1 FROM notifications WHERE seq = notification)`
)

// Audit hands every row with its history to visit, page by page so that the log can shrink in between, then what is
// left of erased rows, then what belongs to no row: as records whose notification has Seq 0 (of a message without its row, only what the message is). Receipts that
// wait for their row are no such thing.
func (s *Store) Audit(ctx context.Context, visit func(ledger.Record) error) error {
	var orphans []ledger.Record
	after, end := int64(math.MinInt64), false
	for !end {
		var page []ledger.Record
		err := s.snapshot(ctx, func(r reader) error {
			rows, err := r.query(afterSeq, after, int64(auditRows))
			list, err := collect(rows, err, rowTargets)
			if err != nil {
				return err
			}
			end = len(list) < auditRows
			last := int64(math.MaxInt64)
			if !end {
				last = list[len(list)-1].Seq
			}
			var lost []ledger.Record
			page, lost, err = r.records(list, after, last)
			orphans, after = append(orphans, lost...), last
			return err
		})
		if err != nil {
			return err
		}
		for _, rec := range page {
			if err := visit(rec); err != nil {
				return err
			}
		}
	}
	if err := s.auditErased(ctx, visit); err != nil {
		return err
	}
	for _, rec := range orphans {
		if err := visit(rec); err != nil {
			return err
		}
	}
	return nil
}

// auditErased hands over what is left of erased rows. It comes after the whole ones, so that a row that is erased meanwhile is
// seen once at least.
func (s *Store) auditErased(ctx context.Context, visit func(ledger.Record) error) error {
	for after := int64(math.MinInt64); ; {
		rows, err := s.reader(ctx).query(erasedAfterSeq, after, int64(auditRows))
		page, err := collect(rows, err, func(r *ledger.Record) []any { return append(erasedTargets(&r.Notification), toBool{&r.KeyTwice}) })
		if err != nil {
			return err
		}
		for _, rec := range page {
			if err := visit(rec); err != nil {
				return err
			}
		}
		if len(page) < auditRows {
			return nil
		}
		after = page[len(page)-1].Seq
	}
}

// records joins rows with their history, and returns what is left over in the range after (exclusive) to last.
func (r reader) records(list []ledger.Notification, after, last int64) (page, lost []ledger.Record, err error) {
	if after < math.MaxInt64 {
		after++
	}
	h, err := r.history(after, last)
	if err != nil {
		return nil, nil, err
	}
	if h.contents, err = r.contents(after, last); err != nil {
		return nil, nil, err
	}
	parents, err := r.resends(after, last)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range list {
		rec := h.record(n)
		rec.Resends = parents[n.Seq]
		page = append(page, rec)
	}
	return page, h.rest(), nil
}

// resends reads the resends of each row in a range.
func (r reader) resends(first, last int64) (map[int64][]uuid.UUID, error) {
	return pieces(r, resendsOf, first, last, func(u *uuid.UUID) []any { return []any{toID{u}} })
}

// contents reads the messages of a range, to find those without a row.
func (r reader) contents(first, last int64) (map[int64]ledger.Notification, error) {
	found, err := pieces(r, lostContents, first, last, func(n *ledger.Notification) []any {
		return []any{&n.Recipient, &n.RecipientKey, toBytes{&n.Message}, toBytes{&n.Metadata}, to16{&n.ContentHash}}
	})
	out := map[int64]ledger.Notification{}
	for seq, list := range found {
		out[seq] = list[0]
	}
	return out, err
}

// rest turns what belongs to no row into records, in order.
func (h *history) rest() []ledger.Record {
	seqs := map[int64]bool{}
	for _, m := range []func(func(int64)){keys(h.attempts), keys(h.receipts), keys(h.settlements), keys(h.suppressed), keys(h.messageIDs), keys(h.contents)} {
		m(func(seq int64) { seqs[seq] = true })
	}
	order := make([]int64, 0, len(seqs))
	for seq := range seqs {
		order = append(order, seq)
	}
	slices.Sort(order)
	var out []ledger.Record
	for _, seq := range order {
		n := h.contents[seq]
		n.Seq = seq
		rec := h.record(n)
		rec.Seq = 0
		out = append(out, rec)
	}
	return out
}

func keys[T any](m map[int64]T) func(func(int64)) {
	return func(yield func(int64)) {
		for k := range m {
			yield(k)
		}
	}
}
