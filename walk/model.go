// Package walk walks at random through everything that can happen to notifications, and compares a real ledger on a
// real file with a small model after each step.
//
// The model is written from the sentences of the design and shares no code with the ledger: a mistake would have to be
// made twice. It says what must have happened, what may have happened by now, and what must not. The walk itself is the
// package's test: it needs the ledger, and nothing else does.
package walk

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Line is a line of the table of states: a row in From that meets By goes To; with Unsettled only while it may have been sent.
type Line struct {
	From, By, To string
	Unsettled    bool
}

// Lines are the picture of states, written anew: one line for each way out of a state.
var Lines = []Line{
	{From: "claimed", By: "take", To: "sending"},
	{From: "sending", By: "accepted", To: "sent"},
	{From: "sending", By: "rejected", To: "failed"},
	{From: "sending", By: "deferred", To: "claimed"},
	{From: "sending", By: "exhausted", To: "failed"},
	{From: "sending", By: "fault", To: "claimed"},
	{From: "sending", By: "ambiguous", To: "ambiguous"},
	{From: "sending", By: "process_ended", To: "ambiguous"},
	{From: "ambiguous", By: "repeat", To: "sending"},
	{From: "sending", By: "repeat_ended", To: "ambiguous"},
	{From: "ambiguous", By: "confirm", To: "sent"},
	{From: "ambiguous", By: "release", To: "claimed"},
	{From: "ambiguous", By: "abandon", To: "failed"},
	{From: "claimed", By: "hold", To: "held"},
	{From: "claimed", By: "cancel", To: "cancelled"},
	{From: "claimed", By: "expire", To: "expired"},
	{From: "claimed", By: "unbuildable", To: "failed"},
	{From: "held", By: "unhold", To: "claimed"},
	{From: "held", By: "cancel", To: "cancelled"},
	{From: "held", By: "expire", To: "expired"},
	{From: "failed", By: "release", To: "claimed"},
	{From: "failed", By: "confirm", To: "sent", Unsettled: true},
	{From: "expired", By: "confirm", To: "sent", Unsettled: true},
	{From: "cancelled", By: "confirm", To: "sent", Unsettled: true},
	{From: "claimed", By: "restored", To: "ambiguous"},
	{From: "held", By: "restored", To: "ambiguous"},
	{From: "sending", By: "restored", To: "ambiguous"},
	{From: "claimed", By: "proof", To: "sent"},
	{From: "held", By: "proof", To: "sent"},
	{From: "ambiguous", By: "proof", To: "sent"},
	{From: "failed", By: "proof", To: "sent"},
	{From: "expired", By: "proof", To: "sent"},
	{From: "cancelled", By: "proof", To: "sent"},
}

// Actions are what a person may ask for.
var Actions = []string{"confirm", "release", "abandon", "hold", "unhold", "cancel"}

// Rules are what the model knows of the configuration.
type Rules struct {
	Providers map[string][]string // of a channel, in order
	Ladder    []time.Duration
	Policies  map[string]Policy        // by event type; a type without one asks
	Window    map[string]time.Duration // for which a provider honours a key
	Keep      time.Duration            // after its last change or report a row that ended may be erased
}

// Policy is what becomes of an ambiguous row after a time.
type Policy struct {
	Do    string // send_again, assume_sent, abandon
	After time.Duration
}

// Row is what the model knows of one notification.
type Row struct {
	ID, Source, Key string
	Channel, Type   string
	Pinned, Broken  bool // Broken: no adapter can build it
	State, Reason   string
	MaybeSent       bool
	Due, Latest     time.Time // it may be taken from Due on; Due is known only to lie before Latest
	SendAt, Expires time.Time
	Since           time.Time // when it became ambiguous
	Provider        string    // the pinned one, then the one that took it last
	Tried           []string  // since the last wait
	Steps           int       // of the ladder
	Attempts        []Attempt
	Proofs          map[int]bool // attempts that a report proves
	Reports         []string     // deliveries that reports brought
	Delivery        string       // the highest of them, as soon as the row is not sending
	Last            Settlement   // the newest
	Moved           Settlement   // the newest that moved the row
	SentAgain       bool         // released by a policy
	Restored        bool         // ambiguous in or by an old copy: neither policy nor repeat, only a person
	Twice           int          // proven duplicates
	Resends         int
	Moves           int       // changes of state, settlements and being erased: the version is one more
	Parent          string    // the row that it was sent again for
	Changed         time.Time // by which it came to its state, or was last reported on
	Gone            bool      // erased
}

