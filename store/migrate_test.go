package store

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"sendonce/ledger"
)

// withMigrations is the same ledger under a program that knows a later schema.
func withMigrations(o Options, list ...string) Options {
	o.hooks.migrations = nil
	for i, text := range list {
		o.hooks.migrations = append(o.hooks.migrations, migration{version: schemaVersion + 1 + i, sql: text})
	}
	o.hooks.version = schemaVersion + len(list)
	return o
}

func versionOf(t *testing.T, db *sql.DB) (version int, schema string) {
	t.Helper()
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT coalesce(sql, '') FROM sqlite_schema ORDER BY name")
	list, err := collect(rows, err, func(s *string) []any { return []any{s} })
	if err != nil {
		t.Fatal(err)
	}
	return version, strings.Join(list, ";\n")
}

const rebuildContents = `DROP TRIGGER erased_moves;
CREATE TABLE new_contents (notification INTEGER PRIMARY KEY REFERENCES notifications (seq), recipient TEXT NOT NULL,
 recipient_key TEXT NOT NULL, message TEXT NOT NULL, metadata TEXT, content_hash BLOB NOT NULL, extra TEXT) STRICT;
INSERT INTO new_contents SELECT *, NULL FROM contents;
DROP TABLE contents;
ALTER TABLE new_contents RENAME TO contents;
CREATE INDEX contents_recipient ON contents (recipient_key);
CREATE INDEX contents_written ON contents (recipient) WHERE recipient <> recipient_key;`

func TestMigrate_LeadsAnOldLedgerToTheNewestVersion(t *testing.T) {
	o := created(t)
	served(t, o, func(s *Store) { sentRow(t, s, 1, "SM1") })
	newer := withMigrations(o, "DROP VIEW readable;\n"+rebuildContents, "ALTER TABLE pauses ADD COLUMN until INTEGER; CREATE TABLE more (a INTEGER) STRICT;")
	served(t, newer, func(s *Store) {
		if s.Condition().Restored {
			t.Fatal("restored")
		}
		r := record(t, s, priorOf(t, s, claimOf(1)).ID)
		if len(r.Attempts) != 1 || len(r.MessageIDs) != 1 || string(r.Message) != string(claimOf(1).Message) {
			t.Fatalf("%+v", r)
		}
		claimed(t, s, claimOf(2))
	})
	if version, schema := versionOf(t, visit(t, o)); version != schemaVersion+2 || !strings.Contains(schema, "CREATE TABLE more") {
		t.Fatalf("version %d", version)
	}
	served(t, newer, func(s *Store) { claimed(t, s, claimOf(3)) }) // nothing is done twice
	_, err := Open(o)
	wantErr(t, err, ErrNewer)
}

// Keeps out F38: a schema that is half old and half new.
func TestMigrate_AFailureLeavesTheOldSchema(t *testing.T) {
	for name, list := range map[string][]string{
		"a failing second statement":      {"CREATE TABLE more (a INTEGER); INSERT INTO no_such_table VALUES (1);"},
		"a failing second migration":      {"CREATE TABLE more (a INTEGER);", "CREATE TABLE more (a INTEGER);"},
		"UNIQUE over rows that are equal": {"CREATE UNIQUE INDEX one_channel ON notifications (channel);"},
		"a row that loses its parent":     {"DROP TRIGGER notifications_kept; DELETE FROM notifications WHERE seq = 1;"},
	} {
		t.Run(name, func(t *testing.T) {
			o := created(t)
			served(t, o, func(s *Store) {
				sentRow(t, s, 1, "SM1")
				claimed(t, s, claimOf(2))
			})
			_, before := versionOf(t, visit(t, o))
			if _, err := Open(withMigrations(o, list...)); err == nil {
				t.Fatal("it opened")
			}
			if version, after := versionOf(t, visit(t, o)); version != schemaVersion || after != before {
				t.Fatalf("version %d, another schema: %v", version, after != before)
			}
			served(t, o, func(s *Store) {
				if r := record(t, s, priorOf(t, s, claimOf(1)).ID); len(r.Attempts) != 1 {
					t.Fatalf("%d attempts", len(r.Attempts))
				}
			})
		})
	}
}

// A process that was killed in the middle of a migration leaves its statements in the log without a commit.
func TestMigrate_GoesOnAfterAKill(t *testing.T) {
	o := created(t)
	served(t, o, func(s *Store) { sentRow(t, s, 1, "SM1") })
	db := visit(t, o)
	mustExec(t, db, "PRAGMA cache_size = 1") // so that the log gets what is not committed
	mustExec(t, db, "BEGIN IMMEDIATE")
	mustExec(t, db, "CREATE TABLE half (a INTEGER, b TEXT)")
	mustExec(t, db, "INSERT INTO half SELECT 1, hex(zeroblob(3000)) FROM sqlite_schema")
	mustExec(t, db, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1))
	killed := options(t)
	copyLedger(t, o, killed, "", "-wal", ".lock")
	if info, err := os.Stat(killed.Path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatal("nothing of it is in the log", err)
	}
	mustExec(t, db, "ROLLBACK")
	served(t, withMigrations(killed, "CREATE TABLE half (a INTEGER)"), func(s *Store) { priorOf(t, s, claimOf(1)) })
	if version, _ := versionOf(t, visit(t, killed)); version != schemaVersion+1 {
		t.Fatalf("version %d", version)
	}
}

// The file of the newest version and the list of migrations must not drift apart.
func TestMigrations_EndAtTheSchema(t *testing.T) {
	list := migrations()
	if len(list) > 0 && list[len(list)-1].version != schemaVersion {
		t.Fatalf("the last migration leads to %d, the schema is %d", list[len(list)-1].version, schemaVersion)
	}
	text := options(t).Schema
	for _, want := range []string{fmt.Sprintf("PRAGMA application_id = %d;", applicationID), fmt.Sprintf("PRAGMA user_version = %d;", schemaVersion)} {
		if !strings.Contains(text, want) {
			t.Errorf("schema.sql has no %q", want)
		}
	}
}

func TestReadable_ShowsARowToPeople(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	n := sentRow(t, s, 1, "SM1")
	var id, recipient, state, at string
	if err := visit(t, o).QueryRow("SELECT id, recipient, state, claimed_at FROM readable WHERE event_id = $1", n.EventID).Scan(&id, &recipient, &state, &at); err != nil {
		t.Fatal(err)
	}
	if id != n.ID.String() || recipient != n.Recipient || state != string(ledger.StateSent) || at != "2026-03-01T09:00:00.000Z" {
		t.Fatal(id, recipient, state, at)
	}
}
