package store

import (
	"os"
	"sync"
	"time"
)

const presenceLook = time.Second // at most one look in that time

// presence watches that the ledger's path still leads to the file that is open. When somebody removes or replaces that file,
// SQLite writes on into one that nobody will find again.
type presence struct {
	path string
	file os.FileInfo

	mu     sync.Mutex
	looked time.Time
	lost   bool
}

// newPresence remembers the file. ErrLinked: it has a second name, under which another process could open it with another log.
func newPresence(path string) (*presence, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if links(info) > 1 {
		return nil, ErrLinked
	}
	return &presence{path: path, file: info}, nil
}

// gone reports whether the path leads somewhere else or nowhere. A path that cannot be looked at says nothing.
func (p *presence) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.looked) >= presenceLook {
		info, err := os.Stat(p.path)
		p.looked, p.lost = now, os.IsNotExist(err) || err == nil && !os.SameFile(info, p.file)
	}
	return p.lost
}
