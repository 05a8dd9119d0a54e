package store

import (
	"sendonce/ledger"
)

const (
	attemptColumns = `notification, number, kind, provider, account, request_hash, request, started_at, ended_at, outcome, phase, status,
 code, message_id, error, answer`
	attemptsOf = `SELECT notification, ` + attemptColumns + ` FROM attempts WHERE notification BETWEEN $1 AND $2 ORDER BY notification, number`
	receiptsOf = `SELECT notification, provider, event_key, fact_key, number, message_id, kind, delivery, code, provider_at, arrived_at, body
 FROM receipts WHERE notification IS NOT NULL AND notification BETWEEN $1 AND $2 ORDER BY notification, id`
	settlementsOf = `SELECT notification, at, action, from_state, to_state, actor, person, reason, evidence
 FROM settlements WHERE notification BETWEEN $1 AND $2 ORDER BY notification, id`
	suppressedOf = `SELECT notification, notification, at, caller, differs FROM duplicates WHERE notification BETWEEN $1 AND $2 ORDER BY notification, id`
	messageIDsOf = `SELECT notification, message_id, provider, notification, number FROM message_ids
 WHERE notification BETWEEN $1 AND $2 ORDER BY notification, number, message_id`
)

func attemptTargets(a *ledger.Attempt) []any {
	return []any{
		toInt[int64]{&a.Seq}, toInt[int]{&a.Number}, toText[ledger.Kind]{&a.Kind}, &a.Provider, to8{&a.Account}, to16{&a.RequestHash},
		toBytes{&a.Request}, toTime{&a.StartedAt}, toTime{&a.EndedAt}, toOutcome{&a.Outcome}, toText[ledger.Phase]{&a.Phase}, toInt[int]{&a.Status},
		toText[string]{&a.Code}, toText[string]{&a.MessageID}, toText[string]{&a.Error}, toBytes{&a.Answer},
	}
}

type toOutcome struct{ p *ledger.Outcome }

func (d toOutcome) Scan(src any) error {
	if src == nil { // open
		*d.p = ledger.Ambiguous
		return nil
	}
	s, _ := src.(string)
	o, ok := ledger.ParseOutcome(s)
	if !ok {
		return unexpected(src, "an outcome")
	}
	*d.p = o
	return nil
}

// history is what belongs to the rows of a range, by row.
type history struct {
	attempts    map[int64][]ledger.Attempt
	receipts    map[int64][]ledger.Receipt
	settlements map[int64][]ledger.Settlement
	suppressed  map[int64][]ledger.Suppressed
	messageIDs  map[int64][]ledger.MessageID
	contents    map[int64]ledger.Notification
}

// owned is a piece of history with the row that it belongs to.
type owned[T any] struct {
	seq   int64
	value T
}

// history reads what belongs to the rows from first to last, whether those rows exist or not.
func (r reader) history(first, last int64) (h history, err error) {
	if h.attempts, err = pieces(r, attemptsOf, first, last, attemptTargets); err != nil {
		return h, err
	}
	if h.receipts, err = pieces(r, receiptsOf, first, last, receiptTargets); err != nil {
		return h, err
	}
	if h.settlements, err = pieces(r, settlementsOf, first, last, settlementTargets); err != nil {
		return h, err
	}
	if h.suppressed, err = pieces(r, suppressedOf, first, last, suppressedTargets); err != nil {
		return h, err
	}
	h.messageIDs, err = pieces(r, messageIDsOf, first, last, messageIDTargets)
	return h, err
}

// pieces reads one kind of history. The first column is the row that it belongs to.
func pieces[T any](q queries, query string, first, last int64, targets func(*T) []any) (map[int64][]T, error) {
	rows, err := q.query(query, first, last)
	list, err := collect(rows, err, func(o *owned[T]) []any { return append([]any{toInt[int64]{&o.seq}}, targets(&o.value)...) })
	if err != nil || len(list) == 0 {
		return nil, err
	}
	out := map[int64][]T{}
	for _, o := range list {
		out[o.seq] = append(out[o.seq], o.value)
	}
	return out, nil
}

// record takes a row's history out of h.
func (h *history) record(n ledger.Notification) ledger.Record {
	r := ledger.Record{
		Notification: n, Attempts: h.attempts[n.Seq], Receipts: h.receipts[n.Seq], Settlements: h.settlements[n.Seq],
		Suppressed: h.suppressed[n.Seq],
	}
	for _, a := range r.Attempts {
		if a.MessageID != "" {
			r.MessageIDs = append(r.MessageIDs, ledger.MessageID{ID: a.MessageID, Provider: a.Provider, Seq: a.Seq, Number: a.Number})
		}
	}
	r.MessageIDs = append(r.MessageIDs, h.messageIDs[n.Seq]...)
	for i := range r.Receipts {
		r.Receipts[i].ID = n.ID
	}
	h.drop(n.Seq)
	return r
}

func (h *history) drop(seq int64) {
	delete(h.attempts, seq)
	delete(h.receipts, seq)
	delete(h.settlements, seq)
	delete(h.suppressed, seq)
	delete(h.messageIDs, seq)
	delete(h.contents, seq)
}

func receiptTargets(r *ledger.Receipt) []any {
	return []any{
		&r.Provider, &r.EventKey, &r.FactKey, toInt[int]{&r.Number}, toText[string]{&r.MessageID}, &r.Kind,
		toText[ledger.Delivery]{&r.Delivery}, toText[string]{&r.Code}, toTime{&r.ProviderAt}, toTime{&r.ArrivedAt}, toBytes{&r.Body},
	}
}

func settlementTargets(s *ledger.Settlement) []any {
	return []any{
		toTime{&s.At}, toText[ledger.Cause]{&s.Action}, toText[ledger.State]{&s.From}, toText[ledger.State]{&s.To}, &s.Actor,
		toText[string]{&s.Person}, toText[string]{&s.Reason}, toBytes{&s.Evidence},
	}
}

func suppressedTargets(d *ledger.Suppressed) []any {
	return []any{toInt[int64]{&d.Seq}, toTime{&d.At}, &d.Caller, toNames{&d.Differs}}
}

func messageIDTargets(m *ledger.MessageID) []any {
	return []any{&m.ID, &m.Provider, toInt[int64]{&m.Seq}, toInt[int]{&m.Number}}
}
