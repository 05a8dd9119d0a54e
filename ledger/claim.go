package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// ClaimResult is what became of one event.
type ClaimResult struct {
	Notification Notification
	Duplicate    bool
	Differs      []string // with Duplicate, when only the message differs and the settings accept that
	Segments     Segments // in which the row's provider sends its text; zero: not known
	Err          error    // in a batch: *InvalidError, *ReusedError or ErrNoChannel
}

// Claim creates the row under the event's key, or finds the one that has it, durable before it returns.
// *InvalidError, *ReusedError, ErrNoChannel, ErrDraining, and what Store.Claim returns.
func (l *Ledger) Claim(ctx context.Context, e Event) (ClaimResult, error) {
	if l.guess() {
		r, err := l.claim(ctx, &e, true)
		if !l.guesses.again(err) {
			return r, err
		}
	}
	return l.claim(ctx, &e, false)
}

func (l *Ledger) claim(ctx context.Context, e *Event, guess bool) (ClaimResult, error) {
	c, err := l.keys(e)
	if err != nil {
		return ClaimResult{}, err
	}
	n, found, err := l.place(ctx, &c, e, guess)
	switch {
	case err != nil:
		return ClaimResult{}, err
	case found:
		return l.known(n, e, c.RecipientKey)
	}
	if e.Wait {
		l.waiters.expect(c.ID)
	}
	first := l.begin(&c)
	if first != nil {
		c.Attempt = &first.attempt
	}
	rows, err := l.claimRows([]Claim{c}, guess)
	if err != nil || rows[0].Duplicate {
		if e.Wait {
			l.waiters.drop(c.ID)
		}
		if first != nil {
			l.giveBack(first.outlet)
		}
	}
	if err != nil {
		return ClaimResult{}, err
	}
	return l.claimed(rows[0], first, e, c.RecipientKey)
}

// ClaimBatch claims up to MaxBatch events in one commit; each has its own result or error.
// The error as a whole is ErrDraining or what Store.Claim returns.
//
// It asks the store about each event first: one wrong guess would spoil what the others of the batch are compared with.
func (l *Ledger) ClaimBatch(ctx context.Context, events []Event) ([]ClaimResult, error) {
	results := make([]ClaimResult, len(events))
	claims := make([]Claim, 0, len(events))
	stood := make([]placed, 0, len(events))
	at := make([]int, 0, len(events)) // position of each claim in events
	for i := range events {
		c, err := l.keys(&events[i])
		var n Notification
		var found bool
		if err == nil {
			n, found, err = l.place(ctx, &c, &events[i], false)
		}
		switch {
		case err == ErrDraining, errors.Is(err, ErrUnavailable):
			return nil, err
		case err != nil:
			results[i].Err = err
		case found:
			stood = append(stood, placed{i, n, c.RecipientKey})
		default:
			claims, at = append(claims, c), append(at, i)
		}
	}
	if len(claims) > 0 {
		rows, err := l.claimRows(claims, false)
		if err != nil {
			return nil, err
		}
		for j, row := range rows {
			i := at[j]
			results[i], err = l.claimed(row, nil, &events[i], claims[j].RecipientKey)
			results[i].Err = err
		}
	}
	for _, p := range stood { // now that the batch is answered: a refused one will come again, and count again
		var err error
		results[p.at], err = l.known(p.row, &events[p.at], p.recipient)
		results[p.at].Err = err
	}
	return results, nil
}

// placed is an event of a batch whose row stood already.
type placed struct {
	at        int // position in the batch
	row       Notification
	recipient string
}

// claimRows claims rows in one commit, and marks those that say the same as another one.
func (l *Ledger) claimRows(claims []Claim, guess bool) ([]Claimed, error) {
	for i := range claims {
		claims[i].SuspectedOf = l.near.find(&claims[i].Notification, claims[i].ClaimedAt, guess)
	}
	rows, err := l.store.Claim(claims)
	for i := range claims {
		if err != nil || rows[i].Duplicate {
			l.near.drop(&claims[i].Notification)
		}
	}
	return rows, err
}

