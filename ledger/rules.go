package ledger

import "time"

// rules are a channel's rules for one kind of event, policies applied.
type rules struct {
	lane         Lane
	expiresAfter time.Duration
	onAmbiguous  OnAmbiguous
	after        time.Duration
	policy       string // name of what set onAmbiguous, for settlements
}

// rulesOf returns what holds for an event: the first policy that matches, over the channel's own.
func (l *Ledger) rulesOf(ch Channel, eventType string) rules {
	c := l.settings.Channels[ch]
	r := rules{lane: Normal, expiresAfter: c.ExpiresAfter, onAmbiguous: c.OnAmbiguous, after: c.After, policy: string(ch)}
	for _, p := range l.settings.Policies {
		if p.Channel != "" && p.Channel != ch || !MatchEventType(p.EventType, eventType) {
			continue
		}
		if p.Lane == Urgent.String() {
			r.lane = Urgent
		}
		if p.ExpiresAfter > 0 {
			r.expiresAfter = p.ExpiresAfter
		}
		if p.OnAmbiguous != "" {
			r.onAmbiguous, r.after, r.policy = p.OnAmbiguous, p.After, p.EventType
		}
		break
	}
	return r
}

// ladderOf returns a channel's waits.
func (l *Ledger) ladderOf(ch Channel) []time.Duration { return l.settings.Channels[ch].Retry }

// expiry is the next action of an ambiguous row that has nothing but its end left.
func expiry(n Notification) (NextAction, time.Time) {
	if n.ExpiresAt.IsZero() {
		return DoNothing, time.Time{}
	}
	return DoExpire, n.ExpiresAt
}

// nextEvidence says what an ambiguous row does next: the earliest of a repeat under its provider's live key, a look-up, its
// policy, and its expiry. A repeat comes after wait, noRepeat rules it out.
func (l *Ledger) nextEvidence(n Notification, wait time.Duration, u unknown) (NextAction, time.Time) {
	action, due := l.nextAsking(n, wait, u)
	r := l.rulesOf(n.Channel, n.EventType)
	if r.onAmbiguous == OnAmbiguousAsk || r.onAmbiguous == "" {
		return action, due
	}
	at := u.since.Add(r.after)
	if !u.underWay.IsZero() { // it gets the time to answer
		at = later(at, l.clock.now().Add(lookGrace))
	}
	if due.IsZero() || at.Before(due) || action == DoRepeat && at.Equal(due) {
		return DoPolicy, at
	}
	return action, due
}

// nextAsking is nextEvidence for a row whose policy does nothing more.
func (l *Ledger) nextAsking(n Notification, wait time.Duration, u unknown) (NextAction, time.Time) {
	action, due := expiry(n)
	o := l.outlets[n.Provider]
	if o == nil || n.ContentGone() {
		return action, due
	}
	now := l.clock.now()
	if at := u.nextLook(o.lookUps().At, now); !at.IsZero() && (due.IsZero() || at.Before(due)) {
		action, due = DoLookUp, at
	}
	if wait == noRepeat || o.repeatWindow() == 0 {
		return action, due
	}
	at := now.Add(wait)
	if at.Before(u.since.Add(usable(o.repeatWindow()))) && (due.IsZero() || !at.After(due) && action == DoLookUp || at.Before(due)) {
		return DoRepeat, at
	}
	return action, due
}

// repeatLadder is how long after a lost answer each repeat under the wire key is made.
var repeatLadder = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

const noRepeat time.Duration = -1

// repeatWait is how long the next repeat waits when step of them were made; noRepeat: there is none.
func (l *Ledger) repeatWait(step int) time.Duration {
	if wait, ok := backoff(repeatLadder, step, 0, l.random()); ok {
		return wait
	}
	return noRepeat
}

// usable is the part of a provider's window in which a repeat is still made: less a tenth, for clocks that differ.
func usable(window time.Duration) time.Duration { return window - window/10 }
