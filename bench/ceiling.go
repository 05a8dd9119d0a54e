//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// The two rows of a claim, without what the store leaves NULL there.
const (
	insertNotification = `INSERT INTO notifications (id, source, dedupe_key, recipe, source_in_key, event_id, event_type, channel, provider, pinned,
  lane, state, next_action, due_at, expires_at, claimed_at, updated_at)
VALUES ($1, '', $2, 'event', 1, $3, 'order.shipped', 'sms', 'infrai_main', 0, 1, 'claimed', 'send', $4, $5, $4, $4)
ON CONFLICT (dedupe_key, source) DO NOTHING`
	insertContent = `INSERT INTO contents (notification, recipient, recipient_key, message, metadata, content_hash) VALUES ($1, $2, $2, $3, NULL, $4)`
)

// ceiling measures what SQLite itself gives on this machine, in this minute: the rows of a claim, inserted in
// groups of c.group under one durable commit, by the same driver into the same schema, and nothing else.
func (b *bench) ceiling(ctx context.Context, c cell) (result, error) {
	res := result{Cell: c.name, System: bare}
	dir, err := os.MkdirTemp(b.dir, "bare")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+
		"?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(1)&_pragma=cache_size(-32768)")
	if err != nil {
		return res, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, b.schema); err != nil {
		return res, fmt.Errorf("schema: %w", err)
	}
	w := &bareWriter{db: db}
	if w.notification, err = db.PrepareContext(ctx, insertNotification); err != nil {
		return res, err
	}
	if w.content, err = db.PrepareContext(ctx, insertContent); err != nil {
		return res, err
	}
	var commits latencies
	var from reading
	begin := time.Now().Add(b.warm / 2)
	for end := begin.Add(b.length); time.Now().Before(end); {
		start := time.Now()
		if from.self == 0 && start.After(begin) {
			from, begin, end = reading{self: selfCPU(), machine: machineCPU()}, start, start.Add(b.length)
		}
		if err := w.group(ctx, c.group); err != nil {
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
	return res, nil
}

// bareWriter holds the two prepared statements.
type bareWriter struct {
	db                    *sql.DB
	notification, content *sql.Stmt
	n                     int
}

// group inserts n claims and commits.
func (w *bareWriter) group(ctx context.Context, n int) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit this does nothing
	notification, content := tx.StmtContext(ctx, w.notification), tx.StmtContext(ctx, w.content)
	for range n {
		w.n++
		var key [20]byte
		rand.Read(key[:])
		now := time.Now().UnixMilli()
		id := append([]byte{byte(now >> 40), byte(now >> 32), byte(now >> 24), byte(now >> 16), byte(now >> 8), byte(now)}, key[:10]...)
		done, err := notification.ExecContext(ctx, id, hex.EncodeToString(key[:]), "evt_"+strconv.Itoa(w.n), now, now+72*3600*1000)
		if err != nil {
			return fmt.Errorf("insert: %w", err)
		}
		seq, err := done.LastInsertId()
		if err != nil {
			return err
		}
		var buf [256]byte
		message := append(text(append(buf[:0], '{'), int64(w.n)), '}')
		number := "+1415555" + strconv.Itoa(10000 + w.n%10000)[1:]
		if _, err := content.ExecContext(ctx, seq, number, string(message), key[:16]); err != nil {
			return fmt.Errorf("insert: %w", err)
		}
	}
	return tx.Commit()
}
