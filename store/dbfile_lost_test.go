package store

import (
	"os"
	"strings"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

func failedSync(*libc.TLS, uintptr, int32) int32 { return sqlite3.SQLITE_IOERR_FSYNC }

// Keeps out two ways in which pages that a failed sync lost come back as they were before, a key as new: readers find them in the database
// since they count as folded, and a shell that outlives the service folds only what came behind them and takes the log away.
func TestLost_PagesOfAFailedSyncAreReadFromTheLog(t *testing.T) {
	o := created(t)
	o.hooks.foldPages = 1 << 20 // the test folds
	s := opened(t, o)
	old, err := os.ReadFile(o.Path)
	must(err)
	lose := func() { // what the disk has, once the system dropped the pages from memory
		f, err := os.OpenFile(o.Path, os.O_WRONLY|os.O_TRUNC, 0)
		must(err)
		_, err = f.Write(old)
		must(err)
		must(f.Close())
	}
	all := func(s *Store) {
		t.Helper()
		for i := range 40 {
			priorOf(t, s, claimOf(i))
		}
	}
	for i := range 20 {
		c := claimOf(i)
		c.Message = []byte(`"` + strings.Repeat("m", 20_000) + `"`) // on pages that no later claim writes
		claimed(t, s, c)
	}
	reader, err := s.reads.QueryContext(t.Context(), "SELECT seq FROM notifications")
	if err != nil || !reader.Next() {
		t.Fatal("no row to read", err)
	}
	for i := range 20 {
		claimed(t, s, claimOf(20+i))
	}
	if inLog, folded, err := s.folds.fold(); err != nil || folded == 0 || folded >= inLog { // without a sync
		t.Fatalf("%d of %d pages are folded: %v", folded, inLog, err)
	}
	must(reader.Close())
	s.folds.file.below.FxSync = pointer[syncMethod](failedSync)
	if _, _, err := s.folds.fold(); err == nil {
		t.Fatal("no sync failed: the test proves nothing")
	}

	lose()
	look, err := OpenReadOnly(o)
	must(err)
	all(look)
	must(look.Shutdown())
	shell := visit(t, o)
	var rows int
	if err := shell.QueryRow("SELECT count(*) FROM notifications").Scan(&rows); err != nil || rows != 40 {
		t.Fatalf("%d rows: %v", rows, err)
	}
	if err := s.Shutdown(); err != nil { // it may tell of the sync
		t.Log(err)
	}
	lose()
	must(shell.Close())
	all(opened(t, o))
}
