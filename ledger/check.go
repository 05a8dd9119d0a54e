package ledger

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
)

// Difference is one place where a row and its history tell different stories.
type Difference struct {
	ID     string // of the notification; empty: there is none
	Seq    int64
	Rule   string // one of the words below
	Detail string // a sentence; it holds no recipient and no content
}

// The rules of Check. The words are stable: scripts and people search for them.
const (
	RuleOrphan            = "without_row"             // an attempt, settlement, receipt, message id or message of no row
	RuleAttemptCount      = "attempt_count"           // the row counts other attempts than there are
	RuleAttemptGap        = "attempt_gap"             // attempts are not numbered 1, 2, 3
	RuleAttemptOpen       = "attempt_open"            // an attempt is open, and the row is not sending
	RuleNoOpenAttempt     = "sending_without_attempt" // the row is sending, and no attempt is open
	RuleOverlap           = "attempts_overlap"        // an attempt began before the one before it had ended
	RuleAcceptedTwice     = "accepted_twice"          // two attempts were accepted, and no settlement says so
	RuleTimes             = "times_backwards"         // a time lies before one that it must follow
	RuleSentBlind         = "sent_without_evidence"   // sent, and nothing shows it
	RuleFailedBlind       = "failed_without_evidence" // failed, and nothing shows why
	RuleSettlementMissing = "settlement_missing"      // the history leads to another state than the row has
	RuleSettlementFrom    = "settlement_from"         // a settlement leaves a state that the row did not have, or goes where no line leads
	RuleAttemptFrom       = "attempt_from"            // an attempt began in a state in which none may begin
	RuleMaybeSent         = "maybe_sent"              // the mark of an unknown does not follow from the history
	RuleVersion           = "version"                 // it did not move once with each change
	RuleConfirmedAt       = "confirmed_at"            // it stands exactly with sent
	RuleReason            = "reason"                  // the word may not stand beside the state
	RuleExpiredEarly      = "expired_early"           // ended for its age before its time
	RuleContentMissing    = "content_missing"         // the row may still be sent, and has no message
	RuleContentHash       = "content_hash"            // it is not the hash of recipient and message
	RuleDedupeKey         = "dedupe_key"              // it does not follow from the event
	RuleResend            = "resend_without_parent"   // a resend that no settlement of its parent names
	RuleMessageID         = "message_id_foreign"      // a message id that nothing of this row brought
	RuleDelivery          = "delivery"                // it is not the highest that the receipts brought
	RuleReceiptAttempt    = "receipt_without_attempt" // a receipt proves an attempt that is not there
	RuleKeyTwice          = "key_twice"               // an erased row and one that is whole have the same key
	RuleErased            = "erased_unfinished"       // an erased row had not ended
	RuleReceiptForeign    = "receipt_foreign"         // a receipt of another provider, or about a message id, that its attempt does not have
)

// Check re-derives every row from its attempts, receipts and settlements and hands each difference to found. It
// changes nothing and may run beside the service. It returns how many rows it read; the error is the store's.
func Check(ctx context.Context, s Store, found func(Difference)) (rows int64, err error) {
	c := checker{store: s, found: found, children: map[uuid.UUID]string{}}
	err = s.Audit(ctx, func(r Record) error {
		if r.Seq == 0 {
			c.orphans(&r)
			return nil
		}
		rows++
		c.row = &r
		c.differs = false
		return c.check(ctx)
	})
	return rows, err
}

// checker looks at one row after the other, in order of claiming.
type checker struct {
	store    Store
	found    func(Difference)
	children map[uuid.UUID]string // keys of resends whose parents have been read, until they are read themselves
	row      *Record
	differs  bool // something was found about the row
}

func (c *checker) report(rule, detail string) {
	c.differs = true
	c.found(Difference{ID: c.row.ID.String(), Seq: c.row.Seq, Rule: rule, Detail: detail})
}

