package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// attempts looks at the attempts by themselves: numbers, the open one, and that no two ran at once.
func (c *checker) attempts() {
	n := &c.row.Notification
	list := c.row.Attempts
	if n.AttemptCount != len(list) {
		c.report(RuleAttemptCount, fmt.Sprintf("the row counts %d attempts, there are %d", n.AttemptCount, len(list)))
	}
	open, accepted := 0, 0
	for i := range list {
		a := &list[i]
		if a.Number != i+1 {
			c.report(RuleAttemptGap, fmt.Sprintf("attempt %d stands where %d should", a.Number, i+1))
			return
		}
		if i > 0 && (list[i-1].Open() || a.StartedAt.Before(list[i-1].EndedAt)) {
			c.report(RuleOverlap, fmt.Sprintf("attempt %d began before attempt %d had ended", a.Number, a.Number-1))
		}
		if a.Open() {
			open++
			if n.State != StateSending {
				c.report(RuleAttemptOpen, fmt.Sprintf("attempt %d is open, and the row is %s", a.Number, n.State))
			}
		} else if a.Outcome == Accepted {
			accepted++
		}
	}
	if n.State == StateSending && open == 0 {
		c.report(RuleNoOpenAttempt, "the row is sending, and none of its attempts is open")
	}
	if accepted > 1 && !provenTwice(c.row.Settlements) {
		c.report(RuleAcceptedTwice, fmt.Sprintf("%d attempts were accepted", accepted))
	}
}

// provenTwice reports whether a settlement notes a second message.
func provenTwice(list []Settlement) bool {
	return slices.ContainsFunc(list, func(s Settlement) bool { return s.Action == CauseProof && s.From == StateSent })
}