// keys validates an event and derives every key under which it may stand already.
func (l *Ledger) keys(e *Event) (Claim, error) {
	if err := e.Validate(); err != nil {
		return Claim{}, err
	}
	recipient, err := RecipientKey(e.Channel, e.Recipient, l.settings.Channels[e.Channel].Region)
	if err != nil {
		return Claim{}, err
	}
	c := Claim{Notification: Notification{
		Source: e.Source, EventID: e.EventID, EventType: e.EventType, UserID: e.UserID,
		Channel: e.Channel, Recipient: e.Recipient, RecipientKey: recipient, Message: e.Message, Metadata: e.Metadata,
	}}
	if e.DedupeKey != "" {
		c.DedupeKey, c.Recipe = e.DedupeKey, RecipeGiven
	}
	for i, r := range l.settings.Recipes {
		key, err := r.join(e, recipient, nil)
		switch {
		case err != nil && i == 0 && c.DedupeKey == "":
			return Claim{}, err
		case err != nil:
			continue // its parts are missing or refused: no row can stand under it
		case c.DedupeKey == "":
			c.DedupeKey, c.Recipe, c.SourceInKey = key, r.Name, r.SourceInKey(e)
		case e.DedupeKey == "":
			c.Others = append(c.Others, KeyOf{Recipe: r.Name, Key: key})
		}
		if e.DedupeKey == "" && recipient != e.Recipient { // a ledger that was moved in may have the key over the recipient as written
			if written, err := r.join(e, e.Recipient, nil); err == nil && written != key {
				c.Others = append(c.Others, KeyOf{Recipe: r.Name, Key: written})
			}
		}
	}
	return c, nil
}

// complete fills in the rest of a row that is to be made, and refuses what can never be sent.
func (l *Ledger) complete(c *Claim, e *Event) error {
	if l.draining.Load() {
		return ErrDraining
	}
	rules := l.rulesOf(e.Channel, e.EventType)
	provider, err := l.choose(e)
	if err != nil {
		return err
	}
	if (!e.SendAt.IsZero() || !e.ExpiresAt.IsZero()) && l.clock.late() {
		return ErrClockBehind
	}
	now := l.clock.now()
	expires := e.ExpiresAt
	if expires.IsZero() {
		expires = now.Add(rules.expiresAfter)
		if e.SendAt.After(now) {
			expires = e.SendAt.Add(rules.expiresAfter)
		}
	}
	if last := tooLate.Add(-time.Millisecond); expires.After(last) {
		expires = last
	}
	if !expires.After(now) {
		return Invalid("expires_at", "has passed; give a time after now, or none")
	}
	if c.ID, err = uuid.NewV7(); err != nil {
		return err
	}
	c.Provider, c.Pinned = provider, e.Provider != ""
	c.Lane = rules.lane
	if e.Lane == Urgent.String() {
		c.Lane = Urgent
	} else if e.Lane == Normal.String() {
		c.Lane = Normal
	}
	c.State, c.NextAction, c.Version = StateClaimed, DoSend, 1
	c.OccurredAt = milli(e.OccurredAt)
	c.ExpiresAt, c.DueAt = milli(expires), now
	c.ClaimedAt, c.UpdatedAt = now, now
	if e.SendAt.After(now) {
		c.SendAt = milli(e.SendAt)
		c.DueAt, c.Reason = earlier(c.SendAt, c.ExpiresAt), ReasonScheduled
	}
	if l.store.Condition().Restored {
		c.Reason = ReasonRestored
	}
	c.ContentHash = ContentHash(c.Channel, c.RecipientKey, c.Message)
	return nil
}

// claimed answers for a row that the store made or found, and hands a new one to the loop or, taken already, to its provider.
func (l *Ledger) claimed(row Claimed, first *head, e *Event, recipient string) (ClaimResult, error) {
	if row.Duplicate {
		l.guesses.wrong()
		return l.known(row.Notification, e, recipient)
	}
	n := row.Notification
	Reach(PointClaimCommitted)
	l.recent.made(n)
	l.watchers.row(&n)
	l.tallyOf(&n).count(n.ClaimedAt, func(s *slot) { s.Claims++ })
	l.near.add(&n)
	if first != nil {
		l.follow(first, n)
		n = untaken(n)
	} else {
		l.handOver(n)
	}
	return ClaimResult{Notification: n, Segments: l.segments(&n)}, nil
}

// untaken is a row as its claim made it, of one that was taken in the same commit: the answer to a claim is the same whether or not
// a provider was free.
func untaken(n Notification) Notification {
	n.State, n.NextAction, n.DueAt, n.UpdatedAt = StateClaimed, DoSend, n.ClaimedAt, n.ClaimedAt
	n.AttemptCount, n.Version = 0, 1
	return n
}
