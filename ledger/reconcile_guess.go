package ledger

import (
	"slices"
	"strings"
)

// content reports whether a message that nothing accounts for may be an attempt's.
func (c *comparison) content(row *ours, a ourAttempt) bool {
	return slices.ContainsFunc(c.order, func(m *listed) bool { return m.row == nil && row.mayBe(m, a) })
}

// placeUnnamed gives each attempt that was accepted without an id (the status said so, and the rest of the answer was lost) the
// message that is nearest to it: it has one, so that message is neither nobody's nor perhaps a lost attempt's.
func (c *comparison) placeUnnamed() {
	free := map[string][]*listed{} // by recipient
	for _, m := range c.order {
		if m.row == nil && !m.foreign {
			key := strings.ToLower(m.Recipient)
			free[key] = append(free[key], m)
		}
	}
	for _, row := range c.sorted {
		for _, a := range row.attempts {
			if a.outcome != Accepted || len(row.ids[a.number]) > 0 || row.has(a.number) {
				continue
			}
			var best *listed
			for _, m := range slices.Concat(free[strings.ToLower(row.recipientKey)], free[strings.ToLower(row.recipient)]) {
				if m.row == nil && row.mayBe(m, a) && (best == nil || m.At.Sub(a.started).Abs() < best.At.Sub(a.started).Abs()) {
					best = m
				}
			}
			if best != nil {
				best.row = row
			}
		}
	}
}

// has reports whether a message is known to be an attempt's.
func (row *ours) has(number int) bool {
	return slices.ContainsFunc(row.found, func(t takenMessage) bool { return t.number == number })
}

// lostAttempt is an attempt that may have sent a message which nothing accounts for.
type lostAttempt struct {
	row     *ours
	attempt ourAttempt
	guessed bool // a message was said to be perhaps its
}

// lostAttempts are the attempts without an answer that no message is known to be of.
func (c *comparison) lostAttempts() (list []*lostAttempt) {
	for _, row := range c.sorted {
		for _, a := range row.attempts {
			if a.outcome == Ambiguous && !row.has(a.number) {
				list = append(list, &lostAttempt{row: row, attempt: a})
			}
		}
	}
	return list
}

// nearest finds the attempt that a message may be of: the nearest in time that no other message was said of; nil: none.
func nearest(list []*lostAttempt, m *listed) (best *lostAttempt) {
	for _, a := range list {
		if !a.guessed && a.row.mayBe(m, a.attempt) &&
			(best == nil || m.At.Sub(a.attempt.started).Abs() < m.At.Sub(best.attempt.started).Abs()) {
			best = a
		}
	}
	return best
}

// mayBe compares recipient and time.
func (row *ours) mayBe(m *listed, a ourAttempt) bool {
	return !m.foreign && !m.At.Before(a.started.Add(-lookBefore)) && !m.At.After(a.ended.Add(lookAfter)) &&
		(strings.EqualFold(m.Recipient, row.recipientKey) || strings.EqualFold(m.Recipient, row.recipient))
}
