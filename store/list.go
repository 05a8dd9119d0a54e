package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sendonce/ledger"
)

// List returns rows that match, newest first unless Oldest. It looks at no more than MaxScan rows and says in Next where to
// go on; with an indexed filter alone it looks at no more rows than it returns.
func (s *Store) List(ctx context.Context, f ledger.Filter) (ledger.Page, error) {
	if f.Limit < 1 || f.Limit > ledger.MaxList {
		return ledger.Page{}, fmt.Errorf("list: limit %d is not from 1 to %d", f.Limit, ledger.MaxList)
	}
	var page ledger.Page
	err := s.snapshot(ctx, func(r reader) error {
		stop, err := r.listStop(f, s.maxScan)
		if err != nil {
			return err
		}
		l := listing{f: f, stop: stop, scan: s.maxScan}
		query := l.page()
		rows, err := r.tx.QueryContext(ctx, query, l.args...)
		page.Rows, err = collect(rows, err, rowTargets)
		if err == nil && f.DedupeKey != "" {
			err = r.addErased(f, &page)
		}
		switch {
		case err != nil:
			return err
		case len(page.Rows) > f.Limit:
			page.Rows = page.Rows[:f.Limit]
			page.Next = page.Rows[f.Limit-1].Seq
		case stop != 0 && f.Oldest:
			page.Next = stop - 1
		case stop != 0:
			page.Next = stop + 1
		}
		return nil
	})
	return page, err
}

// listing builds the SQL of one page.
type listing struct {
	f    ledger.Filter
	stop int64 // the first row that is not looked at any more; 0: none
	scan int64 // rows to look at
	args []any
}

// arg adds a value and returns its placeholder.
func (l *listing) arg(v any) string {
	l.args = append(l.args, v)
	return fmt.Sprintf("$%d", len(l.args))
}

func (l *listing) order() string {
	if l.f.Oldest {
		return " ORDER BY seq"
	}
	return " ORDER BY seq DESC"
}

// span limits a column that holds a row's seq to what this page may look at.
func (l *listing) span(column string) string {
	from, to := " < ", " > "
	if l.f.Oldest {
		from, to = to, from
	}
	s := ""
	if l.f.Cursor != 0 {
		s += " AND " + column + from + l.arg(l.f.Cursor)
	}
	if l.stop != 0 {
		s += " AND " + column + to + l.arg(l.stop)
	}
	return s
}

// stateSources name the index that holds the rows of a state. There is none for sent: nearly every row is.
func stateSources() map[ledger.State]string {
	const from = "SELECT seq FROM notifications INDEXED BY "
	return map[ledger.State]string{
		ledger.StateClaimed:   from + "notifications_expires WHERE state = 'claimed'",
		ledger.StateHeld:      from + "notifications_waiting WHERE state = 'held'",
		ledger.StateSending:   "SELECT notification AS seq FROM attempts INDEXED BY attempts_open WHERE outcome IS NULL",
		ledger.StateAmbiguous: from + "notifications_waiting WHERE state = 'ambiguous'",
		ledger.StateFailed:    from + "notifications_ended WHERE state = 'failed'",
		ledger.StateCancelled: from + "notifications_ended WHERE state = 'cancelled'",
		ledger.StateExpired:   from + "notifications_ended WHERE state = 'expired'",
	}
}

// source is the query for the rows' seq by the best index that the filter has; "" when it has none. rest is the filter
// without what the index answers. Its parts are in order each, as a rule, so that SQLite merges them without a sort.
func (l *listing) source() (query string, rest ledger.Filter) {
	rest = l.f
	var parts []string
	add := func(query, column string) { parts = append(parts, query+l.span(column)) }
	switch {
	case l.f.MessageID != "":
		rest.MessageID = ""
		add("SELECT DISTINCT notification AS seq FROM message_id_rows WHERE message_id = "+l.arg(l.f.MessageID), "notification")
	case l.f.DedupeKey != "":
		rest.DedupeKey = ""
		add("SELECT seq FROM notifications WHERE dedupe_key = "+l.arg(keyOf(l.f.DedupeKey)), "seq")
	case l.f.EventID != "":
		rest.EventID = ""
		add("SELECT seq FROM notifications WHERE event_id = "+l.arg(l.f.EventID), "seq")
	case l.f.Recipient != "":
		rest.Recipient = ""
		add("SELECT notification AS seq FROM contents WHERE recipient_key = "+l.arg(l.f.Recipient), "notification")
		add("SELECT notification AS seq FROM contents WHERE recipient <> recipient_key AND recipient = "+l.arg(l.f.Recipient), "notification")
	case len(l.f.States) > 0:
		sources := stateSources()
		for _, state := range l.f.States {
			if sources[state] == "" {
				return "", l.f
			}
		}
		rest.States = nil
		for _, state := range ledger.States { // each once, however often it was given
			if slices.Contains(l.f.States, state) {
				column := "seq"
				if state == ledger.StateSending {
					column = "notification"
				}
				add(sources[state], column)
			}
		}
	default:
		return "", l.f
	}
	return strings.Join(parts, " UNION ALL "), rest
}

