package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// The kinds of a mismatch between a provider's list and the ledger.
const (
	UnknownHere   = "unknown_here"   // the provider has a message that no row accounts for
	UnsettledHere = "unsettled_here" // the provider has the message of a row that is not sent
	AbsentThere   = "absent_there"   // a row is sent, and the provider has no message of it
	TwiceThere    = "twice_there"    // the provider has more than one message of a row
)

const (
	maxListed     = 1_000_000 // messages of one reconciliation
	maxReferences = 1000      // that are asked for one by one, and as many ids
)

// Mismatch is one difference between a provider's list and the ledger.
type Mismatch struct {
	Kind       string
	ID         uuid.UUID // of the row; zero: none is known
	MessageIDs []string  // at the provider
	Recipient  string
	At         time.Time
	Detail     string
}

// Reconciled counts what was compared.
type Reconciled struct {
	Listed   int64 // messages of the provider in that time
	Attempts int64 // accepted or unknown ones of the ledger in that time
	NotYet   int64 // rows that are too young: sent ones to be in the list, others to have their answer
	Erased   int64 // rows of that time that were erased and had attempts: nobody can tell which messages were theirs
	OfErased int64 // messages that are theirs, or may be: they are no mismatch
	Unasked  int64 // messages whose reference was not asked for: there were too many
}

// Reconciliation compares what a provider lists with the ledger. It writes nothing and sends nothing.
type Reconciliation struct {
	Provider string
	Lister   Lister
	Channels []Channel // that the provider can serve
	From     time.Time // of the comparison
	Until    time.Time // not any more
	Now      func() time.Time
	Wait     func(ctx context.Context, d time.Duration) error
	Progress func(listed int64, until time.Time) // after each further thousand messages
	Found    func(Mismatch)
}

// Reconcile compares and hands each mismatch to Found. The provider is asked for a little more than the time in question, since its
// clock and its queue differ from ours: what lies in the margins accounts for rows and is not reported itself. The error is the
// Lister's or the store's; mismatches are reported only when the whole list was read.
func Reconcile(ctx context.Context, s Store, r Reconciliation) (Reconciled, error) {
	c := comparison{Reconciliation: r, account: r.Lister.Account(), listed: map[string]*listed{}, byReference: map[string][]*listed{}, rows: map[uuid.UUID]*ours{}}
	if err := c.list(ctx); err != nil {
		return c.count, err
	}
	if err := s.Audit(ctx, func(rec Record) error {
		c.match(&rec)
		return nil
	}); err != nil {
		return c.count, err
	}
	if err := c.askReferences(ctx, s); err != nil {
		return c.count, err
	}
	if err := c.askAbsent(ctx); err != nil {
		return c.count, err
	}
	c.report()
	return c.count, nil
}

// listed is a message at the provider and the row that accounts for it.
type listed struct {
	Listed
	row     *ours // nil: none
	foreign bool  // what was sent along is of no whole row
	erased  bool  // it is an erased row's, or may be
}

// comparison is a reconciliation under way.
type comparison struct {
	Reconciliation
	account     [8]byte
	count       Reconciled
	order       []*listed
	listed      map[string]*listed // by message id
	byReference map[string][]*listed
	rows        map[uuid.UUID]*ours
	sorted      []*ours
	gone        []gone
}

// list reads what the provider has.
func (c *comparison) list(ctx context.Context) error {
	return c.Lister.List(ctx, ListQuery{
		From: c.From.Add(-lookBefore).Truncate(time.Second), Until: c.Until.Add(lookAfter + time.Second).Truncate(time.Second), Now: c.Now, Wait: c.Wait,
		Visit: func(m Listed) error {
			if c.listed[m.MessageID] != nil {
				return nil
			}
			if len(c.order) == maxListed {
				return fmt.Errorf("more than %d messages: compare a shorter time", maxListed)
			}
			one := &listed{Listed: m, foreign: m.Reference != ""}
			c.order, c.listed[m.MessageID] = append(c.order, one), one
			if m.Reference != "" {
				c.byReference[m.Reference] = append(c.byReference[m.Reference], one)
			}
			if c.within(m.At) {
				c.count.Listed++
			}
			if n := len(c.order); n%1000 == 0 {
				c.Progress(int64(n), m.At)
			}
			return nil
		},
	})
}

