package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"sendonce/ledger"
)

func TestOpen_EveryConnectionHasItsSettings(t *testing.T) {
	s := opened(t, created(t))
	ctx := context.Background()
	for range readers { // all four at once, so that each is another one
		conn, err := s.reads.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.ExecContext(ctx, "DELETE FROM pauses"); err == nil {
			t.Error("a reader wrote")
		}
	}
	for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "journal_size_limit": "67108864", "busy_timeout": "5000"} {
		if got, err := s.writes.once("PRAGMA " + name); err != nil || got != want {
			t.Errorf("the writer's %s is %q (%v), want %q", name, got, err, want)
		}
	}
	if !sqlite.OFDLockingEnabled() {
		t.Error("no OFD locks on this Linux")
	}
}

func TestConnect_RefusesASettingThatDoesNotHold(t *testing.T) {
	db, err := connect(filepath.Join(t.TempDir(), "x.db"), 1, []pragma{{"synchronous", "full", "3"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Ping(); err == nil || !strings.Contains(err.Error(), "PRAGMA synchronous is 2 where 3 was set") {
		t.Fatalf("got %v", err)
	}
}

func TestOpen_RefusesWhatIsNoLedger(t *testing.T) {
	o := options(t)
	_, err := Open(o)
	wantErr(t, err, ErrNoLedger)
	if files, err := os.ReadDir(filepath.Dir(o.Path)); err != nil || len(files) != 0 {
		t.Fatalf("looking left %d files, %v", len(files), err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "text": bytes.Repeat([]byte("not a database\n"), 500), "another database": otherDatabase(t),
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			if err := os.WriteFile(o.Path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(o)
			wantErr(t, err, ErrForeign)
			if got, err := os.ReadFile(o.Path); err != nil || !bytes.Equal(got, content) {
				t.Fatalf("the file was changed, %v", err)
			}
			wantErr(t, Create(o), ErrExists)
		})
	}
}

func otherDatabase(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "CREATE TABLE t (a)")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func sums(t *testing.T, o Options) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	for _, suffix := range []string{"", "-wal", ".lock"} {
		content, err := os.ReadFile(o.Path + suffix)
		if err == nil && len(content) > 0 {
			out[suffix] = sha256.Sum256(content)
		}
	}
	return out
}

// copyLedger copies a ledger's files as they are, as after a kill.
func copyLedger(t *testing.T, from, to Options, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		content, err := os.ReadFile(from.Path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to.Path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func damage(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for page := int64(8); page < 30; page++ { // pages of tables and indexes, not the schema's
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 64), page*4096); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpen_RefusesADamagedLedger(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	claimed(t, s, claimOf(1))
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
	damage(t, o.Path)
	_, err := Open(o)
	wantErr(t, err, ErrDamaged)
}

// A large ledger is checked beside the service; what is found stays.
func TestOpen_FindsDamageOfALargeLedgerLater(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	n := claimed(t, s, claimOf(1))[0]
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
	db := visit(t, o)
	mustExec(t, db, "PRAGMA foreign_keys = 0") // a message of no row: all else works
	mustExec(t, db, "INSERT INTO contents VALUES (99, 'x', 'x', '{}', NULL, zeroblob(16))")
	o.hooks.fullCheckMax = 1
	s = opened(t, o)
	s.background.Wait()
	wantErr(t, s.Condition().Err, ledger.ErrUnavailable)
	wantErr(t, s.Condition().Err, ErrDamaged)
	_, err := s.Claim([]ledger.Claim{claimOf(2)})
	wantErr(t, err, ErrDamaged)
	wantErr(t, s.Take(takingOf(n)), ErrDamaged)
	if _, err := s.Settle(n.ID, func(n ledger.Notification) (ledger.Change, error) { return toHeld(n), nil }); err != nil {
		t.Fatalf("a decision can still be written: %v", err)
	}
}

func TestOpen_AWholeLargeLedgerIsInOrder(t *testing.T) {
	o := created(t)
	o.hooks.fullCheckMax = 1
	s := opened(t, o)
	claimed(t, s, claimOf(1))
	s.background.Wait()
	if err := s.Condition().Err; err != nil {
		t.Fatal(err)
	}
}

func TestShutdown_RefusesWhatComesLater(t *testing.T) {
	s := opened(t, created(t))
	n := claimed(t, s, claimOf(1))[0]
	var done atomic.Int64
	together(32, 200, func(i int) { // writes that race with the end are done or refused, never lost between
		if i == 100 {
			if err := s.Shutdown(); err != nil {
				t.Error(err)
			}
		}
		rows, err := s.Claim([]ledger.Claim{claimOf(i)})
		if err == nil && !rows[0].Duplicate {
			done.Add(1)
		} else if err != nil {
			wantErr(t, err, ledger.ErrUnavailable)
		}
	})
	wantErr(t, s.Take(takingOf(n)), ledger.ErrUnavailable)
	s = opened(t, Options{Path: s.path, Log: s.log})
	st, err := s.Stats(context.Background())
	if err != nil || st.Notifications != done.Load()+1 {
		t.Fatalf("%d rows, %d were promised, %v", st.Notifications, done.Load()+1, err)
	}
}

func TestOpenReadOnly_LooksBesideTheService(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	n := claimed(t, s, claimOf(1))[0]
	r, err := OpenReadOnly(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := row(t, r, n.ID); got.ID != n.ID {
		t.Fatal("another row")
	}
	_, err = r.Claim([]ledger.Claim{claimOf(2)})
	wantErr(t, err, ledger.ErrUnavailable)
	wantErr(t, r.Take(takingOf(n)), ledger.ErrUnavailable)
	wantErr(t, r.ClearPause("x"), ledger.ErrUnavailable)
	claimed(t, s, claimOf(3))
	if err := r.Shutdown(); err != nil {
		t.Fatal(err)
	}
	claimed(t, s, claimOf(4))
}
