package store

import (
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sendonce/ledger"
)

// sentOnce is a sent row as the first version wrote it, whose answer had two message ids.
const sentOnce = `INSERT INTO notifications (id, source, dedupe_key, recipe, source_in_key, event_id, channel, provider, pinned, lane, state,
 next_action, due_at, claimed_at, updated_at)
VALUES (x'01890000000070008000000000000001', '', 'k1', 'given', 0, 'e1', 'sms', 'p', 0, 1, 'claimed', 'send', 1, 1, 1);
INSERT INTO contents VALUES (1, '+14155550142', '+14155550142', '{"text":"x"}', NULL, zeroblob(16));
UPDATE notifications SET state = 'sending', next_action = NULL, due_at = NULL, attempt_count = 1, version = 2 WHERE seq = 1;
INSERT INTO attempts (notification, number, kind, provider, account, request_hash, started_at)
VALUES (1, 1, 'send', 'p', zeroblob(8), zeroblob(16), 2);
UPDATE attempts SET ended_at = 3, outcome = 'accepted', phase = 'answered', message_id = 'm1' WHERE notification = 1;
UPDATE notifications SET state = 'sent', message_id = 'm1', confirmed_at = 3, version = 3 WHERE seq = 1;
INSERT INTO message_ids VALUES ('m2', 'p', 1, 1);`

// keysOnce are waiting rows under a derived key, as the first versions wrote it, and under one that looks like it.
const keysOnce = `
INSERT INTO notifications (id, source, dedupe_key, recipe, source_in_key, event_id, channel, provider, pinned, lane, state, next_action, due_at,
 claimed_at, updated_at) VALUES
(x'01890000000070008000000000000002', '', 'da39a3ee5e6b4b0d3255bfef95601890afd80709', 'event', 1, 'e2', 'sms', 'p', 0, 1, 'claimed', 'send', 1, 1, 1),
(x'01890000000070008000000000000003', '', 'DA39A3EE5E6B4B0D3255BFEF95601890AFD80709', 'given', 0, 'e3', 'sms', 'p', 0, 1, 'claimed', 'send', 1, 1, 1);
INSERT INTO contents SELECT seq, '+14155550142', '+14155550142', '{"text":"x"}', NULL, zeroblob(16) FROM notifications WHERE seq > 1;`

// receiptsOnce are a report about it, and one about a message that nobody knows.
const receiptsOnce = `
INSERT INTO receipts (provider, event_key, fact_key, notification, number, message_id, kind, arrived_at) VALUES
('p', 'r1', 'r1', 1, 1, 'm1', 'delivered', 4), ('p', 'r2', 'r2', NULL, NULL, 'm9', 'delivered', 4);`

// F38: a ledger of each earlier version is led to the very schema of today, with its rows.
func TestMigrate_F38_FromEachVersion(t *testing.T) {
	for version := 1; version < schemaVersion; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) { migrateFrom(t, version) })
	}
}

