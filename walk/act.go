package walk

import (
	"slices"
	"time"
)

// The answers to what people ask for.
const (
	Done      = "done"
	Again     = "again"             // the row is where this very action had moved it: 200
	Wrong     = "wrong_state"       // 409
	Differs   = "version_differs"   // 412
	NeedMatch = "if_match_required" // 428
	Past      = "expired_already"   // 409
	NeedYes   = "accept_duplicate"  // 409
)

// Version is a row's version: it moves with states and settlements.
func (r *Row) Version() int64 { return int64(r.Moves) + 1 }

// Act settles a row as a person asks: match is the version of If-Match, 0 for none; expires a new end, zero for none.
func (m *Model) Act(r *Row, action string, match int64, expires, now time.Time) (answer string, err error) {
	allowed := slices.Contains(r.Allowed(), action)
	switch {
	case r.Gone:
		return Gone, nil
	case match != 0 && match != r.Version():
		if match == r.Version()-1 && r.untouched() && r.did(action, expires) {
			return Again, nil
		}
		return Differs, nil
	case !allowed && r.did(action, expires):
		return Again, nil
	case !allowed:
		return Wrong, nil
	case action == "release":
		if r.MaybeSent && match == 0 {
			return NeedMatch, nil
		}
		if expires.IsZero() {
			expires = r.Expires
		}
		if !expires.After(now) {
			return Past, nil
		}
	}
	from := r.State
	if err := m.move(r, action); err != nil {
		return "", err
	}
	r.settled(action, from, false, now)
	switch action {
	case "confirm":
		r.Reason = "confirmed"
	case "abandon":
		r.Reason = "abandoned"
	case "unhold":
		r.Due = now
		if r.SendAt.After(now) {
			r.Due = r.SendAt
		}
		r.Latest = r.Due
	case "release":
		r.MaybeSent, r.Steps, r.Tried, r.Expires = false, 0, nil, expires
		r.Due, r.Latest = now, now
	}
	return Done, nil
}

// did reports whether this very action brought the row where it is. A policy's release says something else than a person's.
func (r *Row) did(action string, expires time.Time) bool {
	return r.Moved.Action == action && !(action == "release" && r.Moved.Policy) && (expires.IsZero() || expires.Equal(r.Expires))
}

// untouched reports whether nothing happened since the newest settlement, and that moved the row.
func (r *Row) untouched() bool {
	began := len(r.Attempts) > 0 && !r.Attempts[len(r.Attempts)-1].Began.Truncate(time.Millisecond).Before(r.Last.At)
	return r.Last == r.Moved && r.Last.Action != "" && r.Last.To == r.State && !(r.State == "claimed" && began)
}

// Resend asks for a second message on purpose: a new row, which Claim makes.
func (m *Model) Resend(r *Row, match int64, accept bool, now time.Time) (answer string) {
	switch {
	case r.Gone:
		return Gone
	case match == 0:
		return NeedMatch
	case match != r.Version():
		return Differs
	case !r.Final() && r.State != "ambiguous":
		return Wrong
	case r.MaybeSent && !accept:
		return NeedYes
	}
	r.settled("resend", r.State, false, now)
	r.Resends++
	r.Moves++
	return Done
}
