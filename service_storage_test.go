package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/fake"
)

// database opens the ledger's file as another program would; it does not go through the store.
func (p *place) database() *sql.DB {
	p.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(p.dir, "sendonce.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p.t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// F16: changes of one row that read it first and write it then, from many callers at once: none meets "database is locked".
func TestStorage_F16_ManyChangesOfOneRow(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	a := r.post(event(`"event_id":"evt_1","send_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`))
	if a.status != 202 || a.State != "claimed" {
		t.Fatalf("%d %s", a.status, a.State)
	}
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	for i := range 20 {
		action := []string{"hold", "unhold"}[i%2]
		all.Go(func() {
			for range 10 {
				got, err := r.ask(t.Context(), http.MethodPost, "/v1/notifications/"+a.ID+"/"+action, `{"reason":"x"}`)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				statuses[got.status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if statuses[200] == 0 || statuses[200]+statuses[409] != 200 { // 409: it is where the caller would have it, or a word too late
		t.Errorf("answers by status: %v", statuses)
	}
	r.stop()
	p.calls(0)
	p.check()
}

// F16: another program that keeps the file locked for longer than anybody waits: a claim is answered 503 and nothing is
// sent, what came back from the provider is written as soon as that is possible, and nothing is sent again.
func TestStorage_F16_AnotherProgramLocksTheFile(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	arrived := make(chan struct{}, 4)
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(fake.Request) {
		arrived <- struct{}{}
		<-goOn
	}})
	r := p.start()
	sending := r.post(event(`"event_id":"runs"`))
	recv(t, arrived)
	db := p.database()
	exec(t, db, "BEGIN IMMEDIATE")
	close(goOn)
	began := time.Now()
	if a := r.post(event(`"event_id":"new"`)); a.status != 503 || a.Code != "storage_unavailable" || a.header.Get("Retry-After") == "" {
		t.Errorf("a claim: %d %s after %v", a.status, a.Code, time.Since(began))
	}
	if a := r.post(event(`"event_id":"runs"`)); a.status != 200 || a.State != "sending" {
		t.Errorf("a repeat, which only reads: %d %s", a.status, a.State)
	}
	for end := time.Now().Add(patience); p.book.lines("close is not written yet") == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the close did not meet the lock")
		}
	}
	exec(t, db, "ROLLBACK")
	done := r.until(sending.ID, "sent")
	if done.MessageID == "" || done.AttemptCount != 1 {
		t.Errorf("%d attempts, id %q", done.AttemptCount, done.MessageID)
	}
	p.calls(1)
	if a := r.settled(event(`"event_id":"new"`)); a.status != 202 || a.State != "sent" {
		t.Errorf("the claim again: %d %s", a.status, a.State)
	}
	r.rows(2)
	r.stop()
	p.calls(2)
	p.check()
}

// F15: rows that nobody can work on, put in by hand and due first, hold nobody up, and neither turn the loop nor fill the log.
func TestStorage_F15_RowsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	if a := r.do(http.MethodPost, "/v1/providers/sms_main/pause", `{"reason":"plant rows"}`); a.status != 200 {
		t.Fatalf("pause: %d", a.status)
	}
	broken, pinned, free := r.post(event(`"event_id":"broken"`)), r.post(event(`"event_id":"pinned","provider":"sms_main"`)), r.post(event(`"event_id":"free"`))
	var good []string
	for i := range 10 {
		good = append(good, r.post(event(fmt.Sprintf(`"event_id":"good_%d"`, i))).ID)
	}
	r.stop()
	db := p.database()
	exec(t, db, "CREATE TEMP TABLE one AS SELECT * FROM contents WHERE notification = (SELECT seq FROM notifications WHERE event_id = 'broken')",
		"DELETE FROM contents WHERE notification = (SELECT notification FROM one)", `UPDATE one SET message = '{"text":'`, "INSERT INTO contents SELECT * FROM one",
		"UPDATE notifications SET provider = 'gone' WHERE event_id IN ('pinned', 'free')")
	if _, err := db.Exec("UPDATE one SET recipient = NULL, notification = 99; INSERT INTO contents SELECT * FROM one"); err == nil || !strings.Contains(err.Error(), "recipient") {
		t.Errorf("a row without a recipient: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for start := range 2 {
		r = p.start()
		if start == 0 {
			r.do(http.MethodPost, "/v1/providers/sms_main/resume", `{"reason":"go on"}`)
		}
		began := time.Now()
		for _, id := range good {
			r.until(id, "sent")
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("start %d: the good rows took %v", start, took)
		}
		if a := r.until(broken.ID, "failed"); a.Reason != "unbuildable" || a.AttemptCount != 0 {
			t.Errorf("the broken row: %s after %d attempts", a.Reason, a.AttemptCount)
		}
		r.until(free.ID, "sent")
		if a := r.get(pinned.ID); a.State != "claimed" || a.Reason != "provider_missing" {
			t.Errorf("the pinned row: %s %s", a.State, a.Reason)
		}
		r.stop()
	}
	p.calls(11)
	if n := p.book.lines(pinned.ID); n > 0 {
		t.Errorf("%d log lines about a row that waits", n)
	}
	if n := p.book.lines(broken.ID); n != 1 {
		t.Errorf("%d log lines about a row that failed once", n)
	}
}