// conditions are what is left of a filter, as tests of a row that was found. The + keeps SQLite from another index.
func (l *listing) conditions(f ledger.Filter) []string {
	var all []string
	is := func(column, value string) {
		if value != "" {
			all = append(all, "+"+column+" = "+l.arg(value))
		}
	}
	if f.DedupeKey != "" {
		all = append(all, "+n.dedupe_key = "+l.arg(keyOf(f.DedupeKey)))
	}
	is("n.event_id", f.EventID)
	is("n.channel", string(f.Channel))
	is("n.provider", f.Provider)
	is("n.event_type", f.EventType)
	is("n.user_id", f.UserID)
	is("n.delivery", string(f.Delivery))
	if f.Source != nil {
		all = append(all, "+n.source = "+l.arg(*f.Source))
	}
	if f.Recipient != "" {
		r := l.arg(f.Recipient)
		all = append(all, "(c.recipient_key = "+r+" OR c.recipient = "+r+")")
	}
	if len(f.States) > 0 {
		var any []string
		for _, state := range f.States {
			any = append(any, "+n.state = "+l.arg(string(state)))
		}
		all = append(all, "("+strings.Join(any, " OR ")+")")
	}
	if !f.After.IsZero() {
		all = append(all, "n.claimed_at >= "+l.arg(f.After.UnixMilli()))
	}
	if !f.Before.IsZero() {
		all = append(all, "n.claimed_at < "+l.arg(f.Before.UnixMilli()))
	}
	return all
}

// page is the query of one page; it asks for one row more than the limit, to know whether there are more.
func (l *listing) page() string {
	probe := listing{f: l.f}
	source, rest := probe.source()
	limit := int64(l.f.Limit) + 1
	if source == "" {
		// The + leaves the index to the span: of two lower bounds SQLite takes the first, and would look at every row above it.
		where := append([]string{"+n.seq > 0" + l.span("n.seq")}, l.conditions(l.f)...)
		return "SELECT " + rowColumns + " FROM " + rowTables + " WHERE " + strings.Join(where, " AND ") + l.order() + " LIMIT " + l.arg(limit)
	}
	look := limit
	if len(probe.conditions(rest)) > 0 {
		look = l.scan
	}
	source, rest = l.source()
	query := "SELECT " + rowColumns + " FROM (" + source + l.order() + " LIMIT " + l.arg(look) + `) w
 CROSS JOIN notifications n ON n.seq = w.seq LEFT JOIN contents c ON c.notification = n.seq`
	if where := l.conditions(rest); len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	return query + strings.Replace(l.order(), "seq", "w.seq", 1) + " LIMIT " + l.arg(limit)
}

// listStop returns the first row that a page does not look at any more, or 0 when it looks at all that are left.
func (r reader) listStop(f ledger.Filter, scan int64) (stop int64, err error) {
	l := listing{f: f}
	source, rest := l.source()
	switch {
	case len((&listing{}).conditions(rest)) == 0:
		return 0, nil // the limit alone bounds it
	case source != "":
		rows, err := r.tx.QueryContext(r.ctx, source+l.order()+" LIMIT 1 OFFSET "+l.arg(scan), l.args...)
		list, err := collect(rows, err, func(s *int64) []any { return []any{toInt[int64]{s}} })
		if err != nil || len(list) == 0 {
			return 0, err
		}
		return list[0], nil
	}
	var newest int64
	if _, err := oneRow(r, "SELECT max(seq) FROM notifications", nil, toInt[int64]{&newest}); err != nil {
		return 0, err
	}
	if f.Oldest {
		if stop = f.Cursor + 1 + scan; stop > newest {
			stop = 0
		}
		return stop, nil
	}
	if f.Cursor != 0 {
		newest = min(newest, f.Cursor-1)
	}
	return max(0, newest-scan), nil
}
