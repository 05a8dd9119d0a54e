package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sendonce/cli"
	"sendonce/fake"
	"sendonce/store"
)

// nobodyLooks takes the place of a bar.
func nobodyLooks(int64, int64) {}

// A copy made beside the running service is whole, tells how far it came, takes the place of no file, and sends nothing where it is put.
func TestService_BackupBesideIt(t *testing.T) {
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	for _, event := range []string{"one", "two", "three"} {
		if a := r.do(http.MethodPost, "/v1/notifications", `{"event_id":"`+event+`","channel":"sms","recipient":"+15550100001","message":{"text":"tok_`+event+`"}}`); a.status != http.StatusAccepted {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := backup(context.Background(), p.load(), fromHere(t, to), nobodyLooks); err != nil {
		t.Fatal(err)
	}
	var own *cli.ExitError
	if err := backup(context.Background(), p.load(), to, nobodyLooks); !errors.Is(err, store.ErrExists) || !errors.As(err, &own) || own.Code != cli.ExitLedger || !strings.HasPrefix(err.Error(), to+": ") {
		t.Errorf("over a file: %v", err)
	}
	r.stop()
	c := p.load()
	c.Database = to
	last, all := int64(0), int64(0)
	d, err := check(context.Background(), c, func(n, of int64) { last, all = n, of })
	if err != nil || d.Rows != 3 || len(d.Found) != 0 || last != 3 || all != 3 {
		t.Errorf("check of the copy: %+v, %v, %d of %d", d, err, last, all)
	}
	s, err := store.Open(storeOptions(c, newLog(c.Log)))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Condition().Restored {
		t.Error("the copy passes for the ledger")
	}
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
}

// fromHere is a path as people type it: relative.
func fromHere(t *testing.T, path string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if path, err = filepath.Rel(here, path); err != nil {
		t.Fatal(err)
	}
	return path
}
