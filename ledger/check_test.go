package ledger_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sendonce/ledger"
)

// row is the seq of a row in SQL.
func row(eventID string) string {
	return "(SELECT min(seq) FROM notifications WHERE event_id = '" + eventID + "')"
}

// corruptions are changes that no program of ours makes, each with the word that must name it.
var corruptions = []struct{ rule, name, sql string }{
	{"without_row", "an attempt without its row", "INSERT INTO attempts SELECT 999, number, kind, provider, account, request_hash, request, started_at, ended_at, outcome, phase, status, code, message_id, error, answer FROM attempts WHERE notification = " + row("rejected")},
	{"without_row", "a settlement without its row", "UPDATE settlements SET notification = 999 WHERE notification = " + row("second")},
	{"without_row", "a receipt without its row", "UPDATE receipts SET notification = 999 WHERE notification = " + row("delivered")},
	{"without_row", "a message id without its row", "UPDATE message_ids SET notification = 999 WHERE notification = " + row("sent")},
	{"without_row", "a message without its row", "INSERT INTO contents SELECT 999, recipient, recipient_key, message, metadata, content_hash FROM contents LIMIT 1"},
	{"attempt_count", "one attempt too many counted", "UPDATE notifications SET attempt_count = 2 WHERE event_id = 'sent'"},
	{"attempt_count", "a lost attempt", "DELETE FROM attempts WHERE number = 2 AND notification = " + row("twice")},
	{"attempt_gap", "a gap in the numbers", "UPDATE attempts SET number = 3 WHERE number = 2 AND notification = " + row("twice")},
	{"attempt_open", "an open attempt under a settled row", "UPDATE notifications SET state = 'failed', reason = 'abandoned' WHERE event_id = 'sending'"},
	{"sending_without_attempt", "sending without an open attempt", "UPDATE notifications SET state = 'sending', next_action = NULL, due_at = NULL, reason = NULL WHERE event_id = 'deferred'"},
	{"attempts_overlap", "two attempts at once", "UPDATE attempts SET started_at = started_at - 3600000 WHERE number = 2 AND notification = " + row("twice")},
	{"attempts_overlap", "two attempts at once, one of them open", "INSERT INTO attempts SELECT notification, 2, kind, provider, account, request_hash, request, started_at, started_at, 'deferred', phase, status, code, message_id, error, answer FROM attempts WHERE notification = " + row("sending")},
	{"accepted_twice", "accepted twice", "UPDATE attempts SET outcome = 'accepted' WHERE number = 1 AND notification = " + row("twice")},
	{"times_backwards", "an attempt before the claim", "UPDATE attempts SET started_at = started_at - 3600000 WHERE notification = " + row("sent")},
	{"times_backwards", "an attempt that ended before it began", "UPDATE attempts SET ended_at = started_at - 1 WHERE notification = " + row("twice") + " AND number = 1"},
	{"times_backwards", "updated before it was claimed", "UPDATE notifications SET updated_at = claimed_at - 1 WHERE event_id = 'sent'"},
	{"times_backwards", "updated before its last change", "UPDATE notifications SET updated_at = claimed_at WHERE event_id = 'held'"},
	{"times_backwards", "settled before it was claimed", "UPDATE settlements SET at = at - 3600000 WHERE notification = " + row("held")},
	{"sent_without_evidence", "sent, and nothing shows it", "UPDATE notifications SET state = 'sent', confirmed_at = updated_at, next_action = NULL, due_at = NULL, reason = NULL WHERE event_id = 'deferred'"},
	{"sent_without_evidence", "sent without any attempt", "UPDATE notifications SET state = 'sent', confirmed_at = updated_at, next_action = NULL, due_at = NULL, reason = NULL WHERE event_id = 'claimed'"},
	{"sent_without_evidence", "confirmed by nobody", "DELETE FROM settlements WHERE notification = " + row("confirmed")},
	{"failed_without_evidence", "failed without a reason", "UPDATE notifications SET reason = NULL WHERE event_id = 'rejected'"},
	{"failed_without_evidence", "failed for another reason", "UPDATE notifications SET reason = 'exhausted' WHERE event_id = 'rejected'"},
	{"failed_without_evidence", "abandoned by nobody", "DELETE FROM settlements WHERE notification = " + row("abandoned")},
	{"failed_without_evidence", "unbuildable, says nobody", "DELETE FROM settlements WHERE notification = " + row("unbuildable")},
	{"settlement_missing", "held by nobody", "DELETE FROM settlements WHERE notification = " + row("held")},
	{"settlement_missing", "cancelled by nobody", "DELETE FROM settlements WHERE notification = " + row("cancelled")},
	{"settlement_missing", "expired by nobody", "DELETE FROM settlements WHERE action = 'expire'"},
	{"settlement_missing", "back to claimed by nobody", "UPDATE notifications SET state = 'claimed', next_action = 'send', due_at = updated_at, reason = 'released' WHERE event_id = 'ambiguous'"},
	{"settlement_from", "a settlement that leaves another state", "UPDATE settlements SET from_state = 'held' WHERE notification = " + row("confirmed")},
	{"settlement_from", "a settlement that goes elsewhere", "UPDATE settlements SET to_state = 'cancelled' WHERE notification = " + row("abandoned")},
	{"settlement_from", "an action that nobody knows", "UPDATE settlements SET action = 'wave' WHERE notification = " + row("held")},
	{"settlement_from", "the hold before the unhold is gone", "DELETE FROM settlements WHERE action = 'hold' AND notification = " + row("unheld")},
	{"attempt_from", "a second send of an unknown", "DELETE FROM settlements WHERE notification = " + row("twice")},
	{"attempt_from", "a repeat called a send", "UPDATE attempts SET kind = 'send' WHERE number = 2 AND notification = " + row("repeated")},
	{"maybe_sent", "the mark of an unknown is gone", "UPDATE notifications SET maybe_sent = 0 WHERE event_id = 'ambiguous'"},
	{"maybe_sent", "the mark is gone from a failed row", "UPDATE notifications SET maybe_sent = 0 WHERE event_id = 'unknown'"},
	{"maybe_sent", "a mark without an unknown", "UPDATE notifications SET maybe_sent = 1 WHERE event_id = 'deferred'"},
	{"version", "a version that lags", "UPDATE notifications SET version = version - 1 WHERE event_id = 'twice'"},
	{"version", "a version that runs ahead", "UPDATE notifications SET version = version + 1 WHERE event_id = 'sent'"},
	{"version", "a settlement of a parent is gone", "DELETE FROM settlements WHERE id = (SELECT max(id) FROM settlements WHERE action = 'resend')"},
	{"confirmed_at", "confirmed and failed", "UPDATE notifications SET confirmed_at = updated_at WHERE event_id = 'rejected'"},
	{"confirmed_at", "sent and not confirmed", "UPDATE notifications SET confirmed_at = NULL WHERE event_id = 'sent'"},
	{"reason", "a word of another state", "UPDATE notifications SET reason = 'rejected' WHERE event_id = 'ambiguous'"},
	{"expired_early", "expired before its time", "UPDATE notifications SET expires_at = expires_at + 3600000 WHERE event_id = 'expired'"},
	{"expired_early", "an unknown ended before its time", "UPDATE notifications SET expires_at = expires_at + 3600000 WHERE event_id = 'unknown'"},
	{"content_missing", "a claimed row without its message", "DELETE FROM contents WHERE notification = " + row("claimed")},
	{"content_missing", "a held row without its message", "DELETE FROM contents WHERE notification = " + row("held")},
	{"content_hash", "another message", `UPDATE contents SET message = '{"text":"other"}' WHERE notification = ` + row("sent")},
	{"content_hash", "another hash", "UPDATE contents SET content_hash = zeroblob(16) WHERE notification = " + row("sent")},
	{"dedupe_key", "another key", "UPDATE notifications SET dedupe_key = 'x' WHERE event_id = 'sent'"},
	{"dedupe_key", "another event", "UPDATE notifications SET event_id = 'other' WHERE event_id = 'sent'"},
	{"dedupe_key", "another recipient", "UPDATE contents SET recipient_key = '+14155550143', recipient = '+14155550143' WHERE notification = " + row("sent")},
	{"dedupe_key", "a source that is not in the key", "UPDATE notifications SET source_in_key = 0 WHERE event_id = 'sent'"},
	{"dedupe_key", "another key of a resend", "UPDATE notifications SET dedupe_key = 'x' WHERE resend_number = 2"},
	{"resend_without_parent", "a resend of a row that knows nothing", "UPDATE notifications SET resend_of = (SELECT id FROM notifications WHERE event_id = 'sent'), resend_number = 1 WHERE event_id = 'delivered'"},
	{"resend_without_parent", "a resend of nothing", "UPDATE notifications SET resend_of = x'01010101010101010101010101010101' WHERE resend_number = 2"},
	{"resend_without_parent", "a resend that no settlement names", "DELETE FROM settlements WHERE id = (SELECT max(id) FROM settlements WHERE action = 'resend')"},
	{"message_id_foreign", "a message id from nowhere", "UPDATE notifications SET message_id = 'm-other' WHERE event_id = 'sent'"},
	{"message_id_foreign", "a message id given to another row", "UPDATE message_ids SET notification = " + row("parts") + " WHERE notification = " + row("sent")},
	{"message_id_foreign", "a message id of an attempt that is not there", "UPDATE message_ids SET number = 2 WHERE notification = " + row("sent")},
	{"message_id_unlisted", "a message id that no receipt would find", "DELETE FROM message_ids WHERE notification = " + row("sent")},
	{"delivery", "delivered, says nobody", "UPDATE notifications SET delivery = 'delivered' WHERE event_id = 'sent'"},
	{"delivery", "a report that was overlooked", "UPDATE notifications SET delivery = NULL WHERE event_id = 'delivered'"},
	{"delivery", "another delivery than reported", "UPDATE notifications SET delivery = 'bounced' WHERE event_id = 'delivered'"},
	{"receipt_without_attempt", "a receipt for an attempt that is not there", "UPDATE receipts SET number = 9 WHERE notification = " + row("delivered")},
}

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sendonce.db")
	var beside []ledger.Difference
	inLedger(t, path, func(b *bench) {
		everyKind(b)
		var err error
		if _, err = ledger.Check(b.t.Context(), b.store, func(d ledger.Difference) { beside = append(beside, d) }); err != nil {
			t.Fatal(err)
		}
		keepOpen(b.t, path)
	})
	if t.Failed() {
		t.FailNow()
	}
	for _, d := range beside {
		t.Errorf("beside the service: %+v", d)
	}
	t.Run("healthy", func(t *testing.T) {
		found, rows := differences(t, path)
		if rows != 28 {
			t.Errorf("%d rows were read", rows)
		}
		for _, d := range found {
			t.Errorf("%+v", d)
		}
	})
	path = path + ".open"
	named := map[string]bool{}
	for _, c := range corruptions {
		named[c.rule] = true
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			bad := copyFile(t, path)
			corrupt(t, bad, c.sql)
			found, _ := differences(t, bad)
			if !slices.ContainsFunc(found, func(d ledger.Difference) bool { return d.Rule == c.rule }) {
				t.Errorf("found %+v, want %s", found, c.rule)
			}
			if len(found) > 3 {
				t.Errorf("one fault, %d differences: %+v", len(found), found)
			}
			for _, d := range found {
				if len(d.Detail) < 15 || strings.Contains(d.Detail, "555") || (d.ID == "") != (d.Rule == "without_row") {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}

// withoutRules opens a ledger in which everything may be written.
func withoutRules(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=ignore_check_constraints(1)&_pragma=foreign_keys(0)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil || len(names) == 0 {
		t.Fatalf("%d triggers, %v", len(names), err)
	}
	for _, name := range names {
		if _, err := db.Exec("DROP TRIGGER " + name); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// corrupt changes a ledger past all its rules.
func corrupt(t *testing.T, path, query string) {
	t.Helper()
	res, err := withoutRules(t, path).Exec(query)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		t.Fatalf("nothing was corrupted: %v", err)
	}
}

// keepOpen copies a ledger as a process that dies now would leave it: with an attempt in flight.
func keepOpen(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("VACUUM INTO '" + path + ".open'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
