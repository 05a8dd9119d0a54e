package ledger_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// hook is an operator that keeps what it was told.
type hook struct {
	mu     sync.Mutex
	tried  []ledger.Alert // each time
	taken  []ledger.Alert
	answer func(context.Context) error // nil: it takes everything
}

func (h *hook) Tell(ctx context.Context, a ledger.Alert, _ time.Time) error {
	h.mu.Lock()
	h.tried = append(h.tried, a)
	answer := h.answer
	h.mu.Unlock()
	if answer != nil {
		if err := answer(ctx); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken = append(h.taken, a)
	return nil
}

func (h *hook) then(answer func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

// of lists what was taken of one kind.
func (h *hook) of(kind ledger.AlertKind) (list []ledger.Alert) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.taken {
		if a.Kind == kind {
			list = append(list, a)
		}
	}
	return list
}

// tries is how often it was called.
func (h *hook) tries() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tried)
}

// alerts is bubble with an operator and a log that is kept.
func alerts(t *testing.T, set func(*rig), body func(*testing.T, *rig, *hook, *lines)) {
	t.Helper()
	var log lines
	h := &hook{}
	bubble(t, func(r *rig) {
		r.log, r.settings.Operator = log.logger(), h
		if set != nil {
			set(r)
		}
	}, func(t *testing.T, r *rig) { body(t, r, h, &log) })
}
