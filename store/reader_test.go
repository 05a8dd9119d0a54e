package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// Readers that begin together when nothing is prepared yet must not wait for one another's connections.
func TestGet_ManyFirstReadersAtOnce(t *testing.T) {
	s := opened(t, created(t))
	rows, err := s.Claim([]ledger.Claim{claimOf(1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var all sync.WaitGroup
	begin := make(chan struct{})
	for range 64 {
		all.Go(func() {
			<-begin
			if _, err := s.Get(ctx, rows[0].ID); err != nil {
				t.Errorf("get: %v", err)
			}
		})
	}
	close(begin)
	all.Wait()
}
