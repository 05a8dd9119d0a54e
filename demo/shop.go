package demo

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// shop asks sendonce as a caller should: the same request again until it is known to be safe.
type shop struct {
	service *service
	calls   atomic.Int64 // requests
	known   atomic.Int64 // that were told of an event that the ledger has
	lost    atomic.Int64 // that got no answer, or none that says anything
	under   sync.WaitGroup

	mu      sync.Mutex
	refused error
}

func newShop(s *service) *shop { return &shop{service: s} }

// ask claims a notification, until it is claimed.
func (s *shop) ask(ctx context.Context, n *notification) {
	s.under.Go(func() {
		for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 500*time.Millisecond) {
			s.calls.Add(1)
			switch status, err := s.service.call(ctx, http.MethodPost, "/v1/notifications", n.event(), nil); {
			case err == nil && status == http.StatusAccepted:
				return
			case err == nil && status == http.StatusOK:
				s.known.Add(1)
				return
			case err == nil && status < 500 && status != http.StatusTooManyRequests:
				s.mu.Lock()
				s.refused = fmt.Errorf("the service refuses %s: %d", n.event(), status)
				s.mu.Unlock()
				return
			}
			s.lost.Add(1)
			pause(ctx, wait)
		}
	})
}

// wait waits until everything that was asked for is claimed.
func (s *shop) wait() error {
	s.under.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// pause waits, or less when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
