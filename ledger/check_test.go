package ledger_test

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sendonce.db")
	var beside []ledger.Difference
	inLedger(t, path, func(b *checkBench) {
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
		if rows != 31 {
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
			corruptFile(t, bad, c.sql)
			found, _ := differences(t, bad)
			if !slices.ContainsFunc(found, func(d ledger.Difference) bool { return d.Rule == c.rule }) {
				t.Errorf("found %+v, want %s", found, c.rule)
			}
			if len(found) > 3 {
				t.Errorf("one fault, %d differences: %+v", len(found), found)
			}
			for _, d := range found {
				if len(d.Detail) < 15 || strings.Contains(d.Detail, "1415555") || (d.ID == "") != (d.Rule == "without_row") {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}

// Times have milliseconds only: what happened within one is put into an order that makes sense.
func TestCheck_WithinOneMillisecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sendonce.db")
	inLedger(t, path, func(b *checkBench) {
		for i, acts := range [][]ledger.Cause{
			{ledger.CauseRelease, ledger.CauseHold, ledger.CauseUnhold, ledger.CauseHold, ledger.CauseCancel, ledger.CauseConfirm},
			{ledger.CauseRelease, ledger.CauseHold, ledger.CauseUnhold, ledger.CauseCancel},
			{ledger.CauseAbandon, ledger.CauseRelease, ledger.CauseHold, ledger.CauseUnhold},
			{ledger.CauseAbandon, ledger.CauseConfirm},
			{ledger.CauseConfirm},
		} {
			script := "ambiguous,deferred,ambiguous,accepted"
			r, err := b.l.Claim(b.t.Context(), ledger.Event{EventID: strconv.Itoa(i), Channel: ledger.SMS, Recipient: "+14155550142", Message: []byte(`{"text":"` + script + `"}`)})
			if err != nil {
				b.t.Fatal(err)
			}
			began := time.Now()
			for _, a := range acts {
				synctest.Wait()
				n := b.row(r.Notification)
				if _, ok := ledger.Next(n.State, a, n.MaybeSent); !ok {
					continue
				}
				if _, err := b.l.Settle(b.t.Context(), ledger.Act{Action: a, ID: n.ID, Reason: "a test", Actor: "ops", IfMatch: n.Version}); err != nil {
					b.t.Errorf("%s in %s: %v", a, n.State, err)
				}
			}
			synctest.Wait()
			if time.Since(began) >= time.Millisecond {
				b.t.Error("time went by")
			}
			if n := b.row(r.Notification); n.Version < 3 || i < 3 && n.Version < 8 {
				b.t.Errorf("row %d is %s in version %d: too little happened", i, n.State, n.Version)
			}
		}
	})
	found, _ := differences(t, path)
	for _, d := range found {
		t.Errorf("%+v", d)
	}
}

// What a start closes, after a process that died and in a copy that was restored, follows from the history as well.
func TestCheck_AfterRecovery(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sendonce.db")
	inLedger(t, path, func(b *checkBench) {
		everyKind(b)
		keepOpen(b.t, path)
	})
	for name, restored := range map[string]bool{"a process that died": false, "a restored copy": true} {
		t.Run(name, func(t *testing.T) {
			found := copyFile(t, path+".open")
			if !restored {
				copyTo(t, path+".open.lock", found+".lock")
			}
			s, err := store.Open(store.Options{Path: found, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			if s.Condition().Restored != restored {
				t.Errorf("restored: %v", s.Condition().Restored)
			}
			moved, err := ledger.New(s, nil, ledger.Settings{}, slog.New(slog.DiscardHandler)).Recover(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{false: 1, true: 5}[restored]; moved != want { // the others: claimed, unheld, deferred, held
				t.Errorf("%d rows were moved, want %d", moved, want)
			}
			if err := s.Shutdown(); err != nil {
				t.Fatal(err)
			}
			list, _ := differences(t, found)
			for _, d := range list {
				t.Errorf("%+v", d)
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

// corruptFile changes a ledger past all its rules.
func corruptFile(t *testing.T, path, query string) {
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
	copyTo(t, path+".lock", path+".open.lock") // first: a lock file that is behind is no fault
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