func migrateFrom(t *testing.T, first int) {
	today := created(t)
	old := options(t)
	text, err := os.ReadFile(fmt.Sprintf("../testdata/schemas/%d.sql", first))
	if err != nil {
		t.Fatal(err)
	}
	old.Schema, old.hooks.version = string(text), first
	if err := Create(old); err != nil {
		t.Fatal(err)
	}
	rows := sentOnce + keysOnce + receiptsOnce
	if first == 1 { // later an attempt's first id stands only there
		rows += "INSERT INTO message_ids VALUES ('m1', 'p', 1, 1);"
	}
	if first >= 3 { // it counts them
		rows += "UPDATE counts SET receipts = 2, unmatched = 1;"
	}
	if _, err := visit(t, old).Exec(rows); err != nil {
		t.Fatal(err)
	}
	old.Schema, old.hooks.version = today.Schema, 0
	served(t, old, func(s *Store) {
		if s.Condition().Restored {
			t.Error("a migration looks like an old copy")
		}
		for _, id := range []string{"m1", "m2"} {
			page, err := s.List(t.Context(), ledger.Filter{MessageID: id, Limit: 10})
			if err != nil || len(page.Rows) != 1 {
				t.Fatalf("%d rows under %s (%v)", len(page.Rows), id, err)
			}
			want := []ledger.MessageID{{ID: "m1", Provider: "p", Seq: 1, Number: 1}, {ID: "m2", Provider: "p", Seq: 1, Number: 1}}
			if ids := record(t, s, page.Rows[0].ID).MessageIDs; !slices.Equal(ids, want) {
				t.Errorf("message ids %v, want %v", ids, want)
			}
		}
		for i, key := range []string{"k1", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"} {
			again := claimOf(10 + i)
			again.Source, again.DedupeKey = "", key
			rows, err := s.Claim([]ledger.Claim{again})
			if err != nil || !rows[0].Duplicate || rows[0].Seq != int64(i+1) || rows[0].DedupeKey != key {
				t.Errorf("key %s was freed: %+v (%v)", key, rows, err)
			}
		}
		n := taken(t, s, claimed(t, s, claimOf(2))[0])
		closed(t, s, n, ledger.Accepted, toSent, "m3")
		if st, err := s.Stats(t.Context()); err != nil || st.Receipts != 2 || st.Unmatched != 1 {
			t.Errorf("%d receipts, %d of them unmatched (%v)", st.Receipts, st.Unmatched, err)
		}
	})
	version, schema := plainSchema(t, visit(t, old))
	wantVersion, want := plainSchema(t, visit(t, today))
	if version != wantVersion || !slices.Equal(schema, want) {
		t.Errorf("version %d is not version %d:\n%s\n---\n%s", version, wantVersion, strings.Join(schema, "\n"), strings.Join(want, "\n"))
	}
}

var (
	commentOrBlanks = regexp.MustCompile(`--[^\n]*|\s+`)
	roundMarks      = regexp.MustCompile(` ?([(),]) ?`)
)

// plainSchema is the schema without comments and line ends.
func plainSchema(t *testing.T, db *sql.DB) (int, []string) {
	version, schema := versionOf(t, db)
	list := strings.Split(schema, ";\n")
	for i, s := range list {
		list[i] = strings.TrimSpace(commentOrBlanks.ReplaceAllString(s, " "))
		list[i] = roundMarks.ReplaceAllString(strings.Join(strings.Fields(list[i]), " "), "$1")
	}
	return version, list
}

// Keeps out F38: an older program that starts on a newer schema and writes.
func TestOpen_LeavesANewerLedgerUntouched(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	claimed(t, s, claimOf(1))
	mustExec(t, visit(t, o), fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1)) // stands in the log only
	killed := options(t)
	copyLedger(t, o, killed, "", "-wal", ".lock")
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{"closed": o, "killed": killed} {
		before := sums(t, o)
		if name == "killed" && len(before) != 3 {
			t.Fatalf("%d files to compare", len(before))
		}
		_, err := Open(o)
		wantErr(t, err, ErrNewer)
		_, err = OpenReadOnly(o)
		wantErr(t, err, ErrNewer)
		wantErr(t, AcceptRestored(o), ErrNewer)
		for suffix, sum := range sums(t, o) {
			if sum != before[suffix] {
				t.Errorf("%s: the file %q was changed", name, suffix)
			}
		}
	}
}

// To look only is not to migrate: whoever looks at a ledger of before is told what to do, and nothing of it is changed.
func TestOpenReadOnly_TellsWhatAnOlderLedgerNeeds(t *testing.T) {
	o := options(t)
	text, err := os.ReadFile(fmt.Sprintf("../testdata/schemas/%d.sql", schemaVersion-1))
	if err != nil {
		t.Fatal(err)
	}
	o.Schema, o.hooks.version = string(text), schemaVersion-1
	if err := Create(o); err != nil {
		t.Fatal(err)
	}
	o.hooks.version = 0
	before := sums(t, o)
	_, err = OpenReadOnly(o)
	wantErr(t, err, ErrOlder)
	for suffix, sum := range sums(t, o) {
		if sum != before[suffix] {
			t.Errorf("the file %q was changed", suffix)
		}
	}
}
