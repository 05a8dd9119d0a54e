package ledger

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"

	"github.com/google/uuid"
)

// maxNear bounds how many contents the watch remembers.
const maxNear = 100_000

// nearWatch remembers what was claimed lately, to show the same content that comes again under another key:
// the sign of a caller that makes a fresh key for each try. It is a hint, kept in memory only, and without pointers, so that
// the garbage collector has nothing to look at.
type nearWatch struct {
	window time.Duration
	seed   maphash.Seed

	mu   sync.Mutex
	seen map[nearKey]nearSeen
	ring []nearKey // in order of claiming
	next int
}

// nearKey is a content hash with its source mixed in.
type nearKey [16]byte

type nearSeen struct {
	id        uuid.UUID
	dedupeKey uint64 // its hash
	at        int64  // Unix milliseconds
}

func newNearWatch(window time.Duration) *nearWatch {
	return &nearWatch{window: window, seed: maphash.MakeSeed(), seen: map[nearKey]nearSeen{}}
}

func (w *nearWatch) key(n *Notification) nearKey {
	k := nearKey(n.ContentHash)
	if n.Source != "" {
		binary.NativeEndian.PutUint64(k[:], binary.NativeEndian.Uint64(k[:])^maphash.String(w.seed, n.Source))
	}
	return k
}

func (w *nearWatch) entry(n *Notification, at time.Time) nearSeen {
	return nearSeen{id: n.ID, dedupeKey: maphash.String(w.seed, n.DedupeKey), at: at.UnixMilli()}
}

// find returns the row that had the same content under another key within the window; zero: none. Then a row that is about to be
// claimed stands in its place at once, so that two at the same time see each other; add or drop must follow. Not where it is only
// guessed that the event is new: others would be said to look like a row that never was.
func (w *nearWatch) find(n *Notification, now time.Time, guess bool) uuid.UUID {
	if w.window <= 0 {
		return uuid.Nil
	}
	k, mine := w.key(n), w.entry(n, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.seen[k]; ok && mine.at-s.at <= w.window.Milliseconds() {
		if s.dedupeKey == mine.dedupeKey { // the same event twice at once: one of them will find the other's row
			return uuid.Nil
		}
		return s.id
	}
	if !guess {
		w.put(k, mine)
	}
	return uuid.Nil
}

// add remembers a claimed row.
func (w *nearWatch) add(n *Notification) {
	if w.window <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(w.key(n), w.entry(n, n.ClaimedAt))
}

// drop forgets a row that was not claimed after all.
func (w *nearWatch) drop(n *Notification) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.key(n); w.seen[k].id == n.ID {
		delete(w.seen, k)
	}
}

func (w *nearWatch) put(k nearKey, s nearSeen) {
	if _, again := w.seen[k]; !again {
		if len(w.ring) < maxNear {
			w.ring = append(w.ring, k)
		} else {
			delete(w.seen, w.ring[w.next])
			w.ring[w.next] = k
			w.next = (w.next + 1) % maxNear
		}
	}
	w.seen[k] = s
}
