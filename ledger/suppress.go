package ledger

import "sync"

// maxSuppressed bounds the list that waits for its commit; beyond it repeats are still answered, but not counted.
const maxSuppressed = 50_000

// suppressions collects repeats that sent nothing until the housekeeper writes them, so that a repeat costs a read.
type suppressions struct {
	wake chan struct{} // there is something to write

	mu    sync.Mutex
	list  []Suppressed
	count map[int64]int64 // by row, not written yet
}

func (s *suppressions) add(r Suppressed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) >= maxSuppressed {
		return
	}
	if s.count == nil {
		s.count = map[int64]int64{}
	}
	s.list = append(s.list, r)
	s.count[r.Seq]++
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// addTo adds to a row that was read what is not written yet.
func (s *suppressions) addTo(n *Notification) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.count[n.Seq]; c > 0 {
		n.Duplicates += c
		for i := len(s.list) - 1; i >= 0; i-- {
			if s.list[i].Seq == n.Seq {
				n.DuplicateAt = s.list[i].At
				break
			}
		}
	}
}

// take empties the list for writing.
func (s *suppressions) take() []Suppressed {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list, s.count = nil, nil
	return list
}
