package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// MaxSubjects is how many rows or gates an alert names; its count is of all.
const MaxSubjects = 10

// AlertKind is what people are told of.
type AlertKind string

// The kinds of alerts, in the order in which they are told.
const (
	AlertGate      AlertKind = "gate_closed"      // a gate is paused, or has been slowed for slowPatience
	AlertDuplicate AlertKind = "duplicate_proven" // a receipt proved a second message of one row
	AlertWaiting   AlertKind = "waiting"          // a row has begun to wait for a person: ambiguous with nothing left but its expiry
	AlertExhausted AlertKind = "exhausted"        // a row failed with no step of its ladder left
)

// AlertKinds lists them.
var AlertKinds = []AlertKind{AlertGate, AlertDuplicate, AlertWaiting, AlertExhausted}

// Alert tells people about rows or gates that need one of them. It holds no content, no recipient, no key and no text that a
// caller wrote.
type Alert struct {
	ID       string // the same each time it is told again
	Kind     AlertKind
	At       time.Time // when it was put together
	Count    int64     // of what it is about
	AtLeast  bool      // there is more than was counted
	Subjects []Subject // the first of them, at most MaxSubjects
}

// Subject is a row or a gate that an alert is about.
type Subject struct {
	ID       uuid.UUID // of the notification; zero: a gate
	Channel  Channel   // of the notification
	Provider string
	State    string // of the notification or the gate
	Reason   string // a word of Reasons, or of a gate's Fault; empty: a person closed the gate
	By       string // who closed the gate: sendonce or the name of an API key
	Since    time.Time
}

// Operator is where alerts go besides the log.
type Operator interface {
	// Tell hands an alert over. An error means that it may not have arrived: it is told again, with the same ID, which receivers
	// dedupe on. at is the time of this try. The error's text holds no secret.
	Tell(ctx context.Context, a Alert, at time.Time) error
}

// asks reports whether the row waits for a person.
func (n *Notification) asks() bool { return n.Shown() == Ask }

func subjectOf(n *Notification) Subject {
	return Subject{ID: n.ID, Channel: n.Channel, Provider: n.Provider, State: string(n.State), Reason: string(n.Reason), Since: n.UpdatedAt}
}

// tellRow tells people about a row that was moved, if it needs one of them now and did not before.
func (l *Ledger) tellRow(before, n *Notification) {
	switch {
	case n.asks() && !before.asks():
		l.desk.add(AlertWaiting, subjectOf(n))
	case n.State == StateFailed && n.Reason == ReasonExhausted && before.State == StateSending:
		l.desk.add(AlertExhausted, subjectOf(n))
	}
}

// tellProof tells people about a second message that was proven.
func (l *Ledger) tellProof(n *Notification, s *Settlement) {
	if s != nil && s.Action == CauseProof && s.From == StateSent {
		l.desk.add(AlertDuplicate, subjectOf(n))
	}
}

// tellGate tells people about a gate that only a person can help, or that a person closed.
func (l *Ledger) tellGate(o *outlet, s GateStatus, since time.Time) {
	subject := Subject{Provider: o.name, State: s.State, By: s.By, Since: since}
	if s.ByItself() {
		subject.Reason = s.Reason
	}
	l.desk.add(AlertGate, subject)
}

// slowPatience is how long a gate may be slowed before people are told: the longest wait between two probes.
const slowPatience = lastProbe

// needsPerson reports whether people are to be told of the gate after an attempt: it has been paused just now, or a probe has
// found it slowed for long, once for each time that it closes. Without a row to probe with nobody knows whether a fault lasts.
// The caller has the lock.
func (o *outlet) needsPerson(before, now GateStatus, probe bool, at time.Time) bool {
	switch {
	case !now.ByItself():
		return false
	case now.State == "paused":
		return before.State != now.State || before.Reason != now.Reason
	case !probe || at.Sub(o.gate.since) < slowPatience || o.told.Equal(o.gate.since):
		return false
	}
	o.told = o.gate.since
	return true
}

// tellWaiting tells people, in one alert, about the rows that wait for one of them already: they may have begun to while
// nobody could be told. What begins to wait from start on is told when it does.
func (l *Ledger) tellWaiting(ctx context.Context, start time.Time) {
	var found Alert
	f := Filter{States: []State{StateAmbiguous}, Oldest: true, Limit: MaxList}
	for ctx.Err() == nil {
		p, err := l.store.List(ctx, f)
		if err != nil && ctx.Err() == nil {
			l.troubles.Tell("the rows that wait for a person are not counted", "error", err)
		}
		if err != nil {
			return
		}
		for i := range p.Rows {
			if n := &p.Rows[i]; n.asks() && !n.UpdatedAt.After(start) {
				found.add(subjectOf(n))
			}
		}
		if found.AtLeast = found.Count >= maxBulk && p.Next != 0; p.Next == 0 || found.AtLeast {
			break
		}
		f.Cursor = p.Next
	}
	if found.Count > 0 {
		l.desk.merge(AlertWaiting, found)
	}
}

// add counts a subject.
func (a *Alert) add(s Subject) { a.merge(Alert{Count: 1, Subjects: []Subject{s}}) }

// merge counts what another alert of the same kind is about. A gate that closes again and again is named once, as it closed last: it
// leaves no other unnamed.
func (a *Alert) merge(b Alert) {
	a.Count += b.Count
	a.AtLeast = a.AtLeast || b.AtLeast
	for _, s := range b.Subjects {
		named := slices.IndexFunc(a.Subjects, func(old Subject) bool { return s.ID == uuid.Nil && old.Provider == s.Provider })
		switch {
		case named >= 0:
			a.Subjects[named] = s
		case len(a.Subjects) < MaxSubjects:
			a.Subjects = append(a.Subjects, s)
		}
	}
}
