package ledger

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// ours is a row as far as a reconciliation needs it.
type ours struct {
	id           uuid.UUID
	state        State
	recipient    string // as written
	recipientKey string
	claimedAt    time.Time
	attempts     []ourAttempt     // at the provider in question
	ids          map[int][]string // that the ledger knows, by attempt
	found        []takenMessage
	held         bool // the provider has it, although its list does not
}

type ourAttempt struct {
	number  int
	started time.Time
	ended   time.Time
	outcome Outcome
}

// takenMessage is a message at the provider that the row accounts for.
type takenMessage struct {
	*listed
	number int
	known  bool // the ledger has its id
}

func oursOf(rec *Record) *ours {
	row := &ours{id: rec.ID, state: rec.State, recipient: rec.Recipient, recipientKey: rec.RecipientKey, claimedAt: rec.ClaimedAt, ids: map[int][]string{}}
	for _, m := range rec.MessageIDs {
		row.ids[m.Number] = append(row.ids[m.Number], m.ID)
	}
	for _, v := range rec.Receipts {
		if v.MessageID != "" && !slices.Contains(row.ids[v.Number], v.MessageID) {
			row.ids[v.Number] = append(row.ids[v.Number], v.MessageID)
		}
	}
	return row
}

func (row *ours) add(a *Attempt) {
	if a.MessageID != "" && !slices.Contains(row.ids[a.Number], a.MessageID) {
		row.ids[a.Number] = append(row.ids[a.Number], a.MessageID)
	}
	one := ourAttempt{number: a.Number, started: a.StartedAt, ended: a.EndedAt, outcome: a.Outcome}
	if a.Open() { // it runs, or its process was killed: what it sent may be there
		one.ended, one.outcome = a.StartedAt.Add(lookAfter), Ambiguous
	}
	row.attempts = append(row.attempts, one)
}

func (row *ours) reference(number int) string { return row.id.String() + "-" + strconv.Itoa(number) }

// take notes a message of the row once.
func (row *ours) take(m *listed, number int, known bool) {
	if m.row == nil {
		m.row = row
		row.found = append(row.found, takenMessage{m, number, known})
	}
}

// accepted is an attempt that the provider said yes to, with the id that it gave; "": there is none.
func (row *ours) accepted() (ourAttempt, string) {
	for _, a := range row.attempts {
		if a.outcome == Accepted && len(row.ids[a.number]) > 0 {
			return a, row.ids[a.number][0]
		}
	}
	return ourAttempt{}, ""
}

// messages counts what the provider has of the row. The ids that the ledger has of one attempt, and the parts of one text, are one
// message.
func (row *ours) messages() (n int) {
	known, parts := map[int]bool{}, map[int]bool{}
	for _, m := range row.found {
		switch {
		case m.known:
			known[m.number] = true
		case m.Part:
			parts[m.number] = true
		default:
			n++
		}
	}
	for number := range parts {
		if !known[number] {
			n++
		}
	}
	return n + len(known)
}

// report judges every row and every message.
func (c *comparison) report() {
	c.placeUnnamed()
	for _, row := range c.sorted {
		c.judge(row)
	}
	lost := c.lostAttempts()
	var nobodys []*listed
	for _, m := range c.order {
		if m.row != nil || m.erased || !c.within(m.At) {
			continue
		}
		a := nearest(lost, m)
		if a == nil {
			nobodys = append(nobodys, m)
			continue
		}
		a.guessed = true
		if c.running(a.row, a.attempt.number) {
			c.count.NotYet++
			continue
		}
		c.Found(m.unknown(a.row.id, fmt.Sprintf("perhaps attempt %d of this row, whose answer was lost: same recipient, same time (%s)", a.attempt.number, m.Status)))
	}
	c.reportNobodys(nobodys)
}

// reportNobodys tells of the messages that no row accounts for, unless they may be of erased ones.
func (c *comparison) reportNobodys(list []*listed) {
	c.placeErased(slices.DeleteFunc(slices.Clone(list), func(m *listed) bool { return m.foreign }))
	erasedThen := c.ofErased()
	for _, m := range list {
		detail := "no row has this message (" + m.Status + ")"
		if !m.foreign && erasedThen(m.At) {
			detail = "no row has this message or another of its time: erased rows cannot have sent them all (" + m.Status + ")"
		}
		if !m.erased {
			c.Found(m.unknown(uuid.Nil, detail))
		}
	}
	for _, m := range c.order {
		if m.erased && c.within(m.At) {
			c.count.OfErased++
		}
	}
}

func (m *listed) unknown(row uuid.UUID, detail string) Mismatch {
	return Mismatch{Kind: UnknownHere, ID: row, MessageIDs: []string{m.MessageID}, Recipient: m.Recipient, At: m.At, Detail: detail}
}

// judge compares a row with what the provider has of it.
func (c *comparison) judge(row *ours) {
	if len(row.found) == 0 {
		c.judgeAbsent(row)
		return
	}
	first := row.found[0]
	var ids []string
	inside := false
	for _, m := range row.found {
		ids = append(ids, m.MessageID)
		inside = inside || c.within(m.At)
	}
	if !inside {
		return
	}
	found := Mismatch{ID: row.id, MessageIDs: ids, Recipient: first.Recipient, At: first.At}
	if n := row.messages(); n > 1 {
		found.Kind, found.Detail = TwiceThere, fmt.Sprintf("the provider has %d messages of this row", n)
		c.Found(found)
	}
	switch {
	case row.state == StateSent:
	case c.running(row, first.number):
		c.count.NotYet++
	default:
		found.Kind = UnsettledHere
		found.Detail = fmt.Sprintf("the row is %s, and the provider has attempt %d (%s)", row.state, first.number, first.Status)
		c.Found(found)
	}
}

// running reports whether an attempt is open, and too young to be one whose process was killed.
func (c *comparison) running(row *ours, number int) bool {
	i := slices.IndexFunc(row.attempts, func(a ourAttempt) bool { return a.number == number })
	return i >= 0 && i == len(row.attempts)-1 && row.state == StateSending && c.young(row.attempts[i])
}

// judgeAbsent tells of a sent row that the provider has nothing of, unless it may be too young to be listed.
func (c *comparison) judgeAbsent(row *ours) {
	if row.state != StateSent || row.held {
		return
	}
	i := slices.IndexFunc(row.attempts, func(a ourAttempt) bool { return a.outcome == Accepted && len(row.ids[a.number]) > 0 })
	accepted := slices.ContainsFunc(row.attempts, func(a ourAttempt) bool { return a.outcome == Accepted })
	if i < 0 && !accepted { // somebody said that it was sent
		i = slices.IndexFunc(row.attempts, func(a ourAttempt) bool { return a.outcome == Ambiguous })
	}
	if i < 0 {
		return // accepted without an id: nothing to look for
	}
	a := row.attempts[i]
	switch {
	case !c.within(a.started):
	case c.young(a):
		c.count.NotYet++
	case a.outcome == Ambiguous && c.content(row, a):
		// it is told with the message
	default:
		c.Found(Mismatch{
			Kind: AbsentThere, ID: row.id, MessageIDs: row.ids[a.number], Recipient: row.recipientKey, At: a.started,
			Detail: fmt.Sprintf("the row is sent by attempt %d (%s), and the provider lists no message of it", a.number, a.outcome),
		})
	}
}
