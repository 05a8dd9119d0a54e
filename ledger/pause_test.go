package ledger

import (
	"context"
	"log/slog"
	"testing"
	"time"
)

// pauseStore keeps one pause, and lets a test in before the one who wrote it goes on.
type pauseStore struct {
	Store
	paused  bool
	written func()
}

func (s *pauseStore) SetPause(Pause) error {
	s.paused = true
	s.written()
	return nil
}

func (s *pauseStore) ClearPause(string) error {
	s.paused = false
	return nil
}

// A pause and a resume at once leave gate and ledger of one mind: else the gate is shut until a restart, or opens with it.
func TestPause_AndResumeAtOnceAgree(t *testing.T) {
	done := make(chan struct{})
	s := &pauseStore{}
	l := New(s, []ProviderSettings{{Name: "a", Provider: struct{ Provider }{}}}, Settings{}, slog.New(slog.DiscardHandler))
	s.written = func() {
		go func() {
			defer close(done)
			if _, err := l.Resume(context.Background(), "a", "second"); err != nil {
				t.Error(err)
			}
		}()
		select {
		case <-done:
		case <-time.After(100 * time.Millisecond): // it waits for us, as it should
		}
	}
	if _, err := l.Pause(context.Background(), "a", "first", "test"); err != nil {
		t.Fatal(err)
	}
	<-done
	if open := l.outlets["a"].open(); open == s.paused {
		t.Errorf("the gate is open: %t, the ledger says paused: %t", open, s.paused)
	}
}
