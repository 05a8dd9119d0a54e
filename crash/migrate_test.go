package crash

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

const (
	newest      = 4      // version of the schema
	migrateFew  = 4000   // rows; many where more than the usual cycles are asked for
	migrateMany = 100000 // rows
	migrateCuts = 6      // kills of one migration, and as many times more as there are more cycles
)

// sentSQL fills a ledger of an earlier version with rows that were sent.
const sentSQL = `BEGIN;
DROP TRIGGER notifications_born;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $ROWS)
INSERT INTO notifications (seq, id, source, dedupe_key, recipe, source_in_key, event_id, channel, provider, pinned, lane, state,
 attempt_count, message_id, version, claimed_at, confirmed_at, updated_at)
SELECT i, CAST(printf('%016d', i) AS BLOB), '', lower(hex(randomblob(20))), 'given', 0, 'evt_' || i, 'sms', 'sms_main', 0, 1, 'sent',
 1, 'SM' || i, 3, 1000, 1000, 1000 FROM n;
INSERT INTO contents SELECT seq, '+14155550142', '+14155550142', '{"text":"' || hex(randomblob(95)) || '"}', NULL, randomblob(16) FROM notifications;
INSERT INTO attempts (notification, number, kind, provider, account, request_hash, started_at, ended_at, outcome, phase, status, message_id)
SELECT seq, 1, 'send', provider, randomblob(8), randomblob(16), 1000, 1000, 'accepted', 'answered', 200, message_id FROM notifications;
UPDATE counts SET sent = $ROWS, newest_at = 1000;
$BORN;
COMMIT;`

// sqlite runs statements in the shell and returns what it prints.
func sqlite(t *testing.T, database, sql string) string {
	t.Helper()
	cmd := exec.Command("sqlite3", "-batch", "-bail", database)
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// age puts a ledger of an earlier version in the place of the new one.
func (p *place) age(version, rows int) {
	p.t.Helper()
	self := sqlite(p.t, p.database, "SELECT quote(ledger_id) FROM ledger;")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(p.database + suffix)
	}
	schema, err := os.ReadFile(fmt.Sprintf("../testdata/schemas/%d.sql", version))
	if err != nil {
		p.t.Fatal(err)
	}
	sqlite(p.t, p.database, "PRAGMA journal_mode = WAL;\n"+string(schema)) // as the service left it
	trigger := sqlite(p.t, p.database, "SELECT sql FROM sqlite_schema WHERE name = 'notifications_born';")
	fill := sentSQL
	if version == 1 { // later an attempt's first id stands only there
		fill = strings.Replace(fill, "$BORN", "INSERT INTO message_ids SELECT message_id, provider, seq, 1 FROM notifications;\n$BORN", 1)
	}
	sqlite(p.t, p.database, "INSERT INTO ledger (one, ledger_id, generation, created_at) VALUES (1, "+self+", 0, 1000);\n"+
		strings.NewReplacer("$ROWS", fmt.Sprint(rows), "$BORN", trigger).Replace(fill))
	if err := os.Chmod(p.database, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// keys is which version a ledger has, and what its keys come to.
func (p *place) keys() (version int, sum string) {
	p.t.Helper()
	text := sqlite(p.t, p.database, "PRAGMA user_version; PRAGMA integrity_check(1); "+
		"SELECT seq, id, CASE typeof(dedupe_key) WHEN 'blob' THEN lower(hex(dedupe_key)) ELSE dedupe_key END, state FROM notifications ORDER BY seq;")
	head, rows, _ := strings.Cut(text, "\nok\n")
	if _, err := fmt.Sscan(head, &version); err != nil {
		p.t.Fatalf("%.200s", text)
	}
	return version, fmt.Sprintf("%x", sha256.Sum256([]byte(rows)))
}

// F38: a real service that is killed anywhere in its migration of many rows, while the log gets them and while the database does, leaves
// the ledger wholly old or wholly new, and the next start goes on by itself.
func TestMigrate_F38_KilledAnywhere(t *testing.T) {
	needs(t, "sqlite3")
	t.Parallel()
	rows, cuts := migrateFew, migrateCuts
	if *cycles > 20 {
		rows, cuts = migrateMany, migrateCuts**cycles/20
	}
	for version := 1; version < newest; version++ {
		t.Run(fmt.Sprint("from ", version), func(t *testing.T) { migrateKilled(t, version, rows, cuts) })
	}
}

func migrateKilled(t *testing.T, from, rows, cuts int) {
	p := newPlace(t, fake.Options{WellBehaved: true})
	p.age(from, rows)
	_, want := p.keys()
	old := t.TempDir()
	p.copyFiles(p.dir, old)
	lock, err := os.ReadFile(p.database + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	again := func() {
		p.copyFiles(old, p.dir)
		if err := os.WriteFile(p.database+".lock", lock, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole := p.watchMigration(func(int64) bool { return false }) // one that nobody disturbs
	steps := newest - from + 1
	hits := map[int]int{}
	for i := range cuts {
		again()
		before, err := os.Stat(p.database)
		if err != nil {
			t.Fatal(err)
		}
		var left []int // versions that may be there afterwards
		switch i % 3 {
		case 0: // before the commit, or behind a step
			s, _ := p.launch(nil, "CRASH_AT=migrating", fmt.Sprint("CRASH_AFTER=", steps-i/3%steps))
			s.killed()
			left = []int{from}
		case 1: // at some length of the log, which gets what the memory can't hold, and the rest with the commit
			at := whole * int64(i) / int64(cuts)
			p.watchMigration(func(logged int64) bool { return logged >= at })
			left = []int{from, newest}
		default: // the log is whole, and goes to the database
			p.watchMigration(func(int64) bool {
				now, err := os.Stat(p.database)
				return err == nil && now.ModTime() != before.ModTime()
			})
			left = []int{newest}
		}
		version, sum := p.keys()
		if sum != want || !slices.Contains(left, version) {
			t.Fatalf("after kill %d of %d the ledger has version %d, its keys are the same: %v", i+1, cuts, version, sum == want)
		}
		hits[version]++
	}
	t.Logf("%d rows, %d bytes of log, kills by the version that they left: %v", rows, whole, hits)
	s := p.start()
	if s.log.has("restore --accept") {
		t.Error("the migrated ledger is taken for an old copy")
	}
	s.stop(patience)
	if version, sum := p.keys(); version != newest || sum != want {
		t.Errorf("version %d after the last start, its keys are the same: %v", version, sum == want)
	}
	if _, out := p.run("check"); strings.Count(out, "content_hash ") != rows || !strings.Contains(out, fmt.Sprintf("%d differences in %[1]d rows", rows)) {
		t.Errorf("check finds more than that the hashes of messages are random here: %.2000s", out)
	}
}

// watchMigration starts the service and kills it once enough says so of the bytes in its log, or once it serves. It returns the most that
// was seen in the log.
func (p *place) watchMigration(enough func(logged int64) bool) (most int64) {
	p.t.Helper()
	s, served := p.launch(nil)
	defer s.kill()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); ; {
		select {
		case <-served:
			return most
		case <-s.ended:
			p.t.Fatalf("the service ended by itself: %s", s.log)
		case <-end:
			p.t.Fatal("the migration does not end")
		case <-tick.C:
		}
		if info, err := os.Stat(p.database + "-wal"); err == nil {
			most = max(most, info.Size())
		}
		if enough(most) {
			return most
		}
	}
}
