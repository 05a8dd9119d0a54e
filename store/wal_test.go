package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

func logBytes(t *testing.T, o Options) int64 {
	t.Helper()
	info, err := os.Stat(o.Path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// grown lets the log grow beyond its limit, under a reader that does not end.
func grown(t *testing.T, o Options, s *Store) (reader *sql.Rows) {
	t.Helper()
	rows, err := s.reads.QueryContext(context.Background(), "SELECT seq FROM notifications")
	if err != nil || !rows.Next() {
		t.Fatal("no row to read", err)
	}
	big := `"` + string(make([]byte, 700<<10)) + `"`
	for i := range 100 {
		c := claimOf(10 + i)
		c.Message = []byte(big)
		claimed(t, s, c)
	}
	if size := logBytes(t, o); size <= maxLogBytes {
		t.Fatalf("the log has %d bytes only", size)
	}
	return rows
}

// Under load the log is folded into the database beside the writer, and stays short.
func TestWAL_StaysShortUnderLoad(t *testing.T) {
	o := created(t)
	o.hooks.foldPages = 100
	s := opened(t, o)
	together(64, 3000, func(i int) {
		if _, err := s.Claim([]ledger.Claim{claimOf(i * 7919)}); err != nil {
			t.Error(err)
		}
	})
	// What one group writes, and one more between two tries, come on top.
	if pages, most := logBytes(t, o)/pageBytes, (foldLate+1)*o.hooks.foldPages+600; pages > most {
		t.Errorf("%d pages in the log, at most %d were expected", pages, most)
	}
	if info, err := os.Stat(o.Path); err != nil || info.Size() < 1<<20 {
		t.Error("the database did not get what the log had", err)
	}
}

// Keeps out F18: a log that grows without end because of one slow reader.
func TestWAL_ShrinksAfterASlowReader(t *testing.T) {
	for name, goOn := range map[string]func(s *Store){
		"with the next writes": func(s *Store) {
			for i := range 2 {
				claimed(t, s, claimOf(1000+i))
				time.Sleep(tidyEvery)
			}
		},
		"without a write": func(*Store) { time.Sleep(3 * tidyEvery) },
	} {
		t.Run(name, func(t *testing.T) {
			o := created(t)
			synctest.Test(t, func(t *testing.T) {
				s, err := Open(o)
				must(err)
				claimed(t, s, claimOf(1))
				rows := grown(t, o, s)
				time.Sleep(2 * tidyEvery) // it is tried while the reader is there, and is no error
				claimed(t, s, claimOf(2))
				must(rows.Close())
				goOn(s)
				if size := logBytes(t, o); size > maxLogBytes {
					t.Errorf("the log still has %d bytes", size)
				}
				must(s.Shutdown())
				if _, err := os.Stat(o.Path + "-wal"); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("a log is left after the end: %v", err)
				}
			})
		})
	}
}

// A reader that breaks off, or an audit that stops half way, leaves no connection and no transaction behind.
func TestReaders_BrokenOffLeaveNothingOpen(t *testing.T) {
	s := opened(t, created(t))
	claims := make([]ledger.Claim, 20)
	for i := range claims {
		claims[i] = claimOf(i)
	}
	claimed(t, s, claims...)
	enough := errors.New("enough")
	for i := range 100 {
		visited := 0
		err := s.Audit(context.Background(), func(ledger.Record) error {
			if visited++; visited > i%20 {
				return enough
			}
			return nil
		})
		if err != enough {
			t.Fatal(err)
		}
	}
	if st := s.reads.Stats(); st.InUse != 0 || st.OpenConnections > readers {
		t.Fatalf("%+v", st)
	}
}

// Keeps out F19: a query under a context that ended gives an empty answer, which reads as "no claim yet".
func TestReads_ACancelledContextIsAnError(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		n := claimed(t, s, claimOf(1))[0]
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for name, read := range map[string]func() error{
			"prior": func() error { _, _, err := s.Prior(ctx, claimOf(1)); return err },
			"get":   func() error { _, err := s.Get(ctx, n.ID); return err },
			"list":  func() error { _, err := s.List(ctx, ledger.Filter{Limit: 1}); return err },
			"due": func() error {
				_, err := s.Due(ctx, ledger.DueQuery{Provider: n.Provider, Lane: n.Lane, At: at0, Limit: 1})
				return err
			},
			"nextDue":     func() error { _, err := s.NextDue(ctx, n.Provider, at0); return err },
			"providers":   func() error { _, err := s.Providers(ctx); return err },
			"waiting":     func() error { _, err := s.Waiting(ctx, at0, 1); return err },
			"nextWaiting": func() error { _, err := s.NextWaiting(ctx, at0); return err },
			"first":       func() error { _, err := s.FirstAttempt(ctx, n.Seq, [8]byte{}); return err },
			"newest":      func() error { _, err := s.Newest(ctx); return err },
			"pauses":      func() error { _, err := s.Pauses(ctx); return err },
			"stats":       func() error { _, err := s.Stats(ctx); return err },
			"audit":       func() error { return s.Audit(ctx, func(ledger.Record) error { return nil }) },
		} {
			if err := read(); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// The same while rows are being read: what was cut short is no answer.
func TestCollect_ACutShortReadIsAnError(t *testing.T) {
	s := opened(t, created(t))
	const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
	for name, query := range map[string]string{
		"an error in the third row":     numbers + "abs(CASE i WHEN 3 THEN -9223372036854775808 ELSE i END) FROM n LIMIT 5",
		"a context that ends meanwhile": numbers + "i FROM n", // without end
	} {
		ctx, cancel := context.WithCancel(context.Background())
		rows, err := s.reads.QueryContext(ctx, query)
		list, err := collect(rows, err, func(n *int64) []any {
			if !strings.Contains(query, "abs") {
				cancel()
			}
			return []any{toInt[int64]{n}}
		})
		cancel()
		if err == nil || list != nil {
			t.Errorf("%s: %d rows, %v", name, len(list), err)
		}
	}
}

// A page of a list with a filter that no index has looks at a bounded number of rows.
func TestList_LooksAtABoundedNumberOfRows(t *testing.T) {
	for _, scan := range []int64{1, 3, 7, 24} {
		o := created(t)
		o.hooks.maxScan = scan
		s := opened(t, o)
		manyRows(t, s)
		shop := "shop"
		for _, f := range []ledger.Filter{{UserID: "u_17"}, {States: []ledger.State{ledger.StateSent}}, {Source: &shop, States: []ledger.State{ledger.StateFailed}}, {Recipient: "ada@example.test", Channel: ledger.Email}} {
			for _, oldest := range []bool{true, false} {
				f.Limit, f.Oldest, f.Cursor = 5, oldest, 0
				paged := events(allPages(t, s, f))
				whole := f
				whole.Limit = ledger.MaxList
				s.maxScan = ledger.MaxScan
				p, err := s.List(context.Background(), whole)
				s.maxScan = scan
				if err != nil || len(paged) == 0 || !slices.Equal(paged, events(p.Rows)) {
					t.Errorf("scan %d, %+v: %v, want %v (%v)", scan, f, paged, events(p.Rows), err)
				}
				first, err := s.List(context.Background(), f)
				if err != nil || int64(len(first.Rows)) > scan {
					t.Errorf("scan %d: %d rows in a page (%v)", scan, len(first.Rows), err)
				}
			}
		}
	}
}
