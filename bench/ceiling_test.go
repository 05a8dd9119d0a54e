//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite/sqlitex"
)

// The ceiling must cost what a claim costs: our rows in our schema, each group durable.
func TestBareWriter_WritesDurableClaims(t *testing.T) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	w, err := newBareWriter(filepath.Join(t.TempDir(), "bare.db"), string(schema))
	if err != nil {
		t.Fatal(err)
	}
	defer w.conn.Close()
	for range 3 {
		if err := w.group(7); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		"PRAGMA journal_mode": "wal", "PRAGMA synchronous": "2", "PRAGMA foreign_keys": "1",
		"SELECT count(*) FROM notifications WHERE state = 'claimed'": "21", "SELECT count(*) FROM contents": "21",
		"SELECT count(DISTINCT dedupe_key) FROM notifications": "21",
	} {
		if got, err := sqlitex.ResultText(w.conn.Prep(query)); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
	}
}
