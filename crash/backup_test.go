package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sendonce/fake"
)

const (
	backupRows = 4000
	backupCuts = 12 // kills of a backup, and as many times more as there are more cycles
)

// fillUp posts events until the ledger has so many rows more.
func (p *place) fillUp(s *service, rows int) {
	p.t.Helper()
	for first := 0; first < rows; first += 500 {
		bodies := make([]json.RawMessage, 500)
		for i := range bodies {
			bodies[i] = smsBody(fmt.Sprint("evt-fill-", first+i), "+14155550101", fmt.Sprint("tok_fill_", first+i))
		}
		if _, status, err := s.api.batch(context.Background(), bodies); err != nil || status != 200 {
			p.t.Fatalf("status %d: %v", status, err)
		}
	}
}

// Keeps out a backup that was killed half way and passes for a whole one, and one that takes the ledger along. It is killed at a random
// place while the service goes on sending; what has its name afterwards is whole.
func TestBackup_KilledInTheMiddle(t *testing.T) {
	needs(t, "sqlite3")
	t.Parallel()
	cuts := backupCuts * max(1, *cycles/20)
	r := &run{t: t, began: time.Now(), rows: map[string]bool{}, tally: newTally()}
	r.place = newPlace(t, fake.Options{WellBehaved: true})
	p := r.place
	s := p.start()
	p.fillUp(s, backupRows)
	s.idle()
	to := filepath.Join(t.TempDir(), "copy.db")
	began := time.Now()
	if code, out := p.run("backup", to); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	took := time.Since(began)
	p.wholeCopy(to)

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.load(s, rand.New(rand.NewPCG(*seed, 21)), 1<<20)
	}()
	half, whole, early := 0, 0, 0
	for i := range cuts {
		cmd := exec.Command(program(t), "backup", to, "--config", p.config)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(took*time.Duration(i+1)/time.Duration(cuts), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		_, named := os.Stat(to)
		_, part := os.Stat(to + ".part")
		switch {
		case named == nil:
			whole++
			p.wholeCopy(to)
		case part == nil:
			half++
		default:
			early++
		}
	}
	s.kill()
	<-ended
	t.Logf("%d backups of %v: %d killed half way, %d before they wrote, %d whole", cuts, took.Round(time.Millisecond), half, early, whole)
	if half < cuts/4 {
		t.Errorf("only %d of %d backups were killed half way", half, cuts)
	}
	p.check()
	s = p.start()
	r.acknowledge(s, r.events)
	s.idle()
	if code, out := p.run("backup", to); code != 0 { // over what the killed ones left
		t.Errorf("exit code %d\n%s", code, out)
	}
	p.wholeCopy(to)
	s.stop(patience)
	if _, err := os.Stat(to + ".part"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left of the backups that were killed: %v", err)
	}
}

// wholeCopy demands that a copy is one by its content and knows that it is a copy, and removes it.
func (p *place) wholeCopy(path string) {
	p.t.Helper()
	if code, out := p.run("check", "--database", path); code != 0 {
		p.t.Errorf("check of a backup: exit code %d\n%s", code, out)
	}
	if restored := sqlite(p.t, path, "SELECT restored IS NOT NULL FROM ledger;"); restored != "1" {
		p.t.Errorf("a backup passes for the ledger: %q", restored)
	}
	if err := os.Remove(path); err != nil {
		p.t.Error(err)
	}
}
