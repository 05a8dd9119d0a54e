package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"os/exec"
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

// held keeps the writer busy until release is called.
func held(t *testing.T, s *Store) (release func()) {
	t.Helper()
	hold, holding, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.write(0, func(*tx) error {
			close(holding)
			<-hold
			return nil
		})
	}()
	<-holding
	return func() {
		close(hold)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestQueue_ClaimsAreRefusedClosesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := created(t)
		s, err := Open(o)
		must(err)
		n := taken(t, s, claimed(t, s, claimOf(0))[0])
		release := held(t, s)
		var all sync.WaitGroup
		for i := range maxClaims {
			all.Go(func() {
				if _, err := s.Claim([]ledger.Claim{claimOf(1 + i)}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		_, err = s.Claim([]ledger.Claim{claimOf(5000)})
		wantErr(t, err, ledger.ErrOverload)
		all.Go(func() { closed(t, s, n, ledger.Accepted, toSent, "SM1") })
		for range maxUrgent + 10 { // more than the queue holds: they wait, and nobody is refused
			all.Go(func() {
				if err := s.ClearPause("x"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		release()
		all.Wait()
		must(s.Shutdown())
	})
}

func TestQueue_ClosesGoBeforeClaims(t *testing.T) {
	var order []string
	var mu sync.Mutex
	note := func(what string) func(*tx) error {
		return func(*tx) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
			return nil
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(created(t))
		must(err)
		release := held(t, s)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { must(s.claim(1, note("claim"))) })
			synctest.Wait()
			all.Go(func() { must(s.write(1, note("close"))) })
			synctest.Wait()
		}
		release()
		all.Wait()
		must(s.Shutdown())
	})
	if got := strings.Join(order, " "); got != "close close close claim claim claim" {
		t.Fatal(got)
	}
}

func TestQueue_AGroupIsBounded(t *testing.T) {
	w := &writer{urgent: make(chan *operation, 2000), claims: make(chan *operation, 2000)}
	for range 2000 {
		w.urgent <- &operation{rows: 1}
		w.claims <- &operation{rows: ledger.MaxBatch}
	}
	if got := len(w.gather(&operation{rows: 1})); got != maxGroup {
		t.Errorf("%d operations share a commit", got)
	}
	if got := len(w.gather(<-w.claims)); got != 1 {
		t.Errorf("%d operations share a commit with a batch", got)
	}
}

func TestReserve_ClaimsStopAndClosesGoOn(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	n := taken(t, s, claimed(t, s, claimOf(1))[0])
	waits := claimed(t, s, claimOf(2))[0]
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
	o.Reserve = math.MaxInt64
	s = opened(t, o)
	if err := s.Condition().Err; err != ledger.ErrStorageLow {
		t.Fatalf("%v", err)
	}
	_, err := s.Claim([]ledger.Claim{claimOf(3)})
	wantErr(t, err, ledger.ErrStorageLow)
	closed(t, s, n, ledger.Accepted, toSent, "SM1")
	taken(t, s, waits)
	if _, found, err := s.Prior(context.Background(), claimOf(1)); !found || err != nil {
		t.Fatal(found, err)
	}
}

func TestSpace_LooksOnceASecondAndAfterAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpace(t.TempDir(), math.MaxInt64)
		if !s.low() {
			t.Fatal("there is more than can be")
		}
		s.reserve = 1
		if !s.low() {
			t.Error("it looked again at once")
		}
		time.Sleep(spaceLook)
		if s.low() {
			t.Error("it did not look after a second")
		}
		s.reserve = math.MaxInt64
		s.recheck()
		if !s.low() {
			t.Error("it did not look after a full disk")
		}
		if newSpace(t.TempDir(), 0).low() || newSpace("/no/such/folder", 1).low() {
			t.Error("without a reserve, or without an answer, nothing is low")
		}
	})
}

// Another process that holds the write lock costs a group one wait, not one for each operation.
func TestGroup_WithoutATransactionNothingIsTriedAlone(t *testing.T) {
	b := newBench10(t)
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

// What panics in the writer ends the process: the next start knows what is open.
func TestWriter_APanicEndsTheProcess(t *testing.T) {
	o := created(t)
	served(t, o, func(s *Store) { claimed(t, s, claimOf(1)) })
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SENDONCE_TEST_PANIC="+o.Path)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: the decision panics") {
		t.Fatalf("%v: %s", err, out)
	}
	wantState(t, priorOf(t, opened(t, o), claimOf(1)), ledger.StateClaimed, "")
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
