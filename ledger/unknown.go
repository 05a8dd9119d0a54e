package ledger

import (
	"context"
	"encoding/json"
	"math"
	"time"
)

// unknown is what the history of an ambiguous row says about its next piece of evidence.
type unknown struct {
	since    time.Time // when the row became ambiguous; zero: its last handing has not ended
	looks    int       // that were made since; noLooks: no further one is made
	probably bool      // one of them found what may be the message
	underWay time.Time // a look is under way, and comes again then if it does not come to an end
}

const noLooks = math.MaxInt

// nextLook is when a row is looked for next, by its provider's times; zero: not any more.
func (u *unknown) nextLook(times []time.Duration, now time.Time) time.Time {
	if u.looks >= len(times) {
		return time.Time{}
	}
	at := later(later(u.since.Add(times[u.looks]), now), u.underWay)
	if at.After(u.since.Add(times[len(times)-1] + lookGiveUp)) {
		return time.Time{}
	}
	return at
}

// unknownOf reads a row's history. Repeats do not count: the times of a policy and of looks run on while they ask.
func unknownOf(r *Record) unknown {
	var u unknown
	var began time.Time
	for _, a := range r.Attempts {
		if a.Kind == KindSend {
			began, u.since = a.StartedAt, a.EndedAt
		}
	}
	restored := false
	for _, s := range r.Settlements {
		if s.Action == CauseRestored && s.At.After(began) {
			u.since, restored = s.At, true
		}
	}
	for _, s := range r.Settlements {
		if s.Action != CauseLookUp || s.At.Before(u.since) {
			continue
		}
		u.looks++
		var e lookEvidence
		if json.Unmarshal(s.Evidence, &e) == nil && e.Verdict == verdictProbably {
			u.probably = true
		}
	}
	if restored || u.probably || r.Reason == ReasonPartial { // an old copy does not know all attempts; what is known by a part is no question
		u.looks = noLooks
	}
	return u
}

// unknownOf reads a row's history from the store.
func (l *Ledger) unknownOf(n Notification) unknown {
	r, err := l.store.Get(context.Background(), n.ID)
	if err != nil {
		return unknown{since: n.UpdatedAt} // later, so the policy waits longer
	}
	return unknownOf(&r)
}
