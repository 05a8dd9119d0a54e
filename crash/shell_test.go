package crash

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// Keeps out the loss of acknowledged claims when somebody looks into the running ledger with another program: the end of
// that program must not take the service's locks or its log away. Then kill -9.
func TestShell_VisitsAndTheServiceIsKilled(t *testing.T) {
	needs(t, "sqlite3")
	t.Parallel()
	r := &run{t: t, rows: map[string]bool{}, tally: newTally()}
	r.place = newPlace(t, fake.Options{WellBehaved: true, Delay: 5 * time.Millisecond})
	s := r.place.start()
	visits := make(chan string)
	go func() {
		defer close(visits)
		for i := range 6 {
			sql := []string{"SELECT count(*) FROM notifications", "PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA integrity_check"}[i%3]
			out, err := exec.Command("sqlite3", "-cmd", ".timeout 5000", r.place.database, sql).CombinedOutput()
			if err != nil {
				visits <- fmt.Sprintf("%s: %v %s", sql, err, out)
			} else if sql == "PRAGMA integrity_check" && strings.TrimSpace(string(out)) != "ok" {
				visits <- string(out)
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
