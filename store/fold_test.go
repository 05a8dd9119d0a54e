package store

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// heldFolder keeps the folder at its next page until release is called.
func heldFolder(t *testing.T, s *Store) (reached <-chan struct{}, release func()) {
	methods := at[sqlite3.Tsqlite3_io_methods](s.folds.file.own)
	below := methods.FxWrite
	in, out := make(chan struct{}, 1), make(chan struct{})
	write := func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
		select {
		case in <- struct{}{}:
		default:
		}
		<-out
		return callable[moveMethod](below)(tls, file, data, n, offset)
	}
	methods.FxWrite = pointer[moveMethod](write)
	t.Cleanup(func() { runtime.KeepAlive(write) }) // C memory keeps no function alive
	return in, func() { close(out) }
}

// Keeps out a reader of minutes whose end stops the writer for as long as the folding of all that came meanwhile takes: the writer goes on
// until the log has doubled, and waits then, so that the log is bounded.
func TestFold_WhatAReaderLetGrowIsFoldedBesideTheWriter(t *testing.T) {
	o := created(t)
	o.hooks.foldPages = 40
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(o)
		must(err)
		long := func(i int) {
			c := claimOf(i)
			c.Message = []byte(`"` + strings.Repeat("m", 100_000) + `"`)
			claimed(t, s, c)
		}
		long(0)
		rows, err := s.reads.QueryContext(context.Background(), "SELECT seq FROM notifications")
		if err != nil || !rows.Next() {
			t.Fatal("no row to read", err)
		}
		for i := range 40 {
			long(1 + i)
		}
		grown := s.writes.log.pages()
		if grown < 2*foldLate*o.hooks.foldPages {
			t.Fatalf("the log has %d pages only", grown)
		}
		reached, release := heldFolder(t, s)
		must(rows.Close())
		i := 50
		for ; len(reached) == 0; i++ { // until the folder is asked again
			claimed(t, s, claimOf(i))
			synctest.Wait()
			if i > 5000 {
				t.Fatal("the folder is not asked")
			}
		}
		asked := s.writes.log.pages()
		for ; s.writes.log.pages() < asked*3/2; i++ {
			long(i)
		}
		stopped := make(chan struct{})
		go func() { // three times as much would come
			defer close(stopped)
			for n := range 2 * asked / 25 {
				long(i + int(n))
			}
		}()
		synctest.Wait()
		if pages := s.writes.log.pages(); pages > 2*asked+200 {
			t.Errorf("%d pages in the log that had %d when its folding began", pages, asked)
		}
		select {
		case <-stopped:
			t.Error("the writer waits for nobody: the log has no bound")
		default:
		}
		release()
		<-stopped
		must(s.Shutdown())
	})
}

// Keeps out a folding that another program prevented and that counts as whole: the writer would do all of it then.
func TestFold_AnotherProgramThatFoldsIsInTheWay(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	claimed(t, s, claimOf(1))
	reached, release := heldFolder(t, s)
	ended := make(chan error, 1)
	go func() {
		_, _, err := s.folds.fold()
		ended <- err
	}()
	<-reached
	other, err := openConnection(o.Path)
	must(err)
	f := newFolder(other, s.writes.log.pages).fold()
	release()
	must(<-ended)
	must(other.close())
	if f.whole || f.err != nil {
		t.Errorf("whole: %v, %v", f.whole, f.err)
	}
	if f := newFolder(s.folds, s.writes.log.pages).fold(); !f.whole || f.err != nil {
		t.Errorf("once it is gone: whole: %v, %v", f.whole, f.err)
	}
	must(s.Shutdown())
}