// times looks for times that lie before what they must follow. A proof has the time of its arrival, and may be written
// behind something that happened later.
func (c *checker) times() {
	n := &c.row.Notification
	after := func(what string, t, than time.Time) {
		if !t.IsZero() && t.Before(than) {
			c.report(RuleTimes, what)
		}
	}
	last := n.ClaimedAt
	for i := range c.row.Attempts {
		a := &c.row.Attempts[i]
		after(fmt.Sprintf("attempt %d began before the claim", a.Number), a.StartedAt, n.ClaimedAt)
		after(fmt.Sprintf("attempt %d ended before it began", a.Number), a.EndedAt, a.StartedAt)
		last = later(last, later(a.StartedAt, a.EndedAt))
	}
	settled, proven := n.ClaimedAt, len(c.row.Receipts) > 0
	for _, s := range c.row.Settlements {
		if s.Action == CauseProof {
			proven = true
			continue
		}
		after("settlement "+string(s.Action)+" lies before the claim or the settlement before it", s.At, settled)
		if s.Action == CauseReveal { // changes nothing of the row
			continue
		}
		settled = later(settled, s.At)
	}
	after("confirmed_at lies before the claim", n.ConfirmedAt, n.ClaimedAt)
	after("updated_at lies before the claim", n.UpdatedAt, n.ClaimedAt)
	if !proven && !n.UpdatedAt.Before(n.ClaimedAt) {
		after("updated_at lies before the last change", n.UpdatedAt, later(last, settled))
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// standing looks at what the row says beside its state.
func (c *checker) standing() {
	n := &c.row.Notification
	c.words()
	if n.State == StateFailed && !c.failedFor(n.Reason) {
		c.report(RuleFailedBlind, fmt.Sprintf("nothing in its history fails the row for %q", n.Reason))
	}
	if end := c.endOfAge(); end != nil && (n.ExpiresAt.IsZero() || end.At.Before(n.ExpiresAt)) {
		c.report(RuleExpiredEarly, "the row was ended for its age before expires_at")
	}
}

// words looks at what may stand beside a state, whatever came before.
func (c *checker) words() {
	n := &c.row.Notification
	if (n.State == StateSent) == n.ConfirmedAt.IsZero() {
		c.report(RuleConfirmedAt, "the row is "+string(n.State)+", and confirmed_at is "+set(!n.ConfirmedAt.IsZero()))
	}
	if n.Reason != "" && !slices.Contains(Reasons[n.State], n.Reason) {
		c.report(RuleReason, "the reason "+string(n.Reason)+" may not stand beside "+string(n.State))
	}
}

// endOfAge is the settlement that ended the row for its age, or nil. One that was released since had another expires_at then.
func (c *checker) endOfAge() *Settlement {
	by := CauseExpire
	switch {
	case c.row.Reason == ReasonExpiredUnknown:
		by = CauseAbandon
	case c.row.State != StateExpired:
		return nil
	}
	for i := len(c.row.Settlements) - 1; i >= 0; i-- {
		if s := &c.row.Settlements[i]; s.Action == by {
			return s
		}
	}
	return nil
}

func set(is bool) string {
	if is {
		return "set"
	}
	return "not set"
}

// failedFor reports whether the history has what a failed row's reason speaks of.
func (c *checker) failedFor(r Reason) bool {
	settled := func(by Cause) bool {
		return slices.ContainsFunc(c.row.Settlements, func(s Settlement) bool { return s.Action == by && s.To == StateFailed })
	}
	attempted := func(o Outcome) bool {
		return slices.ContainsFunc(c.row.Attempts, func(a Attempt) bool { return !a.Open() && a.Outcome == o })
	}
	switch r {
	case ReasonRejected:
		return attempted(Rejected)
	case ReasonExhausted:
		return attempted(Deferred)
	case ReasonUnbuildable:
		return settled(CauseUnbuildable)
	case ReasonAbandoned, ReasonExpiredUnknown:
		return settled(CauseAbandon)
	}
	return false
}

// messageIDs looks for ids that nothing of this row brought.
func (c *checker) messageIDs() {
	n := &c.row.Notification
	byPerson := slices.ContainsFunc(c.row.Settlements, func(s Settlement) bool { return s.Action == CauseConfirm && !s.byPolicy() })
	brought := func(id string, number int) bool {
		return byPerson || slices.ContainsFunc(c.row.Receipts, func(r Receipt) bool { return r.MessageID == id }) ||
			slices.ContainsFunc(c.row.Attempts, func(a Attempt) bool { return a.MessageID == id || a.Number == number && a.mayHold(id) })
	}
	if n.MessageID != "" && !brought(n.MessageID, 0) {
		c.report(RuleMessageID, "nothing of this row brought its message id")
	}
	for _, m := range c.row.MessageIDs {
		if m.Number < 0 || m.Number > len(c.row.Attempts) || !n.ContentGone() && !brought(m.ID, m.Number) {
			c.report(RuleMessageID, fmt.Sprintf("a message id is listed for attempt %d, which did not bring it", m.Number))
		}
	}
}

// receipts compares the delivery with what came. While the row is sending a receipt waits for the end of its attempt.
func (c *checker) receipts() {
	n := &c.row.Notification
	top := -1
	for _, r := range c.row.Receipts {
		if r.Number < 0 || r.Number > len(c.row.Attempts) {
			c.report(RuleReceiptAttempt, fmt.Sprintf("a receipt proves attempt %d of %d", r.Number, len(c.row.Attempts)))
		} else {
			c.matched(&r)
		}
		top = max(top, slices.Index(Deliveries, r.Delivery))
	}
	has := slices.Index(Deliveries, n.Delivery)
	if has > top || has < top && n.State != StateSending {
		highest := "nothing"
		if top >= 0 {
			highest = string(Deliveries[top])
		}
		c.report(RuleDelivery, fmt.Sprintf("the row says %q, its receipts say %s", n.Delivery, highest))
	}
}

// matched compares a receipt with the attempt that it was given to. A person may have brought any id under any provider.
func (c *checker) matched(r *Receipt) {
	if r.MessageID != "" && !slices.ContainsFunc(c.row.MessageIDs, func(m MessageID) bool {
		return m.ID == r.MessageID && m.Provider == r.Provider && m.Number == r.Number
	}) {
		c.report(RuleReceiptForeign, fmt.Sprintf("a receipt is about a message id that attempt %d does not have", r.Number))
	}
	byPerson := slices.ContainsFunc(c.row.Settlements, func(s Settlement) bool { return s.Action == CauseConfirm && !s.byPolicy() })
	if r.Number > 0 && c.row.Attempts[r.Number-1].Provider != r.Provider && !byPerson {
		c.report(RuleReceiptForeign, fmt.Sprintf("a receipt of %s proves attempt %d, which another provider was handed", r.Provider, r.Number))
	}
}

// byPolicy reports whether the configuration settled a row, and no person.
func (s *Settlement) byPolicy() bool { return strings.HasPrefix(s.Actor, policyActor) }

// mayHold reports whether an id may stand in the attempt's answer: a long text has one for each part, of which only the
// first is the attempt's own. An answer that was not kept, or not whole, may hold anything.
func (a *Attempt) mayHold(id string) bool {
	return a.Answer == nil || len(a.Answer) >= MaxAnswerBytes || bytes.Contains(a.Answer, []byte(id))
}
