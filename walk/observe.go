package walk

import (
	"fmt"
	"slices"
	"time"
)

// slack is how late something that happens by itself may be.
const slack = 6 * time.Second

// Seen is a row as the ledger shows it.
type Seen struct {
	State, Reason, Delivery, Provider string
	MaybeSent, Final, Gone            bool
	Attempts                          int
	Allowed                           []string
	Version                           int64
	Due                               time.Time
}

// policyActs reports whether a row's policy may act by now.
func (m *Model) policyActs(r *Row, now time.Time) bool {
	p, ok := m.Rules.Policies[r.Type]
	return ok && !r.Restored && !(p.Do == "send_again" && r.SentAgain) && !now.Before(r.Since.Add(p.After-time.Millisecond))
}

// policy does what a row's policy says: once in its life, where that sends again.
func (m *Model) policy(r *Row, now time.Time) error {
	by, reason := "abandon", "abandoned"
	switch m.Rules.Policies[r.Type].Do {
	case "send_again":
		by, reason = "release", ""
		r.SentAgain, r.Steps, r.Tried, r.Due, r.Latest = true, 0, nil, now, now
	case "assume_sent":
		by, reason = "confirm", "assumed"
	}
	maybe, from := r.MaybeSent, r.State
	err := m.move(r, by)
	r.settled(by, from, true, now)
	if r.State != "sent" {
		r.MaybeSent = maybe // only a person says that it surely was not sent
	}
	r.Reason = reason
	return err
}

// byItself returns what a row does next by itself, with its time; nil: nothing.
func (m *Model) byItself(r *Row, s Seen, now time.Time) (do func() error, at time.Time) {
	expire := func(by, reason string) func() error {
		return func() error {
			from := r.State
			err := m.move(r, by)
			r.Reason = reason
			r.settled(by, from, false, now)
			return err
		}
	}
	switch r.State {
	case "claimed":
		if r.Broken && s.State == "failed" && !r.Due.After(now) && r.Due.Before(r.Expires) {
			return expire("unbuildable", "unbuildable"), r.Due // once a provider may take it
		}
		return expire("expire", ""), r.Expires
	case "held":
		return expire("expire", ""), r.Expires
	case "ambiguous":
		over := s.Reason == "expired_unknown" && !r.Expires.After(now) // both times passed before anybody looked: the end wins
		if !over && m.policyActs(r, now) && r.Since.Add(m.Rules.Policies[r.Type].After).Before(r.Expires) {
			at := r.Since.Add(m.Rules.Policies[r.Type].After)
			return func() error { return m.policy(r, now) }, at
		}
		return expire("abandon", "expired_unknown"), r.Expires
	}
	return nil, time.Time{}
}

// Observe compares a row as the ledger shows it with the model, after it let happen what happens by itself: what is due for
// longer than the slack must have happened, what was due since then may have.
func (m *Model) Observe(r *Row, s Seen, now time.Time) error {
	for range 4 {
		do, at := m.byItself(r, s, now)
		if m.Halted || do == nil || at.After(now) || r.State == s.State && at.After(now.Add(-slack)) {
			break
		}
		if err := do(); err != nil {
			return err
		}
		r.Changed = at // nobody saw when
	}
	if s.Gone && !r.Gone {
		if err := m.erased(r, now); err != nil {
			return err
		}
	}
	if r.State == "claimed" && s.State == "claimed" {
		lo, hi := earlier(r.Due, r.Expires), earlier(r.Latest, r.Expires)
		known := !lo.Before(hi) // then it may be due since a little while: a policy acted before this look
		if s.Due.After(hi.Add(time.Millisecond)) || !known && s.Due.Before(lo.Add(-time.Millisecond)) {
			return fmt.Errorf("due at %v, want %v to %v", s.Due, lo, hi)
		}
		r.Due, r.Latest = s.Due, s.Due
	}
	return m.compare(r, s, now)
}

