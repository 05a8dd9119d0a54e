package store

import (
	"errors"
	"testing"

	"sendonce/ledger"
)

const shellRows = 6000 // reach beyond the place of what was gathered

// spill writes more in an open transaction than the writer's cache holds, until something of it is gathered.
func spill(c *connection) error {
	for i := 0; c.log.filled == 0 || i < 2*writerCache/pageBytes; i++ {
		if err := c.exec(`INSERT INTO settlements (notification, at, action, from_state, to_state, actor, reason)
 VALUES (1, 1, 'reveal', 'claimed', 'claimed', 'shop', hex(randomblob(1000)))`, nil); err != nil {
			return err
		}
	}
	return nil
}

// Keeps out what a transaction that was rolled back had gathered, and that came into the log when another program's commit stood there:
// pages of one table in another, and for a start after a kill an end of the log in the middle of what was acknowledged.
func TestLog_RolledBackBesideAShellThatWrites(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	first := make([]ledger.Claim, 20)
	for i := range first {
		first[i] = claimOf(i)
	}
	claimed(t, s, first...)
	if busy, err := s.writer.checkpoint(); busy || err != nil { // else the rollback reads from the log, and so hands over what is gathered
		t.Fatal(busy, err)
	}
	enough := errors.New("enough")
	left := int32(0)
	err := s.write(1, func(t *tx) error { // more than the writer's cache holds, so that the log gets a part of it before the end
		must(spill(s.writes))
		left = s.writes.log.filled
		return enough
	})
	if !errors.Is(err, enough) || left == 0 {
		t.Fatalf("%d bytes were gathered: %v", left, err)
	}
	shell := visit(t, o)
	mustExec(t, shell, "PRAGMA wal_autocheckpoint = 0")
	mustExec(t, shell, "CREATE TABLE shells (i INTEGER, x TEXT)")
	mustExec(t, shell, "INSERT INTO shells WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT $1) SELECT i, hex(randomblob(1000)) FROM n", shellRows)
	again := make([]ledger.Claim, 20)
	for i := range again {
		again[i] = claimOf(100 + i)
	}
	claimed(t, s, again...)
	killed := options(t)
	copyLedger(t, o, killed, "", "-wal", ".lock")
	for name, o := range map[string]Options{"here": o, "a copy as a killed process leaves it": killed} {
		look := visit(t, o)
		var found string
		if err := look.QueryRow("PRAGMA integrity_check(1)").Scan(&found); err != nil || found != "ok" {
			t.Errorf("%s: %q, %v", name, found, err)
		}
		var rows, claims int
		if err := look.QueryRow("SELECT (SELECT count(*) FROM shells), (SELECT count(*) FROM notifications)").Scan(&rows, &claims); err != nil || rows != shellRows || claims != 40 {
			t.Errorf("%s: %d rows of the shell, %d claims: %v", name, rows, claims, err)
		}
	}
}

// Keeps out a connection that ends within a transaction and hands over what that had gathered, when its locks are gone already: another
// program may have committed at that place.
func TestLog_WhatIsGatheredAtACloseIsDropped(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	claimed(t, s, claimOf(1))
	if busy, err := s.writer.checkpoint(); busy || err != nil { // as above
		t.Fatal(busy, err)
	}
	c, err := openConnection(o.Path)
	must(err)
	must(c.exec("BEGIN IMMEDIATE", nil))
	must(spill(c))
	size, gathered := logBytes(t, o), c.log.filled
	must(c.close())
	if after := logBytes(t, o); gathered == 0 || after != size {
		t.Errorf("%d bytes were gathered; the log had %d bytes before the close and %d behind it", gathered, size, after)
	}
	claimed(t, s, claimOf(2))
}
