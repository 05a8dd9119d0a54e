package ledger

import "sync"

const (
	maxRecent      = 8192    // rows that are kept in memory: some 10 MB, 40 at most
	maxRecentBytes = 4 << 10 // of message and metadata; a larger row is read
)

// recent keeps rows that were claimed or asked for lately, since most repeats come soon after their event: such a repeat is
// answered without a read. It only ever answers "known": a key is never freed, so a row that was committed once stays true,
// and what it does not know is looked up. A row is replaced only by a newer version of itself.
type recent struct {
	mu    sync.Mutex
	rows  map[recentKey]*recentRow
	keys  map[int64]*recentRow // by Seq
	words map[EventHash]*recentRow
	ring  []recentKey // in order of arrival
	next  int
	epoch int64 // moves when suppressed repeats are written: what was read before may count fewer
}

type recentKey struct{ source, key string }

type recentRow struct {
	row   Notification
	stale bool // its count of repeats may have been written since: read it again

	words    EventHash // in which it was asked for last; zero: it was not, or nobody knows
	segments Segments  // of its text
	counter  string    // the provider that cuts the text so
}

// find returns the row under a key. Without one it returns the epoch to hand to read.
func (r *recent) find(source, key string) (n Notification, epoch int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.rows[recentKey{source, key}]; e != nil && !e.stale {
		return e.row, r.epoch, true
	}
	return Notification{}, r.epoch, false
}

// asked notes in which words a row was asked for, by an event that differs in nothing.
func (r *recent) asked(words EventHash, n *Notification, s Segments) {
	if words == (EventHash{}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.rows[recentKey{n.Source, n.DedupeKey}]
	if e == nil {
		return
	}
	if r.words == nil {
		r.words = map[EventHash]*recentRow{}
	}
	delete(r.words, e.words)
	e.words, e.segments, e.counter = words, s, n.Provider
	r.words[words] = e
}

// again returns the row that was asked for in these words before, and its segments.
func (r *recent) again(words EventHash) (Notification, Segments, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.words[words]
	if e == nil || e.stale || e.counter != e.row.Provider || e.row.ContentGone() {
		return Notification{}, Segments{}, false
	}
	return e.row, e.segments, true
}

// made keeps a row that was claimed just now, unless it has moved since: the loop may have read it from the store.
func (r *recent) made(n Notification) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.rows[recentKey{n.Source, n.DedupeKey}]; e == nil || e.row.Version < n.Version {
		r.insert(n, false)
	}
}

// read keeps a row that was read, unless repeats were written since its reading began.
func (r *recent) read(n Notification, epoch int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch != r.epoch {
		return
	}
	e := r.rows[recentKey{n.Source, n.DedupeKey}]
	switch {
	case e == nil:
		r.insert(n, false)
	case n.Version >= e.row.Version:
		e.row, e.stale = risen(n, &e.row), false
	}
}

// risen is a row with what only ever rises and moves no version: whoever saw less of it came first.
func risen(n Notification, old *Notification) Notification {
	n.Duplicates, n.DuplicateAt = max(n.Duplicates, old.Duplicates), later(n.DuplicateAt, old.DuplicateAt)
	n.Delivery = Higher(n.Delivery, old.Delivery)
	if n.Version == old.Version {
		n.UpdatedAt = later(n.UpdatedAt, old.UpdatedAt)
	}
	return n
}

// moved replaces a row with what a write made of it. One that was not kept is, but read again before it is shown: repeats of it
// may have been written meanwhile.
func (r *recent) moved(n Notification) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.rows[recentKey{n.Source, n.DedupeKey}]
	switch {
	case e == nil:
		r.insert(n, true)
	case n.Version >= e.row.Version:
		e.row = risen(n, &e.row)
	}
}

// proved replaces a row with what a receipt made of it. One that was not kept is not: reports come long after their events, and
// would drive out what was claimed lately. What is being read meanwhile is not kept either.
func (r *recent) proved(n Notification) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.rows[recentKey{n.Source, n.DedupeKey}]
	switch {
	case e == nil:
		r.epoch++
	case n.Version >= e.row.Version:
		e.row = risen(n, &e.row)
	}
}

// doubt marks a row that was changed by a write that does not return it.
func (r *recent) doubt(seq int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	if e := r.keys[seq]; e != nil {
		e.stale = true
	}
}

// forget drops what is kept of rows that were erased. Who read one of them before, or comes late with what a write made of it, does
// not bring it back.
func (r *recent) forget(erased []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	for _, seq := range erased {
		if e := r.keys[seq]; e != nil {
			delete(r.words, e.words)
			e.row = Notification{Seq: seq, Source: e.row.Source, DedupeKey: e.row.DedupeKey, Version: e.row.Version + 1}
			e.words, e.stale = EventHash{}, true
		}
	}
}

// counted notes repeats that were written. Counts only rise, so whoever is late changes nothing.
func (r *recent) counted(list []Counted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	for _, c := range list {
		if e := r.keys[c.Seq]; e != nil {
			row := &e.row
			row.Duplicates, row.DuplicateAt = max(row.Duplicates, c.Count), later(row.DuplicateAt, c.At)
		}
	}
}

func (r *recent) insert(n Notification, stale bool) {
	if len(n.Message)+len(n.Metadata) > maxRecentBytes {
		return
	}
	if r.rows == nil {
		r.rows, r.keys = map[recentKey]*recentRow{}, map[int64]*recentRow{}
	}
	k := recentKey{n.Source, n.DedupeKey}
	e := r.rows[k]
	switch {
	case e != nil:
		e.row, e.stale = n, stale
		return
	case len(r.ring) < maxRecent:
		r.ring = append(r.ring, k)
		e = new(recentRow)
	default: // in the place of the oldest
		old := r.ring[r.next]
		e = r.rows[old]
		delete(r.keys, e.row.Seq)
		delete(r.words, e.words)
		delete(r.rows, old)
		r.ring[r.next] = k
		r.next = (r.next + 1) % maxRecent
	}
	*e = recentRow{row: n, stale: stale}
	r.rows[k], r.keys[n.Seq] = e, e
}
