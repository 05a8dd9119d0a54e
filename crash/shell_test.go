package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// shellWrites is what another program may write: it moves no row of the ledger. shellMayNot is refused by the schema.
const shellWrites = `CREATE TABLE IF NOT EXISTS visits (x); INSERT INTO visits WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
SELECT hex(randomblob(500)) FROM n`

var shellMayNot = []string{
	"UPDATE notifications SET state = 'claimed', next_action = 'send', due_at = 1, confirmed_at = NULL WHERE state = 'sent'",
	"DELETE FROM notifications WHERE seq = 1", "UPDATE notifications SET dedupe_key = 'another' WHERE seq = 1",
}

// Keeps out the loss of acknowledged claims when somebody looks into the running ledger with another program: the end of
// that program must not take the service's locks or its log away. Then kill -9.
func TestShell_VisitsAndTheServiceIsKilled(t *testing.T) {
	needs(t, "sqlite3")
	t.Parallel()
	r := &run{t: t, rows: map[string]bool{}, tally: newTally()}
	r.place = newPlace(t, fake.Options{WellBehaved: true, Delay: 5 * time.Millisecond})
	s := r.place.start()
	visits := make(chan string, 64) // all faults: the service is killed whatever the visits find, else the load would not end
	go func() {
		defer close(visits)
		for i := range 8 {
			if code, out := r.place.run("check"); code != 0 { // it reads beside the writer
				visits <- out
			}
			sql := []string{"SELECT count(*) FROM notifications", "PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA integrity_check", shellWrites}[i%4]
			out, err := exec.Command("sqlite3", "-cmd", ".timeout 5000", r.place.database, sql).CombinedOutput()
			if err != nil {
				visits <- fmt.Sprintf("%s: %v %s", sql, err, out)
			} else if sql == "PRAGMA integrity_check" && strings.TrimSpace(string(out)) != "ok" {
				visits <- string(out)
			}
			for _, sql := range shellMayNot {
				if out, err := exec.Command("sqlite3", "-cmd", ".timeout 5000", r.place.database, sql).CombinedOutput(); err == nil {
					visits <- fmt.Sprintf("%s: %s", sql, out)
				}
			}
		}
		s.kill()
	}()
	r.load(s, rand.New(rand.NewPCG(1, 1)), 1<<20)
	for fault := range visits {
		t.Error(fault)
	}
	s.killed()
	r.place.check()

	told := 0
	for _, e := range r.events {
		if e.told != "" {
			told++
		}
	}
	if told == 0 {
		t.Fatal("nothing was acknowledged: the test proves nothing")
	}
	s = r.place.start()
	r.acknowledge(s, r.events)
	s.idle()
	s.stop(patience)
	r.verdict()
}

// shell opens a transaction in another program, which ends with leave.
func (p *place) shell(begin string) (leave func()) {
	p.t.Helper()
	shell := exec.Command("sqlite3", p.database)
	in, err := shell.StdinPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- shell.Wait() }()
	p.t.Cleanup(func() { _ = shell.Process.Kill() })
	begun := filepath.Join(p.dir, "begun")
	_, _ = fmt.Fprintln(in, begin)
	_, _ = fmt.Fprintln(in, ".shell touch "+begun)
	eventually(p.t, "the shell has its transaction", func() bool { _, err := os.Stat(begun); return err == nil })
	return func() {
		p.t.Helper()
		_ = in.Close()
		if err := <-ended; err != nil {
			p.t.Fatal(err)
		}
	}
}

// Keeps out F16: another program that keeps the database locked for longer than anybody waits. Callers are put off, what
// runs is closed when it can be, and nothing is sent twice.
func TestShell_HoldsTheWriteLock(t *testing.T) {
	needs(t, "sqlite3")
	t.Parallel()
	ctx := context.Background()
	release := make(chan struct{})
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(r fake.Request) {
		if r.Token == "tok_runs" {
			<-release
		}
	}})
	s := p.start()
	running, err := s.api.post(ctx, smsBody("evt-runs", "+14155550101", "tok_runs"), 0)
	if err != nil || running.Status != 202 {
		t.Fatalf("status %d %s: %v", running.Status, running.Code, err)
	}
	eventually(t, "the request is at the provider", func() bool { return p.fake.Requests() == 1 })

	leave := p.shell("BEGIN IMMEDIATE;")
	close(release)
	a, err := s.api.post(ctx, smsBody("evt-2", "+14155550102", "tok_2"), 0)
	if err != nil || a.Status != 503 || a.Code != "storage_unavailable" {
		t.Errorf("a claim beside a lock that stays: status %d %s: %v", a.Status, a.Code, err)
	}
	if n, err := s.api.get(ctx, running.ID); err != nil || n.State != "sending" {
		t.Errorf("the row that runs is %s: %v", n.State, err)
	}
	leave()
	if a := p.send(s, "evt-2", "tok_2"); a.State != "sent" {
		t.Errorf("after the lock the row is %s %s", a.State, a.Reason)
	}
	s.idle()
	expectStates(t, s, map[string]int{"sent": 2})
	p.received("tok_runs", 1)
	p.received("tok_2", 1)
	s.stop(patience)
	p.check()
}
