package ledger_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// stater is a script whose service says what became of a message.
type stater struct {
	*script
	at   []time.Duration
	took time.Duration // how long an answer takes

	mu    sync.Mutex
	state func(messageID string) (ledger.Receipt, error)
	asked []time.Duration // since the test's start
	ids   []string
	began time.Time
}

func (s *stater) StatesAt() []time.Duration { return s.at }

func (s *stater) State(ctx context.Context, _ time.Time, id string) (ledger.Receipt, error) {
	s.mu.Lock()
	s.asked, s.ids = append(s.asked, time.Since(s.began)), append(s.ids, id)
	state := s.state
	s.mu.Unlock()
	if s.took > 0 {
		select {
		case <-time.After(s.took):
		case <-ctx.Done():
			return ledger.Receipt{}, ctx.Err()
		}
	}
	return state(id)
}

// says makes every further answer say so.
func (s *stater) says(word string, d ledger.Delivery) {
	s.does(func(id string) (ledger.Receipt, error) {
		return ledger.Receipt{MessageID: id, Kind: word, Delivery: d, Body: []byte(word)}, nil
	})
}

func (s *stater) does(state func(string) (ledger.Receipt, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// asks lists the times of the calls so far, rounded to whole seconds.
func (s *stater) asks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []time.Duration
	for _, at := range s.asked {
		out = append(out, at.Truncate(time.Second))
	}
	return fmt.Sprint(out)
}

// stating runs a body with a provider that accepts each message under an id of its own.
func stating(t *testing.T, set func(*rig, *stater), body func(*testing.T, *rig, *stater)) {
	t.Helper()
	var s *stater
	bubble(t, func(r *rig) {
		s = &stater{script: r.scripts["a"], at: []time.Duration{time.Minute, 10 * time.Minute, time.Hour}, began: time.Now()}
		s.says("sent", ledger.PassedOn)
		s.thenDo(func(_ context.Context, c *call) ledger.Result { return accepted("m-" + c.ID) })
		s.disguise = func(*script) ledger.Provider { return s }
		if set != nil {
			set(r, s)
		}
	}, func(t *testing.T, r *rig) { body(t, r, s) })
}

func wantAsks(t *testing.T, s *stater, want string) {
	t.Helper()
	if got := s.asks(); got != want {
		t.Errorf("asked at %s, want %s", got, want)
	}
}
