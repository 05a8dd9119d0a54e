package ledger

import (
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// troubles logs faults that come again for as long as they last, each kind at most now and then: a disk that is full must
// not be filled by the lines that say so.
type troubles struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds map[string]*rate.Sometimes // by message
}

// tell logs an error unless enough lines with the same message were written lately.
func (t *troubles) tell(message string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kinds == nil {
		t.kinds = map[string]*rate.Sometimes{}
	}
	kind := t.kinds[message]
	if kind == nil {
		kind = &rate.Sometimes{First: 5, Interval: 10 * time.Second}
		t.kinds[message] = kind
	}
	kind.Do(func() { t.log.Error(message, args...) })
}
