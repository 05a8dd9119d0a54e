package ledger

import "time"

// glanceMax is how long a glance is trusted at most. The loop needs no such bound; it is for a hand that changes the file of a
// running service by other means.
const glanceMax = time.Hour

// glance is when the store was read and nothing was due. What is due later is so at the time that the reading gave, or is written
// first: by this process, through the store's one writer. So a loop that wakes with neither asks the store nothing, however many
// rows wait.
type glance struct {
	commits int64     // of the store, before it was read
	at      time.Time // zero: not read yet
}

// stale reports whether the store may hold what the glance did not see.
func (g *glance) stale(commits int64, now time.Time) bool {
	return g.at.IsZero() || g.commits != commits || now.Sub(g.at) >= glanceMax
}

// lookAgain makes the outlet read the store, unless it did since the last commit.
func (l *Ledger) lookAgain(o *outlet) {
	if commits, now := l.store.Commits(), l.clock.now(); o.seen.stale(commits, now) {
		o.seen = glance{commits, now}
		o.look()
	}
}

// house is what the housekeeper knows of the rows that wait.
type house struct {
	seen glance
	next time.Time // when the first of them is due; zero: none
}

// known returns when to look again, if nothing is due and the store need not be asked.
func (h *house) known(commits int64, now time.Time) (next time.Time, ok bool) {
	return h.next, !h.seen.stale(commits, now) && (h.next.IsZero() || now.Before(h.next))
}
