package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// Keeps out a standstill of all reads: as many first calls as there are connections, each with a transaction open, waited for
// one more connection to prepare their statements on. Nobody let go, and claims waited behind them.
func TestReaders_FirstCallsAtOnceDoNotWaitForEachOther(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	n := claimed(t, s, claimOf(1))[0]
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var inside, all sync.WaitGroup
	inside.Add(readers)
	for range readers {
		all.Go(func() {
			err := s.snapshot(ctx, func(r reader) error {
				inside.Done()
				inside.Wait()
				_, found, err := notification(r, byID, n.ID[:])
				if err == nil && !found {
					err = ledger.ErrNotFound
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, ok := s.prepared.Load(byID); !ok {
		t.Error("the statement is parsed anew with each call")
	}
}
