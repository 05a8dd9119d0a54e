package store

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sendonce/ledger"
)

func lockAt(t *testing.T, path string) *lockFile {
	t.Helper()
	l, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.close() }) // some tests close it themselves
	return l
}

func reopen(t *testing.T, l *lockFile) *lockFile {
	t.Helper()
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	return lockAt(t, l.f.Name())
}

func TestLock_RemembersTheNewestGeneration(t *testing.T) {
	l := lockAt(t, t.TempDir()+"/x.lock")
	if l.known || l.written {
		t.Fatal("a new lock file knows something")
	}
	id := uuid.New()
	for g := int64(1); g <= 5; g++ {
		if err := l.remember(mark{id, g}); err != nil {
			t.Fatal(err)
		}
		older := l.next
		if l = reopen(t, l); !l.known || l.last != (mark{id, g}) || l.next != older {
			t.Fatalf("after %d it knows %+v and would overwrite line %d, not the older %d", g, l.last, l.next, older)
		}
	}
}

// A crash in the middle of a write must not lose the ledger: one line is whole at any time.
func TestLock_ATornLineLeavesTheOtherOne(t *testing.T) {
	path := t.TempDir() + "/x.lock"
	l := lockAt(t, path)
	id := uuid.New()
	for g := int64(7); g <= 8; g++ {
		if err := l.remember(mark{id, g}); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.remember(mark{id, 9}); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut <= len(written); cut += 7 { // as much of the write as reached the disk
		torn := append(bytes.Clone(written[:cut]), whole[cut:]...)
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		l := lockAt(t, path)
		if !l.known || l.last.id != id || l.last.generation < 8 || l.last.generation > 9 {
			t.Fatalf("cut at %d: %+v", cut, l.last)
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLock_IsTextForPeople(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	content, err := os.ReadFile(o.Path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	var id identity
	if _, err := oneRow(s.reader(t.Context()), identityQuery, nil, id.targets()...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"do not delete", "ledger " + id.id.String() + " generation 1 crc32 "} {
		if !strings.Contains(string(content), want) {
			t.Errorf("%q is not in\n%s", want, content)
		}
	}
}

func TestCreate_MakesALedgerOnce(t *testing.T) {
	o := created(t)
	wantErr(t, Create(o), ErrExists)
	s := opened(t, o)
	if c := s.Condition(); c != (ledger.Condition{}) {
		t.Fatalf("%+v", c)
	}
}

func TestCreate_AfterACrashInTheMiddle(t *testing.T) {
	for name, left := range map[string]func(t *testing.T, o Options){
		"an empty lock file": func(t *testing.T, o Options) { write(t, o.Path+".lock", nil) },
		"half a draft":       func(t *testing.T, o Options) { write(t, o.Path+".new", []byte("SQLite format 3")) },
		"all but the rename": func(t *testing.T, o Options) {
			other := options(t)
			if err := Create(other); err != nil {
				t.Fatal(err)
			}
			copyLedger(t, other, o, ".lock")
			copyLedger(t, other, Options{Path: o.Path + ".new"}, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			left(t, o)
			_, err := Open(o)
			wantErr(t, err, ErrNoLedger)
			if err := Create(o); err != nil {
				t.Fatal(err)
			}
			if opened(t, o).Condition().Restored {
				t.Fatal("a new ledger counts as restored")
			}
		})
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCreate_NeedsTheSchemaThatItKnows(t *testing.T) {
	for name, schema := range map[string]string{"none": "", "another version": "PRAGMA user_version = 9; CREATE TABLE ledger (a)", "broken": "CREATE TABLE"} {
		o := options(t)
		o.Schema = schema
		if err := Create(o); err == nil {
			t.Fatalf("%s: created", name)
		}
		o.Schema = options(t).Schema
		if err := Create(o); err != nil {
			t.Fatalf("%s: a failed try is in the way: %v", name, err)
		}
	}
}

// A lost ledger is never replaced by an empty one: that would be the largest duplicate machine there is.
func TestOpen_ALockFileWithoutItsLedgerIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, o Options){
		"whole": func(*testing.T, Options) {},
		"torn":  func(t *testing.T, o Options) { write(t, o.Path+".lock", bytes.Repeat([]byte("x"), lineSize*lockLines)) },
	} {
		t.Run(name, func(t *testing.T) {
			o := created(t)
			if err := opened(t, o).Shutdown(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(o.Path); err != nil {
				t.Fatal(err)
			}
			spoil(t, o)
			_, err := Open(o)
			wantErr(t, err, ErrMissing)
			wantErr(t, Create(o), ErrMissing)
			if _, err := os.Stat(o.Path); !errors.Is(err, os.ErrNotExist) {
				t.Fatal("a database was made")
			}
		})
	}
}