// check looks at one row. A replay makes sense only while its attempts are in order.
func (c *checker) check(ctx context.Context) error {
	if c.row.Erased() {
		c.erased()
		return nil
	}
	c.attempts()
	c.times()
	if !c.differs {
		c.replay()
	}
	c.standing()
	c.content()
	c.messageIDs()
	c.receipts()
	c.resends()
	return c.key(ctx)
}

// orphans reports history that belongs to no row.
func (c *checker) orphans(r *Record) {
	report := func(seq int64, what string) {
		c.found(Difference{Seq: seq, Rule: RuleOrphan, Detail: what + " belongs to a row that is not there"})
	}
	for _, a := range r.Attempts {
		report(a.Seq, "an attempt")
	}
	for _, m := range r.MessageIDs {
		report(m.Seq, "a message id")
	}
	for range r.Receipts {
		report(0, "a receipt")
	}
	for range r.Settlements {
		report(0, "a settlement")
	}
	for _, d := range r.Suppressed {
		report(d.Seq, "a suppressed repeat")
	}
	if r.Message != nil {
		report(0, "a message")
	}
}

// content compares the message with its hash.
func (c *checker) content() {
	n := &c.row.Notification
	if n.ContentGone() {
		if n.State == StateClaimed || n.State == StateHeld || n.State == StateSending {
			c.report(RuleContentMissing, "the row is "+string(n.State)+", and its message is not there")
		}
		return
	}
	if ContentHash(n.Channel, n.RecipientKey, n.Message) != n.ContentHash {
		c.report(RuleContentHash, "recipient and message have another hash")
	}
}

// key derives the dedupe key anew where the recipe ships with sendonce; the recipes of a configuration may have changed.
func (c *checker) key(ctx context.Context) error {
	n := &c.row.Notification
	if n.ResendOf != uuid.Nil {
		return c.resendKey(ctx)
	}
	if n.ContentGone() {
		return nil
	}
	e := Event{EventID: n.EventID, EventType: n.EventType, Source: n.Source, UserID: n.UserID, Channel: n.Channel}
	for _, r := range []Recipe{RecipeEvent(), RecipeTypeUserEvent()} {
		if r.Name != n.Recipe {
			continue
		}
		// A ledger that was moved in may have made its keys over the recipient as written.
		key, _, err := r.Key(&e, n.RecipientKey)
		if err == nil && key != n.DedupeKey {
			key, _, err = r.Key(&e, n.Recipient)
		}
		if err != nil || key != n.DedupeKey || r.SourceInKey(&e) != n.SourceInKey {
			c.report(RuleDedupeKey, "recipe "+r.Name+" gives another key for this event")
		}
	}
	return nil
}

// resends notes the keys that the row's children must have, and looks for the settlement of each.
func (c *checker) resends() {
	settled, named := 0, map[string]bool{}
	for _, s := range c.row.Settlements {
		if s.Action != CauseResend {
			continue
		}
		settled++
		var evidence struct {
			Resend string `json:"resend"`
		}
		if json.Unmarshal(s.Evidence, &evidence) == nil { // it may have been erased
			named[evidence.Resend] = true
		}
	}
	for i, child := range c.row.Resends {
		c.children[child] = ResendKey(c.row.DedupeKey, i+1)
		if i >= settled || len(named) == settled && !named[child.String()] {
			c.report(RuleResend, "no settlement of this row tells of its resend "+child.String())
		}
	}
}

// resendKey compares the key of a resend with what its parent gives. A child that came while the ledger was read may
// have a parent that was read without it: it is read again.
func (c *checker) resendKey(ctx context.Context) error {
	n := &c.row.Notification
	key, ok := c.children[n.ID]
	delete(c.children, n.ID)
	if !ok {
		parent, err := c.store.Get(ctx, n.ResendOf)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		for i, child := range parent.Resends {
			if child == n.ID {
				key, ok = ResendKey(parent.DedupeKey, i+1), true
			}
		}
	}
	switch {
	case !ok:
		c.report(RuleResend, "its parent is not there, or does not know it")
	case key != n.DedupeKey:
		c.report(RuleDedupeKey, "the key is not the one of this resend of its parent")
	}
	return nil
}
