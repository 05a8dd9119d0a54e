package ledger

import "fmt"

// The replay of a row: it begins as claimed, its attempts and settlements happen in the order of their times, and what
// comes out is compared with the row. Times have milliseconds only, and an attempt does not say all that its close
// depended on (was there a step left, was a proof waiting), so the replay tries what may have been and is content
// when one way leads to the row.

// place is how far a replay has come.
type place struct {
	attempt    int  // the next one, or the open one
	open       bool // that attempt has begun and not ended
	settlement int  // the next one
	state      State
	maybeSent  bool
	moves      int // changes so far: each moved the version
}

// replay finds a way from the claim to the row, or reports where the way that came furthest ended.
func (c *checker) replay() {
	r := replay{row: c.row}
	if !r.from(place{state: StateClaimed}) {
		c.report(r.problem.Rule, r.problem.Detail)
	}
}

type replay struct {
	row     *Record
	failed  map[place]bool // places from which no way leads to the row; made when there is a second way to try
	problem Difference     // of the way that came furthest
	far     int
}

// from reports whether a way leads from p to the row as it is.
func (r *replay) from(p place) bool {
	if r.failed[p] {
		return false
	}
	a, s := p.attempt < len(r.row.Attempts), p.settlement < len(r.row.Settlements)
	if a && p.open && r.row.Attempts[p.attempt].Open() {
		a = false // it is in flight
	}
	var ok bool
	switch {
	case !a && !s:
		ok = r.arrived(p)
	case !s:
		ok = r.byAttempt(p)
	case !a:
		ok = r.bySettlement(p)
	default:
		ok = r.either(p)
	}
	if !ok && r.failed != nil {
		r.failed[p] = true
	}
	return ok
}

// either takes what happened first. What has the same time may have happened in either order, and so may a proof, which has
// the time of its arrival.
func (r *replay) either(p place) bool {
	a, s := &r.row.Attempts[p.attempt], &r.row.Settlements[p.settlement]
	at := a.StartedAt
	if p.open {
		at = a.EndedAt
	}
	switch {
	case at.Equal(s.At) || s.Action == CauseProof:
		if r.failed == nil {
			r.failed = map[place]bool{}
		}
		return r.byAttempt(p) || r.bySettlement(p)
	case at.Before(s.At):
		return r.byAttempt(p)
	}
	return r.bySettlement(p)
}

// byAttempt begins or ends the attempt at hand.
func (r *replay) byAttempt(p place) bool {
	a := &r.row.Attempts[p.attempt]
	p.moves++
	if !p.open {
		by := CauseTake
		if a.Kind == KindRepeat {
			by = CauseRepeat
		}
		to, ok := Next(p.state, by, p.maybeSent)
		if !ok {
			return r.wrong(p, RuleAttemptFrom, fmt.Sprintf("attempt %d (%s) began while the row was %s", a.Number, a.Kind, p.state))
		}
		p.state, p.open = to, true
		return r.from(p)
	}
	p.attempt, p.open = p.attempt+1, false
	for _, by := range r.endings(a) {
		next := p
		next.state, _ = Next(StateSending, by, p.maybeSent)
		next.maybeSent = next.state == StateAmbiguous || p.maybeSent && next.state != StateSent
		if r.from(next) {
			return true
		}
	}
	return false
}

// endings lists how an attempt of this outcome may have ended. A receipt that had come made it accepted, whatever it said.
func (r *replay) endings(a *Attempt) []Cause {
	var list []Cause
	switch {
	case a.Outcome == Accepted:
		return []Cause{CauseAccepted}
	case a.Kind == KindRepeat:
		list = []Cause{CauseRepeatEnded}
	case a.Outcome == Rejected:
		list = []Cause{CauseRejected}
	case a.Outcome == Deferred:
		list = []Cause{CauseDeferred, CauseExhausted}
	default:
		list = []Cause{CauseAmbiguous}
	}
	if len(r.row.Receipts) > 0 {
		list = append(list, CauseAccepted)
	}
	return list
}

// bySettlement applies the settlement at hand.
func (r *replay) bySettlement(p place) bool {
	s := &r.row.Settlements[p.settlement]
	p.settlement++
	if s.Action == CauseReveal && s.From == s.To { // a look: it may fall anywhere
		return r.from(p)
	}
	p.moves++
	if s.From != p.state {
		return r.wrong(p, RuleSettlementFrom, fmt.Sprintf("settlement %s leaves %s while the row was %s", s.Action, s.From, p.state))
	}
	to, ok := Next(p.state, s.Action, p.maybeSent)
	if s.Action == CauseResend || s.Action == CauseProof && p.state == StateSent || s.Action == CauseLookUp && p.state == StateAmbiguous {
		to, ok = p.state, true
	}
	if !ok || to != s.To {
		return r.wrong(p, RuleSettlementFrom, fmt.Sprintf("settlement %s does not lead from %s to %s", s.Action, s.From, s.To))
	}
	if p.open { // the ledger was restored during the attempt, which ended with it
		p.attempt, p.open = p.attempt+1, false
	}
	p.state = to
	switch {
	case to == StateAmbiguous:
		p.maybeSent = true
	case to == StateSent || s.Action == CauseRelease && !s.byPolicy():
		p.maybeSent = false
	}
	return r.from(p)
}

// arrived compares the end of a way with the row.
func (r *replay) arrived(p place) bool {
	n := &r.row.Notification
	switch {
	case p.state != n.State:
		rule := RuleSettlementMissing
		switch n.State {
		case StateSent:
			rule = RuleSentBlind
		case StateFailed:
			rule = RuleFailedBlind
		}
		return r.wrong(p, rule, fmt.Sprintf("its history leads to %s, the row is %s", p.state, n.State))
	case p.maybeSent != n.MaybeSent:
		return r.wrong(p, RuleMaybeSent, fmt.Sprintf("by its history maybe_sent is %t, the row says %t", p.maybeSent, n.MaybeSent))
	case n.Version != int64(p.moves)+1:
		return r.wrong(p, RuleVersion, fmt.Sprintf("the row was changed %d times and has version %d", p.moves, n.Version))
	}
	return true
}

// wrong notes where a way ended; of two that came as far, the one with the right state.
func (r *replay) wrong(p place, rule, detail string) bool {
	far := 2*(2*p.attempt+p.settlement) + 1
	if p.open {
		far += 2
	}
	if p.state == r.row.State {
		far++
	}
	if far > r.far {
		r.far, r.problem = far, Difference{Rule: rule, Detail: detail}
	}
	return false
}
