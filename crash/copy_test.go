package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sendonce/fake"
)

// later is an event that is due in an hour.
func later(id, token string) []byte {
	return []byte(`{"event_id":"` + id + `","channel":"sms","recipient":"+14155550101","message":{"text":"` + token + `"},"send_at":"` +
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`)
}

// Keeps out the second message to everybody after somebody puts yesterday's files back: such a ledger does not know
// what it sent since, so it sends nothing until a person has looked.
func TestCopy_OldFilesPutBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := newPlace(t, fake.Options{WellBehaved: true})
	s := p.start()
	p.send(s, "evt-old", "tok_old")
	if a, err := s.api.post(ctx, later("evt-open", "tok_open"), 0); err != nil || a.State != "claimed" {
		t.Fatalf("status %d %s: %v", a.Status, a.Code, err)
	}
	s.stop(patience)
	old := t.TempDir()
	p.copyFiles(p.dir, old)
	s = p.start()
	p.send(s, "evt-lost", "tok_lost")
	s.kill()
	p.copyFiles(old, p.dir)

	s = p.start()
	calls := p.fake.Requests()
	expectStates(t, s, map[string]int{"sent": 1, "ambiguous": 1})
	open, err := s.api.post(ctx, []byte(later("evt-open", "tok_open")), 0)
	if err != nil || open.Status != 200 || open.State != "ambiguous" || open.Reason != "restored" || !open.MaybeSent {
		t.Errorf("the row that was open is %s %s: %v", open.State, open.Reason, err)
	}
	for i := range 3 {
		if a := p.send(s, fmt.Sprint("evt-new-", i), fmt.Sprint("tok_new_", i)); a.State != "claimed" || a.Reason != "restored" {
			t.Errorf("a new claim is %s %s", a.State, a.Reason)
		}
	}
	s.stop(patience)
	p.check()
	s = p.start() // a second start changes nothing about it
	if a, err := s.api.post(ctx, smsBody("evt-new-0", "+14155550101", "tok_new_0"), time.Second); err != nil || a.State != "claimed" || a.Reason != "restored" {
		t.Errorf("after another start the new claim is %s %s: %v", a.State, a.Reason, err)
	}
	if code, _ := p.run("restore", "--accept"); code == 0 {
		t.Error("restore --accept works beside the running service")
	}
	s.stop(patience)
	if p.fake.Requests() != calls {
		t.Error("an old copy sent something")
	}

	if code, out := p.run("restore", "--accept"); code != 0 {
		t.Fatalf("restore --accept: exit code %d\n%s", code, out)
	}
	s = p.start()
	s.idle()
	expectStates(t, s, map[string]int{"sent": 4, "ambiguous": 1})
	p.received("tok_old", 1)
	p.received("tok_open", 0)
	p.received("tok_new_0", 1)
	s.stop(patience)
	p.check()
}

// Keeps out a ledger that came without its lock file, from a backup or another machine, and sends as if it were the one.
func TestCopy_WithoutLockFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	s := p.start()
	p.send(s, "evt-1", "tok_1")
	s.stop(patience)
	if err := os.Remove(p.database + ".lock"); err != nil {
		t.Fatal(err)
	}
	s = p.start()
	calls := p.fake.Requests()
	if a := p.send(s, "evt-2", "tok_2"); a.State != "claimed" || a.Reason != "restored" {
		t.Errorf("a new claim is %s %s", a.State, a.Reason)
	}
	if p.fake.Requests() != calls {
		t.Error("it sent something")
	}
	s.stop(patience)
	p.check()
}

// Keeps out the largest duplicate machine there is: an empty new ledger in the place of a lost one.
func TestCopy_LedgerLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	s := p.start()
	p.send(s, "evt-1", "tok_1")
	s.stop(patience)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(p.database + suffix)
	}
	if code, out := p.run("serve"); code != 4 {
		t.Errorf("serve without its ledger: exit code %d\n%s", code, out)
	}
	if code, out := p.run("init"); code != 4 {
		t.Errorf("init over a lock file: exit code %d\n%s", code, out)
	}
	if _, err := os.Stat(p.database); err == nil {
		t.Error("a new ledger was made")
	}
}

// Keeps out two processes on one ledger, under whatever name.
func TestCopy_SecondProcess(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	s := p.start()
	if code, out := p.run("serve"); code != 4 {
		t.Errorf("a second serve: exit code %d\n%s", code, out)
	}
	alias := filepath.Join(t.TempDir(), "other.db")
	if err := os.Symlink(p.database, alias); err != nil {
		t.Fatal(err)
	}
	if code, out := p.run("serve", "--database", alias); code != 4 {
		t.Errorf("a second serve through a link: exit code %d\n%s", code, out)
	}
	if a := p.send(s, "evt-1", "tok_1"); a.State != "sent" {
		t.Errorf("the first service is disturbed: %s %s", a.State, a.Reason)
	}
	s.stop(patience)
	p.check()
}

// Keeps out a race of two starts, when a supervisor and a person restart the service at once: one wins, the others leave.
func TestCopy_ManyStartAtOnce(t *testing.T) {
	t.Parallel()
	const starts = 5
	p := newPlace(t, fake.Options{WellBehaved: true})
	ended := make(chan *service, starts)
	won := make(chan *service, starts)
	for range starts {
		s, listening := p.launch(nil)
		go func() {
			select {
			case at := <-listening:
				s.api = newClient("http://" + at)
				won <- s
			case <-s.ended:
				ended <- s
			}
		}()
	}
	winner := <-won
	for range starts - 1 {
		select {
		case s := <-ended:
			if code := s.cmd.ProcessState.ExitCode(); code != 4 {
				t.Errorf("a loser left with exit code %d\n%s", code, s.log)
			}
		case <-won:
			t.Fatal("two services have one ledger")
		case <-time.After(patience):
			t.Fatal("a start neither wins nor leaves")
		}
	}
	if a := p.send(winner, "evt-1", "tok_1"); a.State != "sent" {
		t.Errorf("the winner's row is %s %s", a.State, a.Reason)
	}
	winner.stop(patience)
	p.check()
}
