//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	modernc "modernc.org/sqlite"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"sendonce/bench/fill"
)

// ceiling measures what SQLite itself gives on this machine, in this minute: the rows of a claim, inserted in
// groups of c.group under one durable commit, through the same binding into the same schema, and nothing else.
func (b *bench) ceiling(ctx context.Context, c cell) (result, error) {
	res := result{Cell: c.name, System: bare}
	dir, err := os.MkdirTemp(b.dir, "bare")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(dir)
	w, err := newBareWriter(filepath.Join(dir, "bare.db"), b.schema)
	if err != nil {
		return res, err
	}
	defer w.conn.Close()
	var commits latencies
	var from reading
	begin := time.Now().Add(b.warm / 2)
	for end := begin.Add(b.length); time.Now().Before(end) && ctx.Err() == nil; {
		start := time.Now()
		if from.self == 0 && start.After(begin) {
			from, begin, end = reading{self: selfCPU(), machine: machineCPU()}, start, start.Add(b.length)
		}
		if err := w.group(c.group); err != nil {
			return res, err
		}
		if from.self > 0 {
			commits.add(time.Since(start))
		}
	}
	rows, took := float64(len(commits)*c.group), time.Since(begin)
	used := reading{self: selfCPU(), machine: machineCPU()}.minus(from)
	res.Notifications, res.CPU, res.Others = rows/took.Seconds(), 1000*used.self/rows, used.others(took)
	slices.Sort(commits)
	res.Requests, res.PerSecond = int64(len(commits)), res.Notifications/float64(c.group)
	res.P50, res.P99 = commits.percentile(.5), commits.percentile(.99)
	return res, context.Cause(ctx)
}

// bareWriter writes claims into a ledger of its own.
type bareWriter struct {
	conn   *sqlite.Conn
	claims *fill.Claims
}

func newBareWriter(path, schema string) (w *bareWriter, err error) {
	if _, err := modernc.Fdatasync(true); err != nil { // as the service does
		return nil, err
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	w = &bareWriter{conn: conn}
	for _, pragma := range []string{"journal_mode = wal", "synchronous = full", "foreign_keys = 1", "cache_size = -32768"} {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA "+pragma, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	if err := sqlitex.ExecuteScript(conn, schema, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if w.claims, err = fill.NewClaims(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

// group inserts n claims and commits.
func (w *bareWriter) group(n int) (err error) {
	end, err := sqlitex.ImmediateTransaction(w.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	for range n {
		if err := w.claims.Insert(time.Now().UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}
