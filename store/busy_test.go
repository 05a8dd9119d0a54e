package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// Keeps out that callers wait one after another for a visitor's lock: a group that could not even begin is answered as one.
func TestWriter_AVisitorsLockIsWaitedForOnceByAGroup(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	const patience = "300"
	if err := s.write(1, func(t *tx) error { _, err := t.exec("PRAGMA busy_timeout(" + patience + ")"); return err }); err != nil {
		t.Fatal(err)
	}
	visitor, err := connect(o.Path, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = visitor.Close() }()
	if _, err := visitor.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if _, err := s.Claim([]ledger.Claim{claimOf(i)}); !errors.Is(err, ledger.ErrUnavailable) {
				t.Errorf("claim: %v", err)
			}
		})
	}
	all.Wait()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("50 callers waited %v for a lock that each waits for %s ms", took, patience)
	}
	if _, err := visitor.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim([]ledger.Claim{claimOf(0)}); err != nil {
		t.Errorf("after the visitor left: %v", err)
	}
}
