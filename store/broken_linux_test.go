package store

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"

	"sendonce/ledger"
)

// broken makes every descriptor that this process has on a file unreadable and unwritable, as a disk that is gone, until heal
// is called. SQLite's locks stay: they belong to the descriptions that are kept meanwhile.
func broken(path string) (heal func()) {
	links, err := os.ReadDir("/proc/self/fd")
	must(err)
	nowhere, err := unix.Open("/dev/full", unix.O_WRONLY|unix.O_CLOEXEC, 0) // a read says EBADF, a write ENOSPC
	must(err)
	saved := map[int]int{}
	for _, l := range links {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", l.Name()))
		if err != nil || target != path {
			continue
		}
		fd, err := strconv.Atoi(l.Name())
		must(err)
		saved[fd], err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		must(err)
		must(unix.Dup3(nowhere, fd, unix.O_CLOEXEC))
	}
	must(unix.Close(nowhere))
	if len(saved) == 0 {
		panic("nobody has " + path + " open")
	}
	return func() {
		for fd, old := range saved {
			must(unix.Dup3(old, fd, unix.O_CLOEXEC))
			must(unix.Close(old))
		}
		saved = nil
	}
}

func TestGroup_OnlyWhatFailsAloneFails_ReadError(t *testing.T) {
	b := newTenClaims(t)
	b.quietly(t, func(t *tx) error { // so many rows that a claim needs pages which nobody has read yet
		for i := range 4000 {
			c := claimOf(100_000 + i)
			if _, err := t.claim(&c, nil); err != nil {
				return err
			}
		}
		return nil
	})
	b.poison = func(t *tx, op *operation) {
		_, err := t.exec("PRAGMA shrink_memory")
		must(err)
		do := op.do
		op.do = func(t *tx) error { // the disk is gone for as long as this operation lasts
			heal := broken(b.o.Path)
			defer heal()
			op.do = do
			return do(t)
		}
	}
	for place := range 10 {
		if busy, err := b.s.writer.checkpoint(); busy || err != nil { // reads go to the database file from then on
			t.Fatal(busy, err)
		}
		claims := make([]ledger.Claim, 10)
		for i := range claims {
			claims[i] = claimOf(100*place + i)
		}
		b.check(t, place, claims, b.group(t, place, claims), sqlite3.SQLITE_IOERR)
	}
}

// A commit that really fails, since the log can't be written, and a barrier that fails with it until the disk is back.
func TestCommit_RealFailure(t *testing.T) {
	o := created(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(o)
		must(err)
		first := claimed(t, s, claimOf(1))[0]
		heal := broken(o.Path + "-wal")
		_, err = s.Claim([]ledger.Claim{claimOf(2)})
		wantErr(t, err, ledger.ErrUnknown)
		wantErr(t, s.Condition().Err, ledger.ErrUnknown)
		wantErr(t, s.Take(takingOf(first)), ledger.ErrUnknown)
		time.Sleep(10 * time.Second) // ten more barriers
		wantErr(t, s.Condition().Err, ledger.ErrUnknown)
		heal()
		time.Sleep(2 * time.Second)
		if c := s.Condition(); c.Err != nil || c.Barriers != 1 {
			t.Fatalf("%+v", c)
		}
		if _, found, err := s.Prior(t.Context(), claimOf(2)); found || err != nil {
			t.Fatal(found, err)
		}
		taken(t, s, first)
		claimed(t, s, claimOf(2))
		must(s.Shutdown())
	})
	s := opened(t, o)
	st, err := s.Stats(context.Background())
	if err != nil || st.Notifications != 2 {
		t.Fatalf("%d rows, %v", st.Notifications, err)
	}
}
