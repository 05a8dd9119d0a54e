package ledger

import "time"

// ShiftWall sets the wall clock of a running ledger off by d against the monotonic clock; zero sets it right.
func (l *Ledger) ShiftWall(d time.Duration) {
	l.clock.mu.Lock()
	defer l.clock.mu.Unlock()
	l.clock.wall = func() time.Time { return time.Now().Add(d) }
}

// Steady reports whether the ledger's clock lets expiry, windows and policies act.
func (l *Ledger) Steady() bool { return l.clock.steady() }

// SetRandom fixes the jitter of waits: 0 shortens by a fifth, 0.5 leaves them as they are.
func (l *Ledger) SetRandom(random func() float64) { l.random = random }

// GuessNew makes the ledger take the next event for a new one.
func (l *Ledger) GuessNew() { l.guesses.off.Store(readsAfterRepeat) }

// StateRoom is how many messages of a provider wait to be asked for.
const StateRoom = stateRoom

// NoteAccepted notes a message as a provider's yes does.
func (l *Ledger) NoteAccepted(provider, messageID string) {
	l.outlets[provider].states.add(0, stateAsk{messageID, l.clock.now()})
}

// Watching counts those who are told of changes.
func (l *Ledger) Watching() int { return int(l.watchers.count.Load()) }

// TellWatchers tells of a row as a write does.
func (l *Ledger) TellWatchers(n *Notification) { l.watchers.row(n) }

// Tally counts a claim, a repeat and an attempt of a row.
func (l *Ledger) Tally(n *Notification) {
	t := l.tallyOf(n)
	t.count(n.ClaimedAt, func(s *slot) { s.Claims++ })
	t.repeat(n.ClaimedAt, 1)
	t.attempt(&Attempt{StartedAt: n.ClaimedAt, EndedAt: n.UpdatedAt, Outcome: Accepted, Phase: Answered})
}