// reaches reports whether an attempt may have made a message of the time in question.
func (c *comparison) reaches(a ourAttempt) bool {
	return !a.ended.Add(lookAfter).Before(c.From) && a.started.Add(-lookBefore).Before(c.Until)
}

func (c *comparison) within(t time.Time) bool { return !t.Before(c.From) && t.Before(c.Until) }

// match finds the listed messages of a row, by their ids and by our reference, and keeps rows that have any or should.
func (c *comparison) match(rec *Record) {
	if rec.Erased() {
		c.matchErased(rec)
		return
	}
	row := oursOf(rec)
	for i := range rec.Attempts {
		if a := &rec.Attempts[i]; a.Provider == c.Provider || a.Account == c.account {
			row.add(a)
		}
	}
	if len(row.attempts) == 0 {
		return
	}
	concerned := false
	for _, a := range row.attempts {
		for _, id := range row.ids[a.number] {
			if m := c.listed[id]; m != nil {
				row.take(m, a.number, true)
			}
		}
		for _, m := range c.byReference[row.reference(a.number)] {
			row.take(m, a.number, false)
		}
		if a.outcome != Accepted && a.outcome != Ambiguous {
			continue
		}
		concerned = concerned || c.reaches(a)
		if c.within(a.started) {
			c.count.Attempts++
		}
	}
	if concerned || len(row.found) > 0 {
		c.keep(row)
	}
}

func (c *comparison) keep(row *ours) {
	if c.rows[row.id] == nil {
		c.rows[row.id] = row
		c.sorted = append(c.sorted, row)
	}
}

// askReferences asks for what we sent along with messages that no id accounts for, and finds their rows by it.
func (c *comparison) askReferences(ctx context.Context, s Store) error {
	asked := 0
	for _, m := range c.order {
		if m.row != nil || m.Listed.Reference != "" || !c.within(m.At) {
			continue
		}
		if asked++; asked > maxReferences {
			c.count.Unasked++
			continue
		}
		reference, err := c.Lister.Reference(ctx, ListQuery{Now: c.Now, Wait: c.Wait}, m.Listed)
		if err != nil {
			return err
		}
		m.foreign = reference != ""
		id, number, ok := ParseReference(reference)
		if !ok {
			continue
		}
		row := c.rows[id]
		if row == nil {
			rec, err := s.Get(ctx, id)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if m.erased = rec.Erased(); m.erased {
				continue
			}
			row = oursOf(&rec)
		}
		m.foreign = false
		row.take(m, number, false)
		c.keep(row)
	}
	return nil
}

// askAbsent asks for the messages of sent rows that the list lacks, where the service shows one by its id: a list may leave out what
// was taken and never left the provider.
func (c *comparison) askAbsent(ctx context.Context) error {
	h, ok := c.Lister.(Holder)
	asked := 0
	for _, row := range c.sorted {
		a, id := row.accepted()
		if !ok || len(row.found) > 0 || row.state != StateSent || id == "" || !c.within(a.started) || c.young(a) {
			continue
		}
		if asked++; asked > maxReferences {
			c.count.Unasked++
			continue
		}
		var err error
		if row.held, err = h.Holds(ctx, ListQuery{Now: c.Now, Wait: c.Wait}, id); err != nil {
			return err
		}
	}
	return nil
}

// young reports whether what an attempt sent may be missing from the list yet.
func (c *comparison) young(a ourAttempt) bool {
	return a.ended.Add(c.Lister.ListLag()).After(c.Now())
}
