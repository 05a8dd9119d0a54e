package walk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sendonce/ledger"
)

// event makes up an event, or takes one that another application had too: that is another event.
func (w *world) event() ledger.Event {
	brought := w.chance(50)
	r := w.any(func(r *Row) bool { return !brought || w.events[r.ID].event.DedupeKey != "" })
	if r == nil || w.chance(90) {
		return w.fresh()
	}
	e := w.events[r.ID].event
	e.Source, e.SendAt, e.ExpiresAt = w.pick("", "shop", "billing", "support"), time.Time{}, time.Time{}
	return e
}

// fresh makes up an event that nobody had before.
func (w *world) fresh() ledger.Event {
	n := len(w.events) + w.random.IntN(1_000_000)
	e := ledger.Event{EventID: fmt.Sprint("evt_", n), Channel: ledger.SMS, Recipient: "+15550100001", Caller: "walk"}
	if w.chance(40) {
		e.Channel, e.Recipient = ledger.Email, "ada@example.test"
	}
	e.EventType = w.pick("plain", "plain", "again", "again", "assume", "drop")
	e.Source = w.pick("", "", "shop", "billing")
	text := fmt.Sprint("text ", n)
	if w.chance(4) {
		text = brokenText
	}
	e.Message = message(e.Channel, text)
	if w.chance(20) {
		e.DedupeKey = fmt.Sprint("brought-", n)
	}
	if w.chance(20) {
		e.Provider = rules.Providers[string(e.Channel)][0]
	}
	if w.chance(20) {
		e.Lane = "urgent"
	}
	if w.chance(25) {
		e.SendAt = time.Now().Add(time.Duration(1+w.random.IntN(180)) * time.Second)
	}
	if w.chance(30) {
		e.ExpiresAt = time.Now().Add(time.Duration(200+w.random.IntN(500)) * time.Second)
	}
	return e
}

func message(ch ledger.Channel, text string) []byte {
	if ch == ledger.Email {
		return fmt.Appendf(nil, `{"subject":"walk","text":%q}`, text)
	}
	return fmt.Appendf(nil, `{"text":%q}`, text)
}

// keyOf is the identity of an event: what it says of itself, or the key that it brought.
func keyOf(e *ledger.Event) string {
	if e.DedupeKey != "" {
		return "brought " + e.DedupeKey
	}
	return fmt.Sprintf("%s %s %s", e.EventID, e.Channel, e.Recipient)
}

// rowOf is the row that the model expects for an event.
func rowOf(e *ledger.Event, n *ledger.Notification, now time.Time) Row {
	r := Row{
		ID: n.ID.String(), Source: e.Source, Key: keyOf(e), Channel: string(e.Channel), Type: e.EventType,
		Pinned: e.Provider != "", Broken: messageText(e.Message) == brokenText, Provider: n.Provider,
		SendAt: e.SendAt.Truncate(time.Millisecond), Expires: e.ExpiresAt.Truncate(time.Millisecond),
	}
	if r.Expires.IsZero() {
		r.Expires = now.Add(lifetime)
		if r.SendAt.After(now) {
			r.Expires = r.SendAt.Add(lifetime)
		}
	}
	return r
}

// claimNew claims an event that nobody claimed before.
func (w *world) claimNew() error {
	if w.alive() > crowd {
		return w.reply() // enough of them wait
	}
	return w.claim(w.event())
}

// alive counts the rows to which something may still happen.
func (w *world) alive() (n int) {
	for _, r := range w.model.Rows {
		if !r.Final() {
			n++
		}
	}
	return n
}

func (w *world) claim(e ledger.Event) error {
	if w.model.Find(e.Source, keyOf(&e)) != nil {
		return nil
	}
	w.did("claim %s %s of %q", e.EventID, e.EventType, e.Source)
	now := time.Now()
	res, err := w.ledger.Claim(context.Background(), e)
	if err != nil {
		return err
	}
	return w.isNew(&e, res, now)
}

func (w *world) isNew(e *ledger.Event, res ledger.ClaimResult, now time.Time) error {
	if res.Duplicate || res.Err != nil {
		return fmt.Errorf("a new event: duplicate %v, %v", res.Duplicate, res.Err)
	}
	n := &res.Notification
	if want := rules.Providers[string(e.Channel)][0]; n.Provider != want {
		return fmt.Errorf("a new row names %s, want the channel's first", n.Provider)
	}
	r, err := w.model.Claim(rowOf(e, n, now), now)
	if err != nil {
		return err
	}
	w.events[r.ID] = claimed{*e, n.ID, len(w.events)}
	w.touch(r)
	return nil
}

// claimKnown claims an event again: the same, or with another message under the same key.
func (w *world) claimKnown() error {
	r := w.any(nil)
	if r == nil {
		return nil
	}
	return w.repeatOf(r, w.chance(30))
}

// claimBatch claims several at once: new ones, the same one twice, known ones and a wrong one.
func (w *world) claimBatch() error {
	if w.alive() > crowd {
		return nil
	}
	var events []ledger.Event
	for range 1 + w.random.IntN(4) {
		events = append(events, w.event())
	}
	events = append(events, events[0])
	known := w.any(nil)
	if known != nil {
		events = append(events, w.events[known.ID].event)
	}
	wrong := w.event()
	wrong.EventID = ""
	events = append(events, wrong)
	w.did("batch of %d", len(events))
	now := time.Now()
	res, err := w.ledger.ClaimBatch(context.Background(), events)
	if err != nil {
		return err
	}
	for i := range events {
		e := &events[i]
		if i == len(events)-1 {
			if res[i].Err == nil {
				return errors.New("a wrong item was taken")
			}
			continue
		}
		if r := w.model.Find(e.Source, keyOf(e)); r != nil {
			if res[i].Err != nil || !res[i].Duplicate || res[i].Notification.ID != w.events[r.ID].id {
				return fmt.Errorf("a known event in a batch: %+v", res[i])
			}
			w.touch(r)
			continue
		}
		if err := w.isNew(e, res[i], now); err != nil {
			return err
		}
	}
	return nil
}
