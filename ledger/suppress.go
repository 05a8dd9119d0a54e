package ledger

import (
	"context"
	"sync"
	"time"
)

const (
	maxSuppressed = 50_000                 // rows with repeats that wait for their commit; a repeat of a further one is answered, but not counted
	flushPause    = 500 * time.Millisecond // a suppressed repeat is written within a second
	crowded       = 2_000                  // entries that wait; beyond it a row lists only its newest repeat, so that a storm of them costs little
)

// suppressions collects repeats that sent nothing until the housekeeper writes them, so that a repeat costs a read at most.
type suppressions struct {
	wake chan struct{} // there is something to write

	mu      sync.Mutex
	rows    map[int64]*suppressedRow
	writing map[int64]*suppressedRow // what take handed out and is not known to be written
	listed  int
}

type suppressedRow struct {
	count int64
	list  []Suppressed // the newest last, at most MaxDuplicates
}

func (s *suppressions) add(r Suppressed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *suppressions) note(r Suppressed) {
	row := s.rows[r.Seq]
	if row == nil {
		if len(s.rows) >= maxSuppressed {
			return
		}
		if s.rows == nil {
			s.rows = map[int64]*suppressedRow{}
		}
		row = &suppressedRow{}
		s.rows[r.Seq] = row
	}
	row.count += max(r.Count, 1)
	r.Count = 1
	switch {
	case len(row.list) > 0 && s.listed >= crowded:
		row.list[len(row.list)-1] = r
	case len(row.list) >= MaxDuplicates:
		row.list = append(row.list[1:], r)
	default:
		row.list = append(row.list, r)
		s.listed++
	}
}

// addTo adds to a row that was read what is not written yet.
func (s *suppressions) addTo(n *Notification) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rows := range []map[int64]*suppressedRow{s.writing, s.rows} {
		if row := rows[n.Seq]; row != nil {
			n.Duplicates += row.count
			n.DuplicateAt = row.last()
		}
	}
}

func (r *suppressedRow) last() time.Time { return r.list[len(r.list)-1].At }

// take empties the collection for writing; written or giveBack must follow. The first entry of a row stands for the repeats that
// are not listed too.
func (s *suppressions) take() []Suppressed {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = s.rows
	return s.empty()
}

func (s *suppressions) empty() []Suppressed {
	list := make([]Suppressed, 0, s.listed)
	for _, row := range s.rows {
		row.list[0].Count = row.count - int64(len(row.list)-1)
		list = append(list, row.list...)
	}
	s.rows, s.listed = nil, 0
	return list
}

// written forgets what take handed out.
func (s *suppressions) written() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = nil
}

// giveBack takes what could not be written: it is older than what came meanwhile.
func (s *suppressions) giveBack(list []Suppressed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = nil
	newer := s.empty()
	for _, r := range append(list, newer...) {
		s.note(r)
	}
}

// keepRepeats writes suppressed repeats, some at a time, and tries again what can't be written: no further repeat may come.
func (l *Ledger) keepRepeats(ctx context.Context) {
	for ctx.Err() == nil {
		if !await(ctx, l.repeats.wake) {
			return
		}
		sleep(ctx, nil, flushPause)
		for err := l.Flush(); err != nil && ctx.Err() == nil; err = l.Flush() {
			l.troubles.Tell("suppressed repeats are not written yet", "error", err)
			sleep(ctx, nil, storeRetry)
		}
	}
}

// Flush writes what repeats were answered without a send and was not written yet. Run does so by itself, up to its end.
func (l *Ledger) Flush() error {
	list := l.repeats.take()
	if len(list) == 0 {
		return nil
	}
	counted, err := l.store.Suppress(list)
	if err != nil {
		l.repeats.giveBack(list)
		return err
	}
	l.recent.counted(counted)
	l.repeats.written()
	return nil
}