// Settlement is a change that is no attempt.
type Settlement struct {
	Action, To string
	Policy     bool
	At         time.Time
}

// settled notes a settlement; one that leaves the row where it is moves only the version.
func (r *Row) settled(action, from string, policy bool, at time.Time) {
	r.Changed = at
	r.Last = Settlement{Action: action, To: r.State, Policy: policy, At: at.Truncate(time.Millisecond)}
	if from != r.State {
		r.Moved = r.Last
	}
}

// Attempt is one handing.
type Attempt struct {
	Kind, Provider, WireKey, Body string
	Began, Ended                  time.Time
	Accepted                      bool
}

// Model is the whole ledger as the design has it.
type Model struct {
	Rules   Rules
	Rows    []*Row
	Gates   map[string]*Gate
	Halted  bool           // stopping, or restored and not accepted: nothing is taken
	Waiting bool           // restored and not accepted
	Taken   map[string]int // how often each line was taken
	Erased  int            // rows

	byKey map[string]*Row
	byID  map[string]*Row
}

// New makes the model of an empty ledger.
func New(r Rules) *Model {
	m := &Model{Rules: r, Gates: map[string]*Gate{}, Taken: map[string]int{}, byKey: map[string]*Row{}, byID: map[string]*Row{}}
	for _, names := range r.Providers {
		for _, name := range names {
			m.Gates[name] = &Gate{}
		}
	}
	return m
}

// Row finds a row by its id; nil: there is none.
func (m *Model) Row(id string) *Row { return m.byID[id] }

// Find finds the row that owns a key. Keys are unique within a source.
func (m *Model) Find(source, key string) *Row { return m.byKey[source+"\x00"+key] }

// Claim makes a row. Its key must be nobody's.
func (m *Model) Claim(r Row, now time.Time) (*Row, error) {
	if m.Find(r.Source, r.Key) != nil {
		return nil, fmt.Errorf("the key %s was claimed before", r.Key)
	}
	r.State, r.Proofs, r.Due = "claimed", map[int]bool{}, now
	if r.SendAt.After(now) {
		r.Due, r.Reason = r.SendAt, "scheduled"
	}
	r.Latest = r.Due
	m.Rows = append(m.Rows, &r)
	m.byKey[r.Source+"\x00"+r.Key], m.byID[r.ID] = &r, &r
	return &r, nil
}

// move takes a line of the table.
func (m *Model) move(r *Row, by string) error {
	for _, l := range Lines {
		if l.From == r.State && l.By == by && (!l.Unsettled || r.MaybeSent) {
			r.State, r.Reason = l.To, ""
			r.Moves++
			m.Taken[l.From+" "+by]++
			if l.To == "sent" {
				r.MaybeSent = false
			}
			return nil
		}
	}
	return fmt.Errorf("a row that is %s (maybe_sent %v) does not move by %s", r.State, r.MaybeSent, by)
}

// Allowed lists what a person may ask of a row.
func (r *Row) Allowed() (list []string) {
	for _, a := range Actions {
		if slices.ContainsFunc(Lines, func(l Line) bool { return l.From == r.State && l.By == a && (!l.Unsettled || r.MaybeSent) }) {
			list = append(list, a)
		}
	}
	return list
}

// Final reports whether nothing more happens by itself.
func (r *Row) Final() bool {
	return r.State == "sent" || r.State == "failed" || r.State == "cancelled" || r.State == "expired"
}

// Copy is the model as it is now, for a backup of the ledger.
func (m *Model) Copy() *Model {
	c := New(m.Rules)
	for _, r := range m.Rows {
		x := *r
		x.Tried, x.Attempts, x.Reports, x.Proofs = slices.Clone(r.Tried), slices.Clone(r.Attempts), slices.Clone(r.Reports), maps.Clone(r.Proofs)
		c.Rows = append(c.Rows, &x)
		c.byKey[x.Source+"\x00"+x.Key], c.byID[x.ID] = &x, &x
	}
	for name, g := range m.Gates {
		c.Gates[name] = &Gate{Paused: g.Paused}
	}
	c.Taken, c.Erased = m.Taken, m.Erased // the walk's, not the ledger's
	return c
}
