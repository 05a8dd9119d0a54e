package store

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

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

func TestQueue_AGroupIsBoundedAndClaimsHaveTheirShare(t *testing.T) {
	w := &writer{urgent: make(chan *operation, 2000), claims: make(chan *operation, 2000)}
	urgent, claim, batch := &operation{rows: 1}, &operation{rows: 1}, &operation{rows: ledger.MaxBatch}
	for range 1000 {
		w.urgent <- urgent
	}
	if got := w.gather(urgent); len(got) != maxGroup {
		t.Errorf("%d operations share a commit", len(got))
	}
	for range 100 {
		w.claims <- claim
	}
	got := w.gather(urgent)
	if len(got) != maxGroup || got[urgentShare-1] != urgent || got[urgentShare] != claim || got[maxGroup-1] != claim {
		t.Errorf("%d operations share a commit, and claims have no share of it", len(got))
	}
	if got := w.gather(batch); len(got) != 1 {
		t.Errorf("%d operations share a commit with a batch", len(got))
	}
}

// What was done is answered as done, also when the writer has ended meanwhile.
func TestQueue_WhatWasDoneIsAnsweredAsDone(t *testing.T) {
	w := &writer{ended: make(chan struct{})}
	close(w.ended)
	op := &operation{done: make(chan struct{})}
	wantErr(t, w.wait(op), ledger.ErrUnavailable)
	close(op.done)
	for range 100 {
		if err := w.wait(op); err != nil {
			t.Fatal(err)
		}
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

// Receipts come many in one operation: however many, claims have their share of each commit.
func TestQueue_ReceiptsLeaveClaimsTheirShare(t *testing.T) {
	w := &writer{urgent: make(chan *operation, 2000), claims: make(chan *operation, 2000)}
	body, claim := &operation{rows: 64}, &operation{rows: 1}
	for rows := 1; rows <= maxGroup-urgentShare; rows++ {
		body.rows = rows
		for range 300 {
			w.urgent <- body
			w.claims <- claim
		}
		got, claims := w.gather(body), 0
		for _, op := range got {
			if op == claim {
				claims++
			}
		}
		if claims < maxGroup-urgentShare {
			t.Fatalf("operations of %d rows leave claims %d places", rows, claims)
		}
		w.urgent, w.claims = make(chan *operation, 2000), make(chan *operation, 2000)
	}
}

// After a crowd the next group waits a moment for company; who comes alone, or with as many, is not delayed.
func TestQueue_WaitsForCompanyAfterACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(created(t))
		must(err)
		defer func() { must(s.Shutdown()) }()
		took := func(callers int) time.Duration {
			begin := time.Now()
			release := func() {}
			if callers > 1 {
				release = held(t, s)
			}
			var all sync.WaitGroup
			for range callers {
				all.Go(func() { must(s.write(1, func(*tx) error { return nil })) })
			}
			synctest.Wait()
			release()
			all.Wait()
			return time.Since(begin)
		}
		for i, step := range []struct {
			callers int
			want    time.Duration
		}{{1, 0}, {1, 0}, {9, 0}, {1, company}, {1, 0}, {crowd - 1, 0}, {1, 0}} {
			if got := took(step.callers); got != step.want {
				t.Errorf("step %d: %d callers waited %v, want %v", i, step.callers, got, step.want)
			}
		}
	})
}
