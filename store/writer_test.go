package store

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// failing lets the next commits of the writer fail, as many as are asked for.
type failing struct {
	mu   sync.Mutex
	left int
}

var errSync = errors.New("the sync failed")

func (f *failing) commit(do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left > 0 {
		f.left--
		return errSync
	}
	return do()
}

func (f *failing) next(n int) {
	f.mu.Lock()
	f.left = n
	f.mu.Unlock()
}

func TestCommit_TheThreeAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		failures int
		want     error // of the group
		during   error // of the condition right after
	}{
		"it holds":                  {0, nil, nil},
		"it fails, the barrier not": {1, ledger.ErrUnavailable, nil},
		"the barrier fails too":     {2, ledger.ErrUnknown, ledger.ErrUnknown},
		"and more barriers":         {5, ledger.ErrUnknown, ledger.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			var f failing
			o := created(t)
			o.hooks.commit = f.commit
			synctest.Test(t, func(t *testing.T) {
				s, err := Open(o)
				must(err)
				known := claimed(t, s, claimOf(1))[0]
				f.next(c.failures)
				_, err = s.Claim([]ledger.Claim{claimOf(2)})
				wantErr(t, err, c.want)
				wantErr(t, s.Condition().Err, c.during)
				if c.during != nil { // at once, for everybody
					begin := time.Now()
					_, err := s.Claim([]ledger.Claim{claimOf(3)})
					wantErr(t, err, ledger.ErrUnknown)
					wantErr(t, s.Take(takingOf(known)), ledger.ErrUnknown)
					wantErr(t, s.ClearPause("x"), ledger.ErrUnknown)
					if time.Since(begin) > 0 {
						t.Error("they had to wait")
					}
					if _, found, err := s.Prior(t.Context(), claimOf(1)); !found || err != nil {
						t.Error("repeats are still answered", err)
					}
				}
				time.Sleep(time.Duration(c.failures) * barrierWait)
				synctest.Wait()
				want := ledger.Condition{}
				if c.failures > 0 {
					want.Barriers = 1
				}
				if got := s.Condition(); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				_, found, err := s.Prior(t.Context(), claimOf(2))
				if err != nil || found != (c.failures == 0) {
					t.Errorf("found %v, %v", found, err)
				}
				taken(t, s, known)
				synctest.Wait() // the lock file follows the answer
				var id identity
				_, err = oneRow(s.reader(t.Context()), identityQuery, nil, id.targets()...)
				if err != nil || id.generation != s.lock.last.generation || id.generation < 1+want.Barriers {
					t.Errorf("the ledger's generation is %d, the lock file's %d, %v", id.generation, s.lock.last.generation, err)
				}
				must(s.Shutdown())
			})
		})
	}
}

// Nobody of a group is told anything before the barrier was tried.
func TestCommit_TheGroupWaitsForTheBarrier(t *testing.T) {
	var commits int
	waiting := make(chan struct{})
	o := created(t)
	o.hooks.commit = func(do func() error) error {
		switch commits++; commits {
		case 1:
			return errSync
		case 2:
			<-waiting // the barrier
		}
		return do()
	}
	s := opened(t, o)
	answered := make(chan error, 1)
	go func() {
		_, err := s.Claim([]ledger.Claim{claimOf(1)})
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("answered before the barrier: %v", err)
	case waiting <- struct{}{}:
	}
	wantErr(t, <-answered, ledger.ErrUnavailable)
}

// Another process that holds the write lock costs a group one wait, not one for each operation.
func TestGroup_WithoutATransactionNothingIsTriedAlone(t *testing.T) {
	b := newTenClaims(t)
	var out bytes.Buffer
	b.s.troubles = ledger.NewTroubles(slog.New(slog.NewTextHandler(&out, nil)))
	if _, err := b.s.writer.tx.exec("PRAGMA busy_timeout(1)"); err != nil {
		t.Fatal(err)
	}
	db := visit(t, b.o)
	claims := make([]ledger.Claim, 10)
	for i := range claims {
		claims[i] = claimOf(i)
	}
	b.locked = func() { mustExec(t, db, "BEGIN IMMEDIATE") }
	for _, err := range b.group(t, -1, claims) {
		wantErr(t, err, ledger.ErrUnavailable)
	}
	if waits := strings.Count(out.String(), "no transaction could be opened"); waits != 1 {
		t.Fatalf("%d waits for the lock:\n%s", waits, out.String())
	}
	mustExec(t, db, "ROLLBACK")
	for _, err := range b.group(t, -1, claims) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The store lives in a bubble: its goroutines begin in Open and end in Shutdown.
func TestStore_LivesInABubble(t *testing.T) {
	o := created(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(o)
		must(err)
		sentRow(t, s, 1, "SM1")
		time.Sleep(72 * time.Hour)
		sentRow(t, s, 2, "SM2")
		must(s.Shutdown())
	})
}
