package walk

import (
	"fmt"
	"slices"
	"time"
)

// Began checks that a request may leave now, and moves its row. It is called when a provider gets it.
func (m *Model) Began(h *Handing, kind, wireKey, body string) error {
	r, now := h.Row, h.Began
	switch {
	case m.Halted:
		return fmt.Errorf("attempt %d left while nothing may be taken", h.Number)
	case h.Number != len(r.Attempts)+1:
		return fmt.Errorf("attempt %d left after %d attempts", h.Number, len(r.Attempts))
	case !now.Before(r.Expires):
		return fmt.Errorf("attempt %d left after the row had expired", h.Number)
	case !r.mayGoTo(h.Provider, m.Rules.Providers[r.Channel]):
		return fmt.Errorf("attempt %d went to %s (pinned %v, maybe_sent %v, last %s)", h.Number, h.Provider, r.Pinned, r.MaybeSent, r.Provider)
	}
	if err := m.beganIn(r, h, kind, wireKey, body); err != nil {
		return err
	}
	if wrong := m.Gates[h.Provider].enter(h); wrong != "" {
		return fmt.Errorf("%s: attempt %d at %s", wrong, h.Number, h.Provider)
	}
	r.Provider = h.Provider
	r.Attempts = append(r.Attempts, Attempt{Kind: kind, Provider: h.Provider, WireKey: wireKey, Body: body, Began: now})
	return nil
}

// mayGoTo says who may take a row: the pinned one, the one that may have sent it, else any of its channel.
func (r *Row) mayGoTo(provider string, channel []string) bool {
	if r.Pinned || r.MaybeSent {
		return provider == r.Provider
	}
	return slices.Contains(channel, provider)
}

// beganIn checks the row's own side of an attempt.
func (m *Model) beganIn(r *Row, h *Handing, kind, wireKey, body string) error {
	now := h.Began
	if len(r.Attempts) > 0 && r.Attempts[0].WireKey != wireKey {
		return fmt.Errorf("attempt %d has another wire key", h.Number)
	}
	window := m.Rules.Window[h.Provider]
	first := slices.IndexFunc(r.Attempts, func(a Attempt) bool { return a.Provider == h.Provider })
	if window > 0 && first >= 0 && r.Attempts[first].Body != body {
		return fmt.Errorf("attempt %d sends other bytes under a key that %s honours", h.Number, h.Provider)
	}
	if kind == "repeat" {
		if r.Restored {
			return fmt.Errorf("attempt %d repeats on the word of an old copy", h.Number)
		}
		if first < 0 || now.Sub(r.Attempts[first].Began) >= window-window/10 {
			return fmt.Errorf("attempt %d repeats outside of the window", h.Number)
		}
		return m.move(r, "repeat")
	}
	if r.State == "ambiguous" && m.policyActs(r, now) { // released by its policy in this very moment
		if err := m.policy(r, now); err != nil {
			return err
		}
	}
	if now.Before(r.Due.Add(-time.Millisecond)) {
		return fmt.Errorf("attempt %d left %v before the row was due", h.Number, r.Due.Sub(now))
	}
	return m.move(r, "take")
}

// Ended moves a row as the answer to its request says.
func (m *Model) Ended(h *Handing, a Answer, now time.Time) error {
	r := h.Row
	at := &r.Attempts[len(r.Attempts)-1]
	at.Ended, at.Accepted = now, a.Outcome == "accepted"
	r.Changed = now
	m.Gates[h.Provider].report(h, a, now)
	defer r.delivered()
	switch {
	case a.Outcome == "accepted":
		if r.provenBefore(h.Number) {
			r.Twice++
			r.Moves++
			defer func() { r.settled("proof", r.State, false, now) }()
		}
		err := m.move(r, "accepted")
		if a.Shared {
			r.Reason = "message_id_shared"
		}
		return err
	case len(r.Proofs) > 0: // stored while it was sending, applied now
		r.State, r.Reason, r.MaybeSent = "sent", "proof", false
		r.Moves++
		m.Taken["sending proof"]++
		r.twice(now)
		return nil
	case at.Kind == "repeat":
		err := m.move(r, "repeat_ended")
		r.Reason = "repeat_" + a.Outcome
		return err
	case a.Outcome == "rejected":
		err := m.move(r, "rejected")
		r.Reason = "rejected"
		return err
	case a.Outcome == "deferred":
		return m.deferred(r, h.Provider, a, now)
	}
	err := m.move(r, "ambiguous")
	r.unknown(a.Reason, now)
	return err
}

