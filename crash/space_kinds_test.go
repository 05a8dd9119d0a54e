package crash

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// Keeps out a full disk that loses something while rows are erased and the log is folded under load: the service says so, puts callers
// off, and goes on by itself.
func TestSpace_FullWhileItErasesAndFolds(t *testing.T) {
	const fulls = 2
	ctx := context.Background()
	r := &run{t: t, began: time.Now(), rows: map[string]bool{}, tally: newTally()}
	r.place = newPlace(t, fake.Options{WellBehaved: true, Delay: 5 * time.Millisecond, Slow: 50 * time.Millisecond}, keptShortly, smallDisk(t))
	s := r.place.start()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.load(s, rand.New(rand.NewPCG(1, 31)), 1200)
	}()
	faults := map[string]int{}
	for range fulls {
		time.Sleep(longest) // so that there is something to erase
		fill(t, r.place, 0)
		eventually(t, "the service notices", func() bool { return !s.api.ready(ctx) })
		if a, err := s.api.post(ctx, smsBody("evt-none", "+14155550101", "tok_none"), 0); err != nil || a.Status != http.StatusServiceUnavailable {
			t.Errorf("a claim without space: status %d %s: %v", a.Status, a.Code, err)
		}
		free(t, r.place)
		eventually(t, "the service goes on", func() bool { return s.api.ready(ctx) })
		for _, fault := range []string{"could not be folded", "a write failed", "a commit failed", "msg=retention"} {
			if s.log.has(fault) {
				faults[fault]++
			}
		}
	}
	<-ended
	if len(faults) == 0 {
		t.Error("nothing failed for want of space: the test proves nothing")
	}
	r.acknowledge(s, r.events)
	s.idle()
	s.stop(patience)
	r.verdict()
	t.Logf("seen in the log after each of %d full disks: %v; erased: %d", fulls, faults, r.tally.erased)
}

// Keeps out a backup that ends for want of space and leaves something that looks like one.
func TestSpace_FullWhileItIsBackedUp(t *testing.T) {
	disk := smallDisk(t)
	p := newPlace(t, fake.Options{WellBehaved: true}, disk)
	s := p.start()
	p.fillUp(s, 2000)
	s.idle()
	fill(t, p, 256<<10)
	to := filepath.Join(filepath.Dir(p.database), "copy.db")
	if code, out := p.run("backup", to); code == 0 || !strings.Contains(out, "full") {
		t.Errorf("a backup without space: exit code %d\n%s", code, out)
	}
	for _, name := range []string{to, to + ".part"} {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it left %s: %v", filepath.Base(name), err)
		}
	}
	free(t, p)
	eventually(t, "the service goes on", func() bool { return s.api.ready(context.Background()) })
	p.send(s, "evt-after", "tok_after")
	s.stop(patience)
	p.check()
}

// F38: a migration that ends for want of space leaves the old ledger whole, says why, and goes on with the next start.
func TestSpace_F38_FullWhileItMigrates(t *testing.T) {
	needs(t, "sqlite3")
	for _, left := range []int64{64 << 10, 512 << 10} {
		p := newPlace(t, fake.Options{WellBehaved: true}, smallDisk(t))
		p.age(newest-1, 4000)
		_, want := p.keys()
		fill(t, p, left)
		if code, out := p.run("serve"); code == 0 || !strings.Contains(out, "full") {
			t.Errorf("a migration without space: exit code %d\n%s", code, out)
		}
		if version, sum := p.keys(); version != newest-1 || sum != want {
			t.Errorf("version %d, the keys are the same: %v", version, sum == want)
		}
		free(t, p)
		p.start().stop(patience)
		if version, sum := p.keys(); version != newest || sum != want {
			t.Errorf("with space again: version %d, the keys are the same: %v", version, sum == want)
		}
	}
}
