package ledger

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// maxNear bounds how many contents the watch remembers.
const maxNear = 100_000

// nearWatch remembers what was claimed lately, to show the same content that comes again under another key:
// the sign of a caller that makes a fresh key for each try. It is a hint, kept in memory only.
type nearWatch struct {
	window time.Duration

	mu   sync.Mutex
	seen map[nearKey]nearSeen
	ring []nearKey // in order of claiming
	next int
}

type nearKey struct {
	source string
	hash   [16]byte
}

type nearSeen struct {
	id uuid.UUID
	at time.Time
}

func newNearWatch(window time.Duration) *nearWatch {
	return &nearWatch{window: window, seen: map[nearKey]nearSeen{}}
}

// find returns the row that had the same content within the window; zero: none.
func (w *nearWatch) find(source string, hash [16]byte, now time.Time) uuid.UUID {
	if w.window <= 0 {
		return uuid.Nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.seen[nearKey{source, hash}]; ok && now.Sub(s.at) <= w.window {
		return s.id
	}
	return uuid.Nil
}

// add remembers a claimed row.
func (w *nearWatch) add(source string, hash [16]byte, id uuid.UUID, at time.Time) {
	if w.window <= 0 {
		return
	}
	k := nearKey{source, hash}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, again := w.seen[k]; !again {
		if len(w.ring) < maxNear {
			w.ring = append(w.ring, k)
		} else {
			delete(w.seen, w.ring[w.next])
			w.ring[w.next] = k
			w.next = (w.next + 1) % maxNear
		}
	}
	w.seen[k] = nearSeen{id, at}
}