// unknown marks a row whose message may have gone out.
func (r *Row) unknown(reason string, now time.Time) {
	r.MaybeSent, r.Since, r.Steps, r.Restored = true, now, 0, false
	if r.Reason = reason; reason == "" {
		r.Reason = "unlisted_answer" // an adapter that forgets a case
	}
}

// deferred moves a row that surely was not sent: to another provider at once, to the gate, or one step down the ladder.
func (m *Model) deferred(r *Row, provider string, a Answer, now time.Time) error {
	r.Tried = append(r.Tried, provider)
	other := !r.Pinned && !r.MaybeSent && slices.ContainsFunc(m.Rules.Providers[r.Channel], func(p string) bool {
		return p != provider && !slices.Contains(r.Tried, p) && m.Gates[p].Open()
	})
	r.Due, r.Latest = now, now
	by := "deferred"
	if a.Fault != "" {
		by = "fault"
	}
	if other {
		return m.move(r, by)
	}
	r.Tried = nil
	if a.Fault != "" {
		return m.move(r, by)
	}
	if r.Steps == len(m.Rules.Ladder) {
		err := m.move(r, "exhausted")
		r.Reason = "exhausted"
		return err
	}
	wait := m.Rules.Ladder[r.Steps]
	if a.RetryAfter > 0 {
		wait = max(wait, clamp(a.RetryAfter))
	}
	r.Steps++
	r.Due, r.Latest = now.Add(wait*8/10), now.Add(wait*12/10)
	return m.move(r, by)
}

// handing is the first attempt that sent these bytes: those that repeat them share its reference, and are one message.
func (r *Row) handing(number int) int {
	a := r.Attempts[number-1]
	return 1 + slices.IndexFunc(r.Attempts, func(b Attempt) bool { return b.Provider == a.Provider && b.Body == a.Body })
}

// provenBefore reports whether another message than this attempt's is proven.
func (r *Row) provenBefore(number int) bool {
	for n := range r.Proofs {
		if n < number && r.handing(number) == number {
			return true
		}
	}
	return false
}

// twice notes a second message, where the proofs that waited for the end of an attempt are of two.
func (r *Row) twice(now time.Time) {
	proven := map[int]bool{}
	for n := range r.Proofs {
		proven[r.handing(n)] = true
	}
	if len(proven) > 1 {
		r.Twice++
		r.Moves++
		r.settled("proof", r.State, false, now)
	}
}

// deliveries in rising order: the highest that ever came wins.
var deliveries = []string{"", "queued", "passed_on", "delayed", "undelivered", "delivered", "bounced", "complained"}

// delivered sets the delivery, which receipts that came while the row was sending had to wait for.
func (r *Row) delivered() {
	for _, d := range r.Reports {
		if slices.Index(deliveries, d) > slices.Index(deliveries, r.Delivery) {
			r.Delivery = d
		}
	}
}

// Proof takes a report that shows that an attempt was accepted. It wins from every state; while the row is sending it waits.
func (m *Model) Proof(r *Row, number int, delivery string, now time.Time) error {
	proven := map[int]bool{}
	for i, a := range r.Attempts {
		if a.Accepted || r.Proofs[i+1] {
			proven[r.handing(i+1)] = true
		}
	}
	r.Proofs[number], r.Changed = true, now
	r.Reports = append(r.Reports, delivery)
	if r.State == "sending" {
		return nil
	}
	r.delivered()
	if r.State == "sent" {
		if len(proven) > 0 && !proven[r.handing(number)] {
			r.Twice++
			r.Moves++
			r.settled("proof", r.State, false, now)
		}
		return nil
	}
	from := r.State
	err := m.move(r, "proof")
	r.Reason = "proof"
	r.settled("proof", from, false, now)
	return err
}
