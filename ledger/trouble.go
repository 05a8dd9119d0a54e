package ledger

import (
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Troubles logs faults that come again for as long as they last, each kind at most now and then: a disk that is full must
// not be filled by the lines that say so. The zero value is not usable: see NewTroubles.
type Troubles struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds map[string]*rate.Sometimes // by message
}

// NewTroubles makes one that writes to log.
func NewTroubles(log *slog.Logger) *Troubles {
	return &Troubles{log: log, kinds: map[string]*rate.Sometimes{}}
}

// Tell logs an error unless enough lines with the same message were written lately: after the first five of a kind, one
// each ten seconds.
func (t *Troubles) Tell(message string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kind := t.kinds[message]
	if kind == nil {
		kind = &rate.Sometimes{First: 5, Interval: 10 * time.Second}
		t.kinds[message] = kind
	}
	kind.Do(func() { t.log.Error(message, args...) })
}
