package ledger

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// closeAttempt writes what is known of an attempt and moves the row as decideClose says. It is tried until it is
// written: meanwhile nothing is taken, and what a process that dies leaves open is ambiguous at the next start.
func (l *Ledger) closeAttempt(work context.Context, o *outlet, n Notification, a Attempt, r Result, again bool) (Notification, bool) {
	a.EndedAt = l.clock.now()
	a.Outcome, a.Phase, a.Status, a.Code, a.Error, a.Answer = r.Outcome, r.Phase, r.Status, r.Code, r.Error, r.Answer
	if len(r.MessageIDs) > 0 && r.Outcome == Accepted || r.Reason == ReasonPartial && len(r.MessageIDs) > 0 {
		a.MessageID = r.MessageIDs[0]
	}
	in := closing{row: n, attempt: a, result: r, again: again, next: l.failOver(o, n), ladder: l.ladderOf(n.Channel), random: l.random()}
	if in.next == "" {
		in.first = l.firstChoice(n)
	}
	u := unknown{since: a.EndedAt}
	if r.Reason == ReasonPartial {
		u.looks = noLooks
	}
	in.unknownAction, in.unknownDue = l.nextEvidence(n, l.repeatWait(0), u)
	if a.Kind == KindRepeat {
		in.unknownAction, in.unknownDue = l.nextEvidence(n, l.repeatWait(n.Deferrals+1), l.unknownOf(n))
	}
	c := Closing{Notification: n, Attempt: a, MessageIDs: r.MessageIDs}
	var settled *Settlement
	row, err := l.writeClose(work, c, func(f CloseFacts) Change {
		change := decideClose(in, f)
		settled = change.Settlement
		return change
	})
	if err != nil {
		l.log.Error("close", "id", n.ID, "attempt", a.Number, "error", err)
		return Notification{}, false
	}
	Reach(PointClosed)
	o.tally.attempt(&a)
	if a.Kind == KindRepeat && row.State == StateSent {
		o.tally.count(a.EndedAt, func(s *slot) { s.ByEvidence++ })
	}
	l.tellRow(&n, &row)
	l.tellProof(&row, settled)
	l.logAttempt(row, a)
	return row, true
}

// writeClose keeps trying until the store has the close, or the process has been told to end and the store has had its grace.
func (l *Ledger) writeClose(work context.Context, c Closing, decide func(CloseFacts) Change) (Notification, error) {
	row, err := l.store.Close(c, decide)
	if err == nil || errors.Is(err, ErrMoved) {
		return row, err
	}
	l.unclosed.Add(1)
	defer l.unclosed.Add(-1)
	var stopping time.Time
	for {
		l.troubles.Tell("close is not written yet", "id", c.ID, "attempt", c.Number, "error", err)
		time.Sleep(storeRetry)
		row, err = l.store.Close(c, decide)
		if err == nil || errors.Is(err, ErrMoved) {
			return row, err
		}
		if work.Err() != nil {
			if stopping.IsZero() {
				stopping = l.clock.now()
			}
			if l.clock.now().Sub(stopping) >= closeGrace {
				return Notification{}, err
			}
		}
	}
}

// logAttempt writes the one line of an attempt.
func (l *Ledger) logAttempt(n Notification, a Attempt) {
	level := slog.LevelInfo
	if a.Outcome == Accepted { // the ledger has it, and a line for each message would drown the others
		level = slog.LevelDebug
	}
	if !l.log.Enabled(context.Background(), level) {
		return
	}
	l.log.Log(context.Background(), level, "attempt", "id", n.ID, "number", a.Number, "kind", a.Kind, "provider", a.Provider, "channel", n.Channel,
		"outcome", a.Outcome.String(), "phase", a.Phase, "status", a.Status, "code", a.Code, "error", a.Error,
		"ms", a.EndedAt.Sub(a.StartedAt).Milliseconds(), "state", n.State, "reason", n.Reason)
}
