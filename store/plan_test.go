package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sendonce/ledger"
)

// plan is SQLite's plan of a query, one step a line. Values are bound as the store binds them: a plan for literals can be
// another one.
func plan(t *testing.T, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	if len(args) == 0 {
		for n := 1; strings.Contains(query, fmt.Sprintf("$%d", n)); n++ {
			args = append(args, int64(1))
		}
	}
	rows, err := db.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
	var ignored int64
	steps, err := collect(rows, err, func(s *string) []any {
		return []any{toInt[int64]{&ignored}, toInt[int64]{&ignored}, toInt[int64]{&ignored}, s}
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return steps
}

// No query reads a whole table, but where the plan says so on purpose.
func TestPlans_UseTheirIndex(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	for _, c := range []struct {
		name, query string
		index       []string // all of these are used
		scan        string   // the scan that is meant; "": none
		sort        bool     // a sort is meant: of few rows
	}{
		{name: "prior", query: byKey, index: []string{"notifications_key (dedupe_key=? AND source=?)"}},
		{name: "other key", query: byOther, index: []string{"notifications_key (dedupe_key=? AND source=?)"}},
		{name: "id", query: byID, index: []string{"notifications_id (id=?)"}},
		{name: "take", query: takeClaimed, index: []string{"INTEGER PRIMARY KEY (rowid=?)"}},
		{name: "take to repeat", query: takeAmbiguous, index: []string{"INTEGER PRIMARY KEY (rowid=?)"}},
		{name: "evidence", query: evidenceQuery, index: []string{"receipts_of (notification=?)", "receipts_unmatched (message_id=? AND provider=?)", "attempts_message (message_id=? AND provider=?)", "PRIMARY KEY (message_id=? AND provider=?)"}},
		{name: "due", query: dueAll, index: []string{"notifications_due (provider=? AND lane=? AND due_at<?)"}},
		{name: "due movable", query: dueMovable, index: []string{"notifications_due (provider=? AND lane=? AND due_at<?)"}},
		{name: "next due", query: nextDue, index: []string{"notifications_due (provider=? AND lane=? AND due_at>?)"}, scan: "SCAN (subquery"},
		{name: "backlog", query: backlog, index: []string{"notifications_due (provider=?)"}, scan: "SCAN (subquery"},
		{name: "lately", query: latelyRows, index: []string{"INTEGER PRIMARY KEY (rowid<?)"}},
		{name: "attempts lately", query: latelyAttempts, index: []string{"PRIMARY KEY (notification>? AND notification<?)"}},
		{name: "settlements lately", query: latelySettlements, index: []string{"settlements_of (notification>? AND notification<?)"}},
		{name: "providers", query: claimedProviders, index: []string{"notifications_due (provider>?)"}, scan: "SCAN names"},
		{name: "waiting", query: waiting, index: []string{"notifications_waiting (state=? AND due_at<?)", "notifications_expires (expires_at<?)"}, scan: "SCAN", sort: true},
		{name: "next waiting", query: nextWaiting, index: []string{"notifications_waiting (state=? AND due_at>?)", "notifications_expires (expires_at>?)"}, scan: "SCAN (subquery"},
		{name: "open at start", query: openRows, index: []string{"attempts_open"}, scan: "SCAN attempts USING INDEX attempts_open", sort: true},
		{name: "held at start", query: heldRows, index: []string{"notifications_waiting (state=?)"}, sort: true},
		{name: "claimed at start", query: dueRows, index: []string{"notifications_expires"}, scan: "SCAN n USING INDEX notifications_expires"},
		{name: "oldest unknown", query: oldestUnknown, index: []string{"notifications_waiting (state=?)"}},
		{name: "audit", query: afterSeq, index: []string{"INTEGER PRIMARY KEY (rowid>?)"}},
		{name: "rows of a recipient", query: otherRows, index: []string{"contents_recipient (recipient_key=?)", "PRIMARY KEY (notification=?)"}},
		{name: "first attempt", query: firstAttempt, index: []string{"PRIMARY KEY (notification=?)"}},
		{name: "resends of one", query: resendsByID, index: []string{"notifications_resends (resend_of=?)"}},
		{name: "attempts of", query: attemptsOf, index: []string{"PRIMARY KEY (notification>? AND notification<?)"}},
		{name: "receipts of", query: receiptsOf, index: []string{"receipts_of (notification>? AND notification<?)"}, sort: true},
		{name: "attempt of a reference", query: attemptProvider, index: []string{"PRIMARY KEY (notification=? AND number=?)"}},
		{name: "rows of a message id", query: rowsOfID, index: []string{"attempts_message (message_id=? AND provider=?)", "PRIMARY KEY (message_id=? AND provider=?)"}, scan: "SCAN message_id_rows", sort: true},
		{name: "standing of a message id", query: standing, index: []string{"attempts_message (message_id=? AND provider=?)", "PRIMARY KEY (message_id=? AND provider=?", "receipts_unmatched (message_id=? AND provider=?)"}},
		{name: "proven attempts", query: provenAttempts, index: []string{"PRIMARY KEY (notification=?)", "receipts_of (notification=? AND number=?)"}},
		{name: "settlements of", query: settlementsOf, index: []string{"settlements_of (notification>? AND notification<?)"}},
		{name: "repeats of", query: suppressedOf, index: []string{"duplicates_of (notification>? AND notification<?)"}},
		{name: "message ids of", query: messageIDsOf, index: []string{"message_ids_of (notification>? AND notification<?)"}},
		{name: "resends of", query: resendsOf, index: []string{"p USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "notifications_resends (resend_of=?)"}},
		{name: "erased by key", query: erasedByKey, index: []string{"erased_key (dedupe_key=? AND source=?)"}},
		{name: "erased by id", query: erasedByID, index: []string{"erased_id (id=?)"}},
		{name: "rows that may be erased", query: oldRows, index: []string{"n USING INTEGER PRIMARY KEY (rowid>?)", "notifications_resends (resend_of=?)"}},
		{name: "a family", query: familyOf, index: []string{"notifications_resends (resend_of=?)"}, scan: "SCAN f"},
		{name: "still old", query: stillOld, index: []string{"n USING INTEGER PRIMARY KEY (rowid=?)", "receipts_of (notification=?)"}, scan: "SCAN json_each"},
		{name: "receipts that are erased", query: receiptsOfRows, index: []string{"receipts_of (notification=?)"}, scan: "SCAN json_each"},
		{name: "receipts that age out", query: ageOut, index: []string{"receipts_ageing (arrived_at<?)"}},
		{name: "audit of erased rows", query: erasedAfterSeq, index: []string{"e USING INTEGER PRIMARY KEY (rowid>?)", "notifications_key (dedupe_key=? AND source=?)"}},
		{name: "lost contents", query: lostContents, index: []string{"contents USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}},
	} {
		steps := strings.Join(plan(t, s.reads, c.query), "\n")
		for _, index := range c.index {
			if !strings.Contains(steps, index) {
				t.Errorf("%s: %s is not used:\n%s", c.name, index, steps)
			}
		}
		checkScans(t, c.name, steps, c.scan, c.sort)
	}
}

func checkScans(t *testing.T, name, steps, scan string, sort bool) {
	t.Helper()
	for _, step := range strings.Split(steps, "\n") {
		if strings.Contains(step, "SCAN") && step != "SCAN CONSTANT ROW" && (scan == "" || !strings.HasPrefix(step, scan)) {
			t.Errorf("%s: %s in\n%s", name, step, steps)
		}
		if strings.HasPrefix(step, "SCAN notifications") && !strings.Contains(step, "INDEX") {
			t.Errorf("%s: reads the whole table:\n%s", name, steps)
		}
		if strings.Contains(step, "TEMP B-TREE") && !sort {
			t.Errorf("%s: sorts:\n%s", name, steps)
		}
	}
}

// Each indexed filter finds its rows by its index, newest first, and sorts only what its index does not have in order.
func TestPlans_OfLists(t *testing.T) {
	s := opened(t, created(t))
	empty := ""
	for _, c := range []struct {
		name   string
		filter ledger.Filter
		index  string
		sort   bool
	}{
		{"all", ledger.Filter{}, "n USING INTEGER PRIMARY KEY", false},
		{"event", ledger.Filter{EventID: "e"}, "notifications_event (event_id=?", false},
		{"key", ledger.Filter{DedupeKey: "k"}, "notifications_key (dedupe_key=?)", true},
		{"message id", ledger.Filter{MessageID: "m"}, "PRIMARY KEY (message_id=?)", true},
		{"recipient", ledger.Filter{Recipient: "r"}, "contents_recipient (recipient_key=?", false},
		{"recipient as written", ledger.Filter{Recipient: "r"}, "contents_written (recipient=?", false},
		{"failed", ledger.Filter{States: []ledger.State{ledger.StateFailed}}, "notifications_ended (state=?", false},
		{"claimed", ledger.Filter{States: []ledger.State{ledger.StateClaimed}}, "notifications_expires", true},
		{"ambiguous", ledger.Filter{States: []ledger.State{ledger.StateAmbiguous}}, "notifications_waiting (state=?)", true},
		{"sending", ledger.Filter{States: []ledger.State{ledger.StateSending}}, "attempts_open", true},
		{"failed of a source", ledger.Filter{Source: &empty, States: []ledger.State{ledger.StateFailed}}, "notifications_ended (state=?", false},
		{"sent", ledger.Filter{States: []ledger.State{ledger.StateSent}}, "n USING INTEGER PRIMARY KEY", false},
		{"user", ledger.Filter{UserID: "u"}, "n USING INTEGER PRIMARY KEY", false},
	} {
		for _, oldest := range []bool{false, true} {
			f := c.filter
			f.Limit, f.Oldest, f.Cursor = 50, oldest, 1000
			l := listing{f: f, scan: 50_000}
			query := l.page()
			steps := strings.Join(plan(t, s.reads, query, l.args...), "\n")
			if !strings.Contains(steps, c.index) {
				t.Errorf("%s: %s is not used:\n%s\n%s", c.name, c.index, steps, query)
			}
			if strings.Contains(steps, "SCAN notifications\n") || strings.Contains(steps, "SCAN n\n") || strings.Contains(steps, "SCAN contents") {
				t.Errorf("%s: reads a whole table:\n%s", c.name, steps)
			}
			if strings.Contains(steps, "TEMP B-TREE") && !c.sort {
				t.Errorf("%s, oldest %v: sorts:\n%s\n%s", c.name, oldest, steps, query)
			}
		}
	}
}

// Keeps out that a page looks at every row of the ledger, and one of the oldest at all that come before it: of two lower bounds
// SQLite seeks by the one that was written first.
func TestPlans_OneLowerBound(t *testing.T) {
	bound := regexp.MustCompile(`[^+]n\.seq > `)
	for _, l := range []listing{
		{f: ledger.Filter{UserID: "u", Limit: 10, Cursor: 900}, stop: 800}, {f: ledger.Filter{UserID: "u", Limit: 10, Cursor: 800, Oldest: true}, stop: 900},
	} {
		if query := l.page(); len(bound.FindAllString(query, -1)) != 1 {
			t.Errorf("the span has not the only lower bound: %s", query)
		}
	}
}
