package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Prove takes a verified report about an attempt: a receipt, a look-up by our own reference, or a late answer. It shows that the
// attempt was accepted, whatever the row's state; while the row is sending it is kept and applied when the attempt closes.
// A report that names no known row is kept until one turns up: ErrNotFound then.
func (l *Ledger) Prove(_ context.Context, r Receipt) (Notification, error) {
	list, err := l.store.Prove([]Receipt{r.sound(r.Provider, l.clock.now())}, decideProof)
	if err != nil {
		return Notification{}, err
	}
	p := &list[0]
	l.proved(r.Provider, p)
	switch {
	case p.Err != nil:
		return Notification{}, p.Err
	case !p.Matched:
		return Notification{}, ErrNotFound
	}
	l.log.Info("proof", "id", p.ID, "provider", r.Provider, "kind", r.Kind, "state", p.State)
	return p.Notification, nil
}

// proved tells memory and those who wait what a receipt did.
func (l *Ledger) proved(provider string, p *Proved) {
	switch {
	case p.Err != nil:
		l.troubles.Tell("a receipt cannot be stored", "provider", provider, "error", p.Err)
	case p.Matched && !p.Known:
		l.recent.proved(p.Notification)
		l.watchers.row(&p.Notification)
		if p.Settled && !p.Twice {
			l.tallyOf(&p.Notification).count(p.UpdatedAt, func(s *slot) { s.ByEvidence++ })
		}
		if p.State.Final() {
			l.waiters.ended(p.Notification)
		}
		if p.Twice {
			l.desk.add(AlertDuplicate, subjectOf(&p.Notification))
		}
	}
}

// decideProof says what becomes of a row that a report is about.
func decideProof(r Receipt, n Notification, f ProofFacts) (Change, error) {
	at := r.ArrivedAt
	if n.UpdatedAt.After(at) { // a change that was written first
		at = n.UpdatedAt
	}
	c := keep(n, at)
	c.Delivery = f.Highest
	if c.MessageID == "" {
		c.MessageID = r.MessageID
	}
	second := n.State == StateSent && f.second(r.MessageID != "" && r.MessageID == n.MessageID)
	switch {
	case n.State == StateSent && !second && c.Delivery == n.Delivery && c.MessageID == n.MessageID:
		return Change{}, nil // opened, clicked, read: the row stays as it is
	case n.State == StateSent && !second:
		return c, nil // nothing new but its delivery
	case n.State == StateSent:
	case f.Shared:
		c.sent(r.MessageID, ReasonMessageIDShared)
	default:
		c.sent(r.MessageID, ReasonProof)
	}
	hash := sha256.Sum256(r.Body)
	evidence, err := json.Marshal(map[string]any{
		"attempt": f.Number, "message_id": r.MessageID, "kind": r.Kind, "body_sha256": hex.EncodeToString(hash[:]), "duplicate": second,
	})
	if err != nil {
		return Change{}, err
	}
	c.Settlement = &Settlement{At: at, Action: CauseProof, From: n.State, To: c.State, Actor: "provider:" + r.Provider, Evidence: evidence}
	return c, nil
}

// second reports whether the proof is of a second message: another handing was accepted or proven already. A handing is
// an attempt and the repeats of it under the same wire key, which are one message by the provider's word. Attempts that sent
// the same bytes share their reference, so a proof by reference cannot tell them apart.
func (f *ProofFacts) second(sameMessage bool) bool {
	if sameMessage {
		return false
	}
	handing := handings(f.Attempts, f.ByReference)
	proven := map[int]bool{}
	for _, a := range f.Attempts {
		if !a.Open() && a.Outcome == Accepted {
			proven[handing[a.Number]] = true
		}
	}
	for _, number := range f.Proven {
		proven[handing[number]] = true
	}
	mine := handing[f.Number]
	return !proven[mine] && len(proven) > 0
}

// handings gives each attempt the number of the one that began its handing. With bytesAlike, attempts that sent the same bytes are
// one handing as well.
func handings(attempts []Attempt, bytesAlike bool) map[int]int {
	handing := make(map[int]int, len(attempts))
	last := 0
	for i, a := range attempts {
		if a.Kind == KindSend {
			last = a.Number
			if first := slices.IndexFunc(attempts[:i], a.sameRequest); bytesAlike && first >= 0 {
				last = handing[attempts[first].Number]
			}
		}
		handing[a.Number] = last
	}
	return handing
}

// Twice is the settlement of a second message, where receipts that waited for the end of an attempt prove two; nil: they prove one.
func (f *CloseFacts) Twice(at time.Time) *Settlement {
	handing := handings(f.Attempts, true)
	for _, number := range f.Proven {
		if handing[number] != handing[f.Proven[0]] {
			return duplicateProven(at, number)
		}
	}
	return nil
}

// duplicateProven is the settlement of a sent row that notes a second message: an attempt that was proven beside another.
func duplicateProven(at time.Time, number int) *Settlement {
	return &Settlement{At: at, Action: CauseProof, From: StateSent, To: StateSent, Actor: actorSelf,
		Evidence: fmt.Appendf(nil, `{"attempt":%d,"duplicate":true}`, number)}
}
