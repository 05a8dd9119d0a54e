package ledger

import (
	"slices"
	"time"
	"unicode/utf8"
)

// actorSelf is the actor of what the ledger does by itself; policyActor begins that of what the configuration decided.
const (
	actorSelf   = "sendonce"
	policyActor = "policy:"
)

// closing is all that a decision about a closed attempt depends on. It holds no clock and no randomness of its own.
type closing struct {
	row     Notification // as the take left it: sending
	attempt Attempt      // ended
	result  Result
	next    string // an open provider of the channel that was not tried since the last wait; empty: none
	first   string // the provider to try first after a wait
	again   bool   // the request was an earlier attempt's, its reference included
	ladder  []time.Duration
	random  float64

	unknownAction NextAction // what an ambiguous row does next
	unknownDue    time.Time
}

// decideClose says what becomes of a row whose attempt has ended.
func decideClose(in closing, f CloseFacts) Change {
	c := keep(in.row, in.attempt.EndedAt)
	if f.Highest != NoDelivery {
		c.Delivery = f.Highest
	}
	switch {
	case in.result.Outcome == Accepted:
		c.sent(in.messageID(f), "")
		if f.Shared {
			c.Reason = ReasonMessageIDShared
		}
		if i := slices.IndexFunc(f.Proven, func(number int) bool { return number < in.attempt.Number }); i >= 0 && !in.again {
			c.Settlement = duplicateProven(c.At, f.Proven[i])
		}
	case len(f.Proven) > 0:
		c.sent(in.messageID(f), ReasonProof)
		c.Settlement = f.Twice(c.At)
	case in.attempt.Kind == KindRepeat:
		c.unknown(repeatReason(in.result.Outcome), in.unknownAction, in.unknownDue)
		c.Deferrals = in.row.Deferrals + 1
	case in.result.Outcome == Rejected:
		c.failed(ReasonRejected)
	case in.result.Outcome == Deferred:
		in.deferred(&c)
	default:
		reason := in.result.Reason
		if reason == "" {
			reason = ReasonUnlistedAnswer
		}
		c.unknown(reason, in.unknownAction, in.unknownDue)
		c.Deferrals = 0
		c.MessageID = in.attempt.MessageID
	}
	return c
}

// messageID is the answer's, else what receipts brought.
func (in *closing) messageID(f CloseFacts) string {
	if in.attempt.MessageID != "" {
		return in.attempt.MessageID
	}
	return f.MessageID
}

// deferred moves a row that was surely not sent: to the next provider at once, or back to wait.
func (in *closing) deferred(c *Change) {
	now := in.attempt.EndedAt
	c.Tried = addTried(in.row.Tried, in.attempt.Provider)
	switch {
	case in.next != "":
		c.claimed(ReasonRetry, now, in.row.ExpiresAt)
		c.Provider = in.next
	case in.result.Fault != NoFault:
		c.claimed(ReasonProviderPaused, now, in.row.ExpiresAt)
		c.Tried, c.Provider = "", in.first
	default:
		wait, ok := backoff(in.ladder, in.row.Deferrals, in.result.RetryAfter, in.random)
		if !ok {
			c.failed(ReasonExhausted)
			return
		}
		c.claimed(ReasonRetry, now.Add(wait), in.row.ExpiresAt)
		c.Deferrals, c.Tried, c.Provider = in.row.Deferrals+1, "", in.first
	}
}

func repeatReason(o Outcome) Reason {
	switch o {
	case Rejected:
		return ReasonRepeatRejected
	case Deferred:
		return ReasonRepeatDeferred
	}
	return ReasonRepeatAmbiguous
}

func addTried(list, provider string) string {
	if list == "" {
		return provider
	}
	return list + "," + provider
}

// keep is the change that leaves everything as it is.
func keep(n Notification, at time.Time) Change {
	return Change{
		State: n.State, Reason: n.Reason, MaybeSent: n.MaybeSent, NextAction: n.NextAction, DueAt: n.DueAt, Provider: n.Provider,
		Deferrals: n.Deferrals, Tried: n.Tried, MessageID: n.MessageID, Delivery: n.Delivery, ConfirmedAt: n.ConfirmedAt, At: at,
	}
}

func (c *Change) sent(messageID string, reason Reason) {
	c.State, c.Reason, c.MaybeSent, c.NextAction, c.DueAt, c.ConfirmedAt = StateSent, reason, false, DoNothing, time.Time{}, c.At
	if messageID != "" {
		c.MessageID = messageID
	}
}

func (c *Change) failed(reason Reason) {
	c.State, c.Reason, c.NextAction, c.DueAt = StateFailed, reason, DoNothing, time.Time{}
}

func (c *Change) unknown(reason Reason, next NextAction, due time.Time) {
	c.State, c.Reason, c.MaybeSent, c.NextAction, c.DueAt = StateAmbiguous, reason, true, next, due
}

func (c *Change) claimed(reason Reason, due, expires time.Time) {
	c.State, c.Reason, c.NextAction, c.DueAt = StateClaimed, reason, DoSend, earlier(due, expires)
}

// failOver names an open provider that takes the row at once when this attempt is deferred; empty: none.
func (l *Ledger) failOver(o *outlet, n Notification) string {
	if n.Channel == Webhook {
		return ""
	}
	if alt := l.alternative(o, &n); alt != nil {
		return alt.name
	}
	return ""
}

// firstChoice names the provider that a row tries first after a wait.
func (l *Ledger) firstChoice(n Notification) string {
	providers := l.settings.Channels[n.Channel].Providers
	if n.Pinned || n.MaybeSent || n.Channel == Webhook || len(providers) == 0 {
		return n.Provider
	}
	return providers[0]
}

// shorten cuts a reason to what the ledger keeps.
func shorten(s string) string {
	if utf8.RuneCountInString(s) <= MaxReason {
		return s
	}
	r := []rune(s)
	return string(r[:MaxReason])
}