func (m *Model) compare(r *Row, s Seen, now time.Time) error {
	switch {
	case s.State != r.State:
		return fmt.Errorf("is %s (%s), the model says %s (%s)", s.State, s.Reason, r.State, r.Reason)
	case s.MaybeSent != r.MaybeSent:
		return fmt.Errorf("maybe_sent is %v, the model says %v (%s)", s.MaybeSent, r.MaybeSent, r.State)
	case s.Attempts != len(r.Attempts):
		return fmt.Errorf("has %d attempts, the model saw %d (%s)", s.Attempts, len(r.Attempts), r.State)
	case s.Reason != r.Reason && r.State != "claimed":
		return fmt.Errorf("is %s for %q, the model says %q", s.State, s.Reason, r.Reason)
	case s.Final != r.Final():
		return fmt.Errorf("final is %v, the model says %v (%s)", s.Final, r.Final(), r.State)
	case s.Gone != r.Gone:
		return fmt.Errorf("is whole, the model saw it erased")
	case s.Delivery != r.Delivery:
		return fmt.Errorf("delivery is %q, the model says %q", s.Delivery, r.Delivery)
	case s.Version != r.Version():
		return fmt.Errorf("version is %d, the model counted %d (%s)", s.Version, r.Version(), r.State)
	case !r.Gone && !slices.Equal(s.Allowed, r.Allowed()):
		return fmt.Errorf("allows %v, the model says %v (%s)", s.Allowed, r.Allowed(), r.State)
	case m.late(r, s, now):
		return fmt.Errorf("is due since %v at %s, whose gate is open, and was not taken", r.Due, s.Provider)
	}
	return nil
}

// late reports whether a row waits although its provider would take it: nothing may be forgotten.
func (m *Model) late(r *Row, s Seen, now time.Time) bool {
	g := m.Gates[s.Provider]
	return r.State == "claimed" && !m.Halted && g != nil && g.Open() && r.Due.Before(now.Add(-2*time.Millisecond)) && now.Before(r.Expires)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Died is the end of the process without a goodbye: what was in flight may have been sent. The next one knows nothing of gates
// but a person's pauses.
func (m *Model) Died(now time.Time) error { return m.reopened("process_ended", now) }

// Stopped is a clean end: nothing is in flight any more.
func (m *Model) Stopped() {
	for name, g := range m.Gates {
		m.Gates[name] = &Gate{Paused: g.Paused}
	}
}

// Restored is the start on an old copy: whatever was open in it may have been sent since. Nothing is taken until Accept.
func (m *Model) Restored(now time.Time) error {
	m.Halted, m.Waiting = true, true
	for _, r := range m.Rows {
		if r.State == "ambiguous" { // what its policy would do may have been done since
			r.Restored = true
		}
		if r.State == "claimed" || r.State == "held" {
			from := r.State
			if err := m.move(r, "restored"); err != nil {
				return err
			}
			r.unknown("restored", now)
			r.Restored = true
			r.settled("restored", from, false, now)
		}
	}
	return m.reopened("restored", now)
}

// Accept is a person's word that the old copy is the ledger to go on with.
func (m *Model) Accept() { m.Halted, m.Waiting = false, false }

// reopened closes what was in flight. A proof that had waited for the end is applied.
func (m *Model) reopened(by string, now time.Time) error {
	m.Stopped()
	for _, r := range m.Rows {
		if r.State != "sending" {
			continue
		}
		last := &r.Attempts[len(r.Attempts)-1]
		last.Ended = now
		since := now
		if last.Kind == "repeat" && by != "restored" { // it was unknown before that
			since = r.Since
		}
		if err := m.move(r, by); err != nil {
			return err
		}
		r.unknown(by, since)
		if r.Restored = by == "restored"; r.Restored {
			r.settled(by, "sending", false, now)
		}
		if len(r.Proofs) > 0 {
			if err := m.move(r, "proof"); err != nil {
				return err
			}
			r.Reason = "proof"
			r.settled("proof", "ambiguous", false, now)
			r.delivered()
			r.twice(now)
		}
	}
	return nil
}
