package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const presenceLook = time.Second // at most one look in that time

var errLogGone = errors.New("somebody removed or replaced the log (-wal) or its index (-shm) under the running service: stop it, but not with kill -9, so that its end takes to the database what only the log has")

// presence watches that the paths of the ledger's files still lead to those that are open. When somebody removes or replaces one, SQLite
// writes on into one that nobody will find again: the log has what was acknowledged lately, and its index the locks that a visiting shell
// sees.
type presence struct {
	files []present

	mu     sync.Mutex
	looked time.Time
	fault  error
}

type present struct {
	path string
	info os.FileInfo
	gone error // what is said without it
}

// newPresence remembers the database file. ErrLinked: it has a second name, under which another process could open it with another log.
func newPresence(path string) (*presence, error) {
	p := &presence{}
	if err := p.watch(path, fmt.Errorf("somebody removed or replaced the file of the running service: %w", ErrMissing)); err != nil {
		return nil, err
	}
	if links(p.files[0].info) > 1 {
		return nil, ErrLinked
	}
	return p, nil
}

// watch remembers one more file, before the first look.
func (p *presence) watch(path string, gone error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	p.files = append(p.files, present{path, info, gone})
	return nil
}

// look says what is wrong when the path of a file leads somewhere else or nowhere. A path that cannot be looked at says nothing.
func (p *presence) look() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.looked) >= presenceLook {
		p.looked, p.fault = now, nil
		for _, f := range p.files {
			info, err := os.Stat(f.path)
			if os.IsNotExist(err) || err == nil && !os.SameFile(info, f.info) {
				p.fault = f.gone
				break
			}
		}
	}
	return p.fault
}
