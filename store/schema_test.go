package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sendonce/ledger"
)

// visit opens a second connection to a ledger that is open, as a person with a shell does.
func visit(t testing.TB, o Options) *sql.DB {
	t.Helper()
	db, err := connect(o.Path, 1, []pragma{{"busy_timeout", busyWait, busyWait}, {"foreign_keys", "1", "1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// looks are what a row in each state has to have besides the state.
func looks(s ledger.State, reason string) string {
	next := "next_action = NULL, due_at = NULL"
	confirmed, maybe := "NULL", "0"
	switch s {
	case ledger.StateClaimed:
		next = "next_action = 'send', due_at = 1"
	case ledger.StateAmbiguous:
		maybe = "1"
	case ledger.StateSent:
		confirmed = "1"
	}
	return fmt.Sprintf("state = '%s', reason = %s, %s, confirmed_at = %s, maybe_sent = %s, attempt_count = 1", s, reason, next, confirmed, maybe)
}

// firstReason is a word that may stand beside a state, as SQL.
func firstReason(s ledger.State) string {
	if s == ledger.StateAmbiguous || s == ledger.StateFailed {
		return "'" + string(ledger.Reasons[s][0]) + "'"
	}
	return "NULL"
}

// inState makes a row and leads it to a state, past the triggers that say how it may get there.
func inState(t *testing.T, s *Store, db *sql.DB, i int, state ledger.State) int64 {
	t.Helper()
	n := claimed(t, s, claimOf(i))[0]
	var trigger string
	if err := db.QueryRow("SELECT sql FROM sqlite_schema WHERE name = 'notifications_moves'").Scan(&trigger); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "DROP TRIGGER notifications_moves")
	mustExec(t, db, "UPDATE notifications SET "+looks(state, firstReason(state))+" WHERE seq = $1", n.Seq)
	mustExec(t, db, trigger)
	return n.Seq
}

// The schema's picture of states is the one in ledger/state.go: every pair is tried.
func TestSchema_MovesAreTheTransitionTable(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	db := visit(t, o)
	for i, from := range ledger.States {
		for j, to := range ledger.States {
			allowed := from == to
			for _, line := range ledger.Transitions {
				allowed = allowed || line.From == from && line.To == to
			}
			seq := inState(t, s, db, 100*i+j, from)
			_, err := db.Exec("UPDATE notifications SET "+looks(to, firstReason(to))+" WHERE seq = $1", seq)
			if (err == nil) != allowed {
				t.Errorf("%s to %s: allowed %v, the schema says %v", from, to, allowed, err)
			}
		}
	}
}

func TestSchema_ReasonsAreThoseOfTheirState(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	db := visit(t, o)
	var words []ledger.Reason
	for _, list := range ledger.Reasons {
		words = append(words, list...)
	}
	words = append(words, "lost", "")
	for i, state := range ledger.States {
		seq := inState(t, s, db, i, state)
		for _, word := range words {
			_, err := db.Exec("UPDATE notifications SET "+looks(state, "$2")+" WHERE seq = $1", seq, string(word))
			if allowed := slices.Contains(ledger.Reasons[state], word); (err == nil) != allowed {
				t.Errorf("%s with reason %q: allowed %v, the schema says %v", state, word, allowed, err)
			}
		}
		_, err := db.Exec("UPDATE notifications SET "+looks(state, "NULL")+" WHERE seq = $1", seq)
		if allowed := firstReason(state) == "NULL"; (err == nil) != allowed {
			t.Errorf("%s without a reason: allowed %v, the schema says %v", state, allowed, err)
		}
	}
}

// Every word that Go knows is a word of the schema.
func TestSchema_KnowsEveryWord(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	n := claimed(t, s, claimOf(1))[0]
	db := visit(t, o)
	for _, d := range ledger.Deliveries {
		mustExec(t, db, "UPDATE notifications SET delivery = $1 WHERE seq = $2", string(d), n.Seq)
		mustExec(t, db, "INSERT INTO receipts (provider, event_key, fact_key, kind, delivery, arrived_at) VALUES ('p', $1, $1, 'k', $1, 1)", string(d))
	}
	for i, ch := range ledger.Channels {
		c := claimOf(10 + i)
		c.Channel = ch
		claimed(t, s, c)
	}
	for i, next := range []ledger.NextAction{ledger.DoRepeat, ledger.DoLookUp, ledger.DoPolicy, ledger.DoExpire, ledger.DoNothing} {
		n := ambiguousRow(t, s, 20+i)
		c := ledger.Change{State: n.State, Reason: n.Reason, MaybeSent: true, NextAction: next}
		if next != ledger.DoNothing {
			c.DueAt = at0
		}
		settled(t, s, n, c)
	}
}

// Keeps out F17: times as text in Go's debug form, with a zone name and a monotonic tail.
func TestSchema_TimesAreIntegers(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	sentRow(t, s, 1, "SM1")
	db := visit(t, o)
	rows, err := db.Query("SELECT m.name || '.' || c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND (c.name LIKE '%\\_at' ESCAPE '\\' OR c.name IN ('at', 'since'))")
	type column struct{ name, kind string }
	list, err := collect(rows, err, func(c *column) []any { return []any{&c.name, &c.kind} })
	if err != nil || len(list) < 15 {
		t.Fatalf("%d time columns, %v", len(list), err)
	}
	for _, c := range list {
		if c.kind != "INTEGER" {
			t.Errorf("%s is %s", c.name, c.kind)
		}
	}
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "m=+") || strings.Contains(string(raw), "+0000 UTC") {
		t.Error("a time in Go's debug form stands in the file")
	}
}

// Keeps out F20: OR REPLACE deletes the row that was there, and its attempts with it.
func TestSource_HasNoReplace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	pattern := regexp.MustCompile(`(?i)(insert\s+or\s+|update\s+or\s+|\breplace\s+into)`)
	for _, name := range append(files, "../schema.sql") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if found := pattern.Find(text); found != nil {
			t.Errorf("%s has %q", name, found)
		}
	}
}
