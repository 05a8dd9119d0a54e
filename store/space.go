package store

import (
	"sync"
	"time"
)

// space watches the free space of the ledger's file system. Claims stop below the reserve, so that there is always room
// to close what is in flight.
type space struct {
	folder  string
	reserve int64

	mu     sync.Mutex
	looked time.Time
	short  bool
}

const spaceLook = time.Second // at most one look in that time

func newSpace(folder string, reserve int64) *space { return &space{folder: folder, reserve: reserve} }

// low reports whether claims must wait. Where the free space cannot be read they need not.
func (s *space) low() bool {
	if s.reserve <= 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.looked.IsZero() || now.Sub(s.looked) >= spaceLook {
		free, err := freeSpace(s.folder)
		s.looked, s.short = now, err == nil && free < s.reserve
	}
	return s.short
}

// recheck makes the next look come at once: SQLite just said that there is no room.
func (s *space) recheck() {
	s.mu.Lock()
	s.looked = time.Time{}
	s.mu.Unlock()
}
