package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// sentRows writes rows that were sent long ago, past the store and its triggers: key, ids and hashes are random, a message has 200
// bytes, an answer 300.
func sentRows(t testing.TB, o Options, rows int) {
	t.Helper()
	db := visit(t, o)
	var trigger string
	if err := db.QueryRow("SELECT sql FROM sqlite_schema WHERE name = 'notifications_born'").Scan(&trigger); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"PRAGMA synchronous = off", "BEGIN", "DROP TRIGGER notifications_born",
		`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $ROWS)
INSERT INTO notifications (seq, id, source, dedupe_key, recipe, source_in_key, event_id, event_type, user_id, channel, provider, pinned, lane, state,
 attempt_count, message_id, delivery, version, expires_at, claimed_at, confirmed_at, updated_at)
SELECT i, CAST(printf('%016d', i) AS BLOB), 'shop', randomblob(20), 'event', 1, 'evt_' || lower(hex(randomblob(8))), 'order.shipped',
 'u_' || i, 'sms', 'twilio_main', 0, 1, 'sent', 1, 'SM' || lower(hex(randomblob(16))), 'delivered', 4, $AT, $AT, $AT, $AT FROM n`,
		`INSERT INTO contents SELECT seq, '+1415' || abs(random() % 10000000), '+1415' || abs(random() % 10000000),
 '{"text":"' || hex(randomblob(95)) || '"}', NULL, randomblob(16) FROM notifications`,
		`INSERT INTO attempts (notification, number, kind, provider, account, request_hash, started_at, ended_at, outcome, phase, status, message_id, answer)
 SELECT seq, 1, 'send', provider, randomblob(8), randomblob(16), claimed_at, claimed_at, 'accepted', 'answered', 201, message_id, randomblob(300)
 FROM notifications`,
		`INSERT INTO receipts (provider, event_key, fact_key, notification, number, message_id, kind, delivery, arrived_at)
 SELECT provider, 'e' || message_id, message_id || ':delivered', seq, 1, message_id, 'delivered', 'delivered', claimed_at FROM notifications`,
		"UPDATE counts SET sent = $ROWS, receipts = $ROWS",
		trigger, "COMMIT",
	} {
		query = strings.NewReplacer("$ROWS", fmt.Sprint(rows), "$AT", fmt.Sprint(at0.UnixMilli())).Replace(query)
		mustExec(t, db, query)
	}
}

// bytesPerRow is what the file uses for each row, all indexes included: pages that are free will be used again.
func bytesPerRow(t testing.TB, db *sql.DB, rows int) int {
	t.Helper()
	var pages, free, size int
	if err := db.QueryRow("SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&pages, &free, &size); err != nil {
		t.Fatal(err)
	}
	return (pages - free) * size / rows
}

// eraseAll erases in the steps in which a service does.
func eraseAll(t testing.TB, s *Store) (rows int) {
	t.Helper()
	q := ledger.OldQuery{Before: longAgo, Limit: 64}
	for {
		old, err := s.Old(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		erased, err := s.Erase(old.Families, longAgo, longAgo)
		if err != nil {
			t.Fatal(err)
		}
		rows += len(erased)
		if q.After = old.Last; old.End {
			return rows
		}
	}
}

// maxErasedBytes is what the file may use for a row that was erased.
const maxErasedBytes = 250

func TestErase_LeavesFewBytes(t *testing.T) {
	const rows = 10_000
	o := created(t)
	s := opened(t, o)
	sentRows(t, o, rows)
	db := visit(t, o)
	before := bytesPerRow(t, db, rows)
	if n := eraseAll(t, s); n != rows-1 {
		t.Fatalf("%d rows were erased", n)
	}
	after := bytesPerRow(t, db, rows)
	t.Logf("%d bytes a row, %d when erased", before, after)
	if before < 2*maxErasedBytes {
		t.Errorf("%d bytes a whole row: this test measures nothing", before)
	}
	if after > maxErasedBytes {
		t.Errorf("%d bytes an erased row, at most %d are allowed", after, maxErasedBytes)
	}
}

// BenchmarkErase erases b.N rows: -benchtime 200000x shows the bytes of an erased row in a ledger of that many.
func BenchmarkErase(b *testing.B) {
	o := created(b)
	s := opened(b, o)
	sentRows(b, o, b.N+1)
	db := visit(b, o)
	before := bytesPerRow(b, db, b.N)
	b.ResetTimer()
	began := time.Now()
	n := eraseAll(b, s)
	b.ReportMetric(float64(n)/time.Since(began).Seconds(), "rows/s")
	b.ReportMetric(float64(before), "B/row")
	b.ReportMetric(float64(bytesPerRow(b, db, b.N)), "B/erased")
}
