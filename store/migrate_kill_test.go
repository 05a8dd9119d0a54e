package store

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	migrateEnv = "SENDONCE_TEST_MIGRATE"
	// It changes much, so that the log has it before its commit, and then does not end.
	endless = `CREATE TABLE half (a INTEGER, b TEXT) STRICT;
INSERT INTO half WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000) SELECT i, hex(zeroblob(1000)) FROM n;
INSERT INTO half WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, '' FROM n WHERE i < 0;`
)

// F38: a process that is killed while it migrates leaves the old schema whole, and the next start goes on by itself.
func TestMigrate_F38_KilledInTheMiddle(t *testing.T) {
	if path := os.Getenv(migrateEnv); path != "" { // the process that is killed
		_, err := Open(withMigrations(Options{Path: path}, endless))
		t.Fatalf("the migration ended: %v", err)
	}
	o := created(t)
	served(t, o, func(s *Store) { sentRow(t, s, 1, "SM1") })
	db := visit(t, o)
	_, before := versionOf(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestMigrate_F38_KilledInTheMiddle$")
	child.Env = append(os.Environ(), migrateEnv+"="+o.Path)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	defer kill()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if info, err := os.Stat(o.Path + "-wal"); err == nil && info.Size() > 1<<20 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the log has nothing of the migration after a minute")
		}
	}
	if _, err := Open(o); !errors.Is(err, ErrLocked) { // another start beside the one that migrates
		t.Errorf("a second start meanwhile: %v", err)
	}
	kill()
	if version, after := versionOf(t, visit(t, o)); version != schemaVersion || after != before {
		t.Fatalf("version %d, another schema: %v", version, after != before)
	}
	served(t, withMigrations(o, "CREATE TABLE half (a INTEGER) STRICT;"), func(s *Store) {
		if r := record(t, s, priorOf(t, s, claimOf(1)).ID); len(r.Attempts) != 1 || len(r.MessageIDs) != 1 {
			t.Errorf("%d attempts", len(r.Attempts))
		}
		claimed(t, s, claimOf(2))
	})
	if version, after := versionOf(t, visit(t, o)); version != schemaVersion+1 || !strings.Contains(after, "CREATE TABLE half (a INTEGER) STRICT") {
		t.Errorf("version %d", version)
	}
}

// F38: of two starts at once one migrates, and the other does not start.
func TestMigrate_F38_TwoAtOnce(t *testing.T) {
	o := created(t)
	served(t, o, func(s *Store) { sentRow(t, s, 1, "SM1") })
	newer := withMigrations(o, `CREATE TABLE once (i INTEGER) STRICT;
INSERT INTO once WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000) SELECT i FROM n;`)
	var mu sync.Mutex
	var first *Store
	refused := 0
	together(8, 8, func(int) {
		s, err := Open(newer)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil && first == nil:
			first = s
		case errors.Is(err, ErrLocked):
			refused++
		default:
			t.Errorf("a second start: %v", err)
		}
	})
	if first == nil || refused != 7 {
		t.Fatalf("%d of 8 were refused", refused)
	}
	var rows int
	if err := visit(t, o).QueryRow("SELECT count(*) FROM once").Scan(&rows); err != nil || rows != 10000 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if err := first.Shutdown(); err != nil {
		t.Fatal(err)
	}
}
