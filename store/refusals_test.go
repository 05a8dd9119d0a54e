package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"sendonce/ledger"
)

func TestSchema_RefusesForbiddenChanges(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	n := sentRow(t, s, 1, "SM1")
	flies := taken(t, s, claimed(t, s, claimOf(2))[0])
	waits := claimed(t, s, claimOf(3))[0]
	settled(t, s, n, ledger.Change{State: n.State, ConfirmedAt: at0})
	gone := sentRow(t, s, 4, "SM4")
	claimed(t, s, claimOf(5))
	if rows, err := s.Erase([]ledger.Family{{gone.Seq}}, longAgo, longAgo); err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	var told ledger.ProofFacts
	if _, _, err := prove(s, receiptOf("SM1", ledger.Delivered), proves(&told)); err != nil {
		t.Fatal(err)
	}
	db := visit(t, o)
	for _, c := range []struct{ name, sql string }{
		{"the key again", "INSERT INTO notifications SELECT 99, randomblob(16), source, dedupe_key" + restOf(t, db, "notifications", 4) + " FROM notifications WHERE seq = 3"},
		{"the id again", "INSERT INTO notifications SELECT 99, id, source, 'other'" + restOf(t, db, "notifications", 4) + " FROM notifications WHERE seq = 3"},
		{"a derived key as text", keyed("'da39a3ee5e6b4b0d3255bfef95601890afd80709'")},
		{"a long derived key as text", keyed("'" + strings.Repeat("0a", 32) + "'")},
		{"a key of 19 bytes", keyed("randomblob(19)")},
		{"a key that is a number", keyed("1")},
		{"a key too long", keyed("'" + strings.Repeat("k", 129) + "'")},
		{"a row born sent", "INSERT INTO notifications SELECT 99, randomblob(16), source, 'other'" + restOf(t, db, "notifications", 4) + " FROM notifications WHERE seq = 1"},
		{"a row born in its second attempt", born(2, 2)},
		{"a row born in an attempt that moved nothing", born(1, 1)},
		{"another key", "UPDATE notifications SET dedupe_key = 'other' WHERE seq = 1"},
		{"another source", "UPDATE notifications SET source = 'other' WHERE seq = 1"},
		{"another event", "UPDATE notifications SET event_id = 'other' WHERE seq = 1"},
		{"another channel", "UPDATE notifications SET channel = 'email' WHERE seq = 1"},
		{"a pin that goes", "UPDATE notifications SET pinned = 1 WHERE seq = 1"},
		{"another claim time", "UPDATE notifications SET claimed_at = 1 WHERE seq = 1"},
		{"a row deleted", "DELETE FROM notifications WHERE seq = 3"},
		{"sent goes back", "UPDATE notifications SET " + looks(ledger.StateClaimed, "NULL") + " WHERE seq = 1"},
		{"sent without a time", "UPDATE notifications SET confirmed_at = NULL WHERE seq = 1"},
		{"sent, but maybe", "UPDATE notifications SET maybe_sent = 1 WHERE seq = 1"},
		{"sent with something to do", "UPDATE notifications SET next_action = 'send', due_at = 1 WHERE seq = 1"},
		{"claimed with nothing to do", "UPDATE notifications SET next_action = NULL, due_at = NULL WHERE seq = 3"},
		{"claimed to repeat", "UPDATE notifications SET next_action = 'repeat' WHERE seq = 3"},
		{"something to do without a time", "UPDATE notifications SET due_at = NULL WHERE seq = 3"},
		{"claimed and confirmed", "UPDATE notifications SET confirmed_at = 1 WHERE seq = 3"},
		{"sending without an attempt", "UPDATE notifications SET state = 'sending', next_action = NULL, due_at = NULL WHERE seq = 3"},
		{"ambiguous, but surely not sent", "UPDATE notifications SET state = 'ambiguous', reason = 'no_answer', next_action = NULL, due_at = NULL, maybe_sent = 0 WHERE seq = 2"},
		{"expired without a time", "UPDATE notifications SET state = 'expired', next_action = NULL, due_at = NULL, expires_at = NULL WHERE seq = 3"},
		{"a state of another name", "UPDATE notifications SET state = 'lost' WHERE seq = 3"},
		{"a lane of another name", "INSERT INTO notifications SELECT 99, randomblob(16), source, 'other', recipe, source_in_key, event_id, event_type, user_id, channel, provider, pinned, 2" + restOf(t, db, "notifications", 13) + " FROM notifications WHERE seq = 3"},
		{"a delivery of another name", "UPDATE notifications SET delivery = 'read' WHERE seq = 1"},
		{"an empty provider", "UPDATE notifications SET provider = '' WHERE seq = 3"},
		{"version 0", "UPDATE notifications SET version = 0 WHERE seq = 1"},
		{"a time as text", "UPDATE notifications SET updated_at = '2026-03-01 09:00' WHERE seq = 1"},
		{"no recipient", "INSERT INTO contents VALUES (99, NULL, 'x', '{}', NULL, randomblob(16))"},
		{"another message", "UPDATE contents SET message = '{}' WHERE notification = 1"},
		{"a message of no row", "INSERT INTO contents VALUES (99, 'x', 'x', '{}', NULL, randomblob(16))"},
		{"a second open attempt", "INSERT INTO attempts (notification, number, kind, provider, account, request_hash, started_at) VALUES (2, 2, 'send', 'p', zeroblob(8), zeroblob(16), 1)"},
		{"an attempt of no row", "INSERT INTO attempts (notification, number, kind, provider, account, request_hash, started_at) VALUES (99, 1, 'send', 'p', zeroblob(8), zeroblob(16), 1)"},
		{"another outcome", "UPDATE attempts SET outcome = 'deferred', message_id = NULL WHERE notification = 1"},
		{"an attempt opened again", "UPDATE attempts SET outcome = NULL, ended_at = NULL WHERE notification = 1"},
		{"an attempt deleted", "DELETE FROM attempts WHERE notification = 1"},
		{"an open attempt with an answer", "UPDATE attempts SET status = 200 WHERE notification = 2"},
		{"an end without a time", "UPDATE attempts SET outcome = 'accepted' WHERE notification = 2"},
		{"deferred with a message id", "UPDATE attempts SET outcome = 'deferred', ended_at = 1, message_id = 'x' WHERE notification = 2"},
		{"an outcome of another name", "UPDATE attempts SET outcome = 'failed', ended_at = 1 WHERE notification = 2"},
		{"a settlement changed", "UPDATE settlements SET actor = 'nobody'"},
		{"a settlement deleted", "DELETE FROM settlements"},
		{"a receipt changed", "UPDATE receipts SET delivery = 'bounced'"},
		{"a receipt moved", "UPDATE receipts SET notification = 3"},
		{"a receipt deleted", "DELETE FROM receipts"},
		{"a receipt twice", "INSERT INTO receipts (provider, event_key, fact_key, kind, arrived_at) SELECT provider, event_key, 'other', kind, arrived_at FROM receipts"},
		{"a fact twice", "INSERT INTO receipts (provider, event_key, fact_key, kind, arrived_at) SELECT provider, 'other', fact_key, kind, arrived_at FROM receipts"},
		{"an empty message id", "INSERT INTO message_ids VALUES ('', 'p', 1, 1)"},
		{"an erased row deleted", "DELETE FROM erased"},
		{"another outcome of an erased row", "UPDATE erased SET state = 'failed', confirmed_at = NULL"},
		{"another key of an erased row", "UPDATE erased SET dedupe_key = 'other'"},
		{"a row erased while it flies", erasedAs(2, "n.state")},
		{"a row erased with another outcome", erasedAs(1, "'failed'")},
		{"a row erased under another key", strings.Replace(erasedAs(1, "n.state"), "n.dedupe_key", "'other'", 1)},
		{"an erased row that was never there", strings.Replace(erasedAs(1, "n.state"), "n.id", "randomblob(16)", 1)},
		{"an attempt of an erased row", "INSERT INTO attempts (notification, number, kind, provider, account, request_hash, started_at) VALUES (4, 1, 'send', 'p', zeroblob(8), zeroblob(16), 1)"},
		{"a second ledger in one file", "INSERT INTO ledger VALUES (2, zeroblob(16), 1, NULL, 1)"},
		{"a resend without a number", "INSERT INTO notifications (id, source, dedupe_key, recipe, source_in_key, event_id, channel, provider, pinned, lane, state, next_action, due_at, resend_of, claimed_at, updated_at) SELECT randomblob(16), '', 'other', recipe, 1, 'e', 'sms', 'p', 0, 1, 'claimed', 'send', 1, id, 1, 1 FROM notifications WHERE seq = 1"},
	} {
		if _, err := db.Exec(c.sql); code(err) != sqlite3.SQLITE_CONSTRAINT {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, id := range []ledger.Notification{n, flies, waits} {
		record(t, s, id.ID) // still readable
	}
}

// restOf names a table's columns after the first few.
func restOf(t *testing.T, db *sql.DB, table string, after int) string {
	t.Helper()
	rows, err := db.Query("SELECT name FROM pragma_table_info($1) WHERE cid >= $2 ORDER BY cid", table, after)
	names, err := collect(rows, err, func(s *string) []any { return []any{s} })
	if err != nil {
		t.Fatal(err)
	}
	return ", " + strings.Join(names, ", ")
}

// born inserts a row that is being sent.
func born(attempts, version int) string {
	return fmt.Sprintf(`INSERT INTO notifications (id, source, dedupe_key, recipe, source_in_key, event_id, channel, provider, pinned, lane, state,
 attempt_count, version, claimed_at, updated_at) VALUES (randomblob(16), '', 'born', 'given', 0, 'e1', 'sms', 'p', 0, 1, 'sending', %d, %d, 1, 1)`, attempts, version)
}

// erasedAs erases a row by hand, with a state of the hand's choice.
func erasedAs(seq int, state string) string {
	return fmt.Sprintf(`INSERT INTO erased (seq, id, source, dedupe_key, recipe, channel, state, maybe_sent, attempt_count, version, duplicate_count, claimed_at,
 confirmed_at, updated_at, erased_at) SELECT n.seq, n.id, n.source, n.dedupe_key, n.recipe, n.channel, %s, n.maybe_sent, 1, 1, 0, n.claimed_at,
 CASE %[1]s WHEN 'sent' THEN 1 END, n.updated_at, 1 FROM notifications n WHERE n.seq = %d`, state, seq)
}

// keyed inserts a row under a key, as SQL.
func keyed(key string) string {
	return `INSERT INTO notifications (id, source, dedupe_key, recipe, source_in_key, event_id, channel, provider, pinned, lane, state, next_action,
 due_at, claimed_at, updated_at) VALUES (randomblob(16), '', ` + key + `, 'given', 0, 'e1', 'sms', 'p', 0, 1, 'claimed', 'send', 1, 1, 1)`
}
