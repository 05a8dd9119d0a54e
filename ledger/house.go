package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

const (
	houseBatch   = 256
	unsteadyLook = 5 * time.Second
)

// houseAt makes the housekeeper look when a row's time comes, unless it looks before.
func (l *Ledger) houseAt(t time.Time) {
	if t.IsZero() || t.Sub(l.clock.now()) > idleLook {
		return // it looks at least once a minute, where something was written
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// keepHouse acts on rows that wait for something else than their first sending.
func (l *Ledger) keepHouse(ctx, work context.Context) {
	for ctx.Err() == nil {
		next, err := l.houseOnce(ctx, work)
		if err != nil && ctx.Err() == nil {
			l.troubles.Tell("housekeeping", "error", err)
			next = l.clock.now().Add(storeRetry)
		}
		sleep(ctx, l.wake, l.until(next))
	}
}

// houseOnce acts on every row whose time has come and returns when to look again.
func (l *Ledger) houseOnce(ctx, work context.Context) (time.Time, error) {
	c := l.store.Condition()
	now := l.clock.now()
	switch {
	case c.Restored:
		return time.Time{}, nil
	case c.Err != nil && !errors.Is(c.Err, ErrStorageLow), l.unclosed.Load() > 0:
		return now.Add(storeRetry), nil
	case !l.clock.steady():
		return now.Add(unsteadyLook), nil
	}
	if next, ok := l.house.known(l.store.Commits(), now); ok {
		return next, nil
	}
	l.house = house{}
	limit := houseBatch
	for ctx.Err() == nil {
		commits := l.store.Commits()
		rows, err := l.store.Waiting(ctx, now, limit)
		if err != nil {
			return time.Time{}, err
		}
		moved := 0
		for _, n := range rows {
			if ctx.Err() != nil {
				return time.Time{}, nil
			}
			ok, err := l.act(ctx, work, n)
			if err != nil {
				return time.Time{}, err
			}
			if ok {
				moved++
			}
		}
		if len(rows) < limit {
			next, err := l.store.NextWaiting(ctx, now)
			if moved < len(rows) { // some wait for a provider
				next = earlier(next, now.Add(unsteadyLook))
			}
			if err == nil && len(rows) == 0 { // what was begun may come to nothing, and wait here again
				l.house = house{glance{commits, now}, next}
			}
			return next, err
		}
		if moved == 0 { // all of them wait for a provider: look behind them
			limit *= 2
		}
	}
	return time.Time{}, nil
}

// act does a row's next action; false: it has to wait.
func (l *Ledger) act(ctx, work context.Context, n Notification) (bool, error) {
	now := l.clock.now()
	switch {
	case !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now):
		return true, l.expire(n, now)
	case n.State != StateAmbiguous:
		return true, nil
	case n.NextAction == DoRepeat:
		return l.startRepeat(work, n)
	case n.NextAction == DoLookUp:
		return l.startLook(work, n)
	case n.NextAction == DoPolicy:
		return true, l.policy(ctx, n, now)
	}
	return true, l.reschedule(n, l.repeatWait(0))
}

// expire ends a row whose time is over. What may have been sent is abandoned, not called expired.
func (l *Ledger) expire(n Notification, now time.Time) error {
	cause := CauseExpire
	if n.State == StateAmbiguous {
		cause = CauseAbandon
	}
	return l.byItself(n, cause, actorSelf, "expires_at has passed", func(c *Change) {
		c.NextAction, c.DueAt, c.Reason = DoNothing, time.Time{}, ""
		if cause == CauseAbandon {
			c.Reason = ReasonExpiredUnknown
		}
	}, now)
}

// policy does what the configuration decided for rows of this kind: once evidence has ended.
func (l *Ledger) policy(ctx context.Context, n Notification, now time.Time) error {
	r := l.rulesOf(n.Channel, n.EventType)
	actor := policyActor + r.policy
	switch r.onAmbiguous {
	case OnAmbiguousAbandon:
		return l.byItself(n, CauseAbandon, actor, "on_ambiguous: abandon", func(c *Change) { c.failed(ReasonAbandoned) }, now)
	case OnAmbiguousAssumeSent:
		return l.byItself(n, CauseConfirm, actor, "on_ambiguous: assume_sent", func(c *Change) { c.sent("", ReasonAssumed) }, now)
	case OnAmbiguousSendAgain:
		rec, err := l.store.Get(ctx, n.ID)
		if err != nil {
			return err
		}
		if n.ContentGone() || sentAgain(rec.Settlements) || unknownOf(&rec).probably {
			return l.ask(n)
		}
		return l.byItself(n, CauseRelease, actor, "on_ambiguous: send_again", func(c *Change) {
			c.claimed(ReasonReleased, now, n.ExpiresAt) // maybe_sent stays: only a person clears it
			c.Deferrals, c.Tried = 0, ""
			l.settleIn(c, n)
		}, now)
	}
	return l.ask(n)
}

// sentAgain reports whether a policy released the row before: it may do so once in a row's life.
func sentAgain(list []Settlement) bool {
	for _, s := range list {
		if s.Action == CauseRelease && s.byPolicy() {
			return true
		}
	}
	return false
}

// ask leaves a row to its provider, while that may be asked, and to a person until it expires.
func (l *Ledger) ask(n Notification) error {
	u, wait := l.unknownOf(n), l.repeatWait(n.Deferrals)
	return l.change(n, func(c *Change) { c.NextAction, c.DueAt = l.nextAsking(n, wait, u) })
}

// reschedule finds a row's next piece of evidence anew, with a repeat not before wait.
func (l *Ledger) reschedule(n Notification, wait time.Duration) error {
	return l.wait(n, wait, l.unknownOf(n))
}

// wait gives a row its next piece of evidence by what its history says.
func (l *Ledger) wait(n Notification, wait time.Duration, u unknown) error {
	return l.change(n, func(c *Change) { c.NextAction, c.DueAt = l.nextEvidence(n, wait, u) })
}

// change moves only next action and due time of a row, without a settlement. The housekeeper hears of it: it may have counted
// on the old time.
func (l *Ledger) change(n Notification, set func(*Change)) error {
	row, err := l.settle(n.ID, func(cur Notification) (Change, error) {
		if cur.Version != n.Version {
			return Change{}, nil
		}
		c := keep(cur, l.clock.now())
		set(&c)
		return c, nil
	})
	if err == nil && row.NextAction != DoSend {
		l.houseAt(row.DueAt)
	}
	return err
}

// byItself settles a row in the ledger's own name, unless somebody moved it meanwhile.
func (l *Ledger) byItself(n Notification, cause Cause, actor, why string, set func(*Change), now time.Time) error {
	moved := false
	row, err := l.settle(n.ID, func(cur Notification) (Change, error) {
		to, ok := Next(cur.State, cause, cur.MaybeSent)
		if moved = !ok || cur.Version != n.Version; moved {
			return Change{}, nil
		}
		c := keep(cur, now)
		set(&c)
		c.State = to
		evidence, err := json.Marshal(map[string]int{"attempts": cur.AttemptCount})
		if err != nil {
			return Change{}, err
		}
		c.Settlement = &Settlement{At: now, Action: cause, From: cur.State, To: to, Actor: actor, Reason: why, Evidence: evidence}
		return c, nil
	})
	if err != nil || moved {
		return err
	}
	if strings.HasPrefix(actor, policyActor) {
		l.tallyOf(&row).count(row.UpdatedAt, func(s *slot) { s.ByPolicy++ })
	}
	l.log.Info("settled", "id", row.ID, "action", cause, "actor", actor, "state", row.State, "reason", row.Reason)
	l.waiters.ended(row)
	l.moveOn(row)
	return nil
}
