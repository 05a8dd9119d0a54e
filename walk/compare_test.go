package walk

import (
	"context"
	"fmt"
	"time"

	"sendonce/ledger"
)

// tell lets the model know what happened at the providers.
func (w *world) tell() error {
	for {
		w.mu.Lock()
		list := w.happen
		w.happen = nil
		w.mu.Unlock()
		if len(list) == 0 {
			return nil
		}
		for _, h := range list {
			if err := w.told(h); err != nil {
				return err
			}
		}
	}
}

func (w *world) told(h happening) error {
	c := h.call
	r := w.model.Row(c.ID)
	if r == nil {
		return fmt.Errorf("%s got a request of a row that nobody knows: %s", c.Provider, c.ID)
	}
	w.touch(r)
	key := r.Source + "\x00" + r.Key
	if h.reply != nil {
		w.witness.heard(key, c, h.reply)
		return about(r, w.model.Ended(&c.Handing, h.reply.Answer, h.at))
	}
	c.Row, c.Handing.Number = r, len(r.Attempts)+1
	w.witness.saw(key, c)
	if err := w.model.Began(&c.Handing, string(c.Kind), c.WireKey, string(c.body)); err != nil {
		return about(r, err)
	}
	if ref := c.Order.Number; ref != r.handing(c.Handing.Number) {
		return about(r, fmt.Errorf("attempt %d has the reference of %d", c.Handing.Number, ref))
	}
	return about(r, w.blind(r))
}

func about(r *Row, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("row %s (%s, of %q): %w", name(r), r.ID, r.Source, err)
}

var live = []ledger.State{ledger.StateClaimed, ledger.StateHeld, ledger.StateSending, ledger.StateAmbiguous}

// compare holds every row that something may happen to, and those that something happened to, against the model.
func (w *world) compare() error {
	seen, err := w.list(live)
	if err != nil {
		return err
	}
	for _, id := range w.touched {
		if err := w.get(id, seen); err != nil {
			return err
		}
	}
	for _, r := range w.model.Rows {
		if _, ok := seen[r.ID]; !ok && !r.Final() {
			if err := w.get(r.ID, seen); err != nil {
				return err
			}
		}
	}
	w.touched = w.touched[:0]
	return w.hold(seen)
}

// compareAll does that with every row, and with the ledger's own counts.
func (w *world) compareAll() error {
	seen, err := w.list(nil)
	if err != nil {
		return err
	}
	if err := w.hold(seen); err != nil {
		return err
	}
	if len(seen) != len(w.model.Rows) {
		return fmt.Errorf("the ledger has %d rows, the model %d", len(seen), len(w.model.Rows))
	}
	st, err := w.ledger.Stats(context.Background())
	if err != nil {
		return err
	}
	twice, states := int64(0), map[ledger.State]int64{}
	for _, r := range w.model.Rows {
		twice += int64(r.Twice)
		states[ledger.State(r.State)]++
	}
	if st.ProvenTwice != twice {
		return fmt.Errorf("the ledger counts %d proven duplicates, the model %d", st.ProvenTwice, twice)
	}
	for _, s := range ledger.States {
		if st.States[s] != states[s] {
			return fmt.Errorf("the ledger counts %d rows as %s, the model %d", st.States[s], s, states[s])
		}
	}
	return nil
}

// hold compares rows with the model's.
func (w *world) hold(seen map[string]ledger.Notification) error {
	now := time.Now()
	for id, n := range seen {
		r := w.model.Row(id)
		if r == nil {
			return fmt.Errorf("the ledger has a row that nobody claimed: %s (%s)", id, n.State)
		}
		if err := w.model.Observe(r, look(&n), now); err != nil {
			return about(r, err)
		}
	}
	return nil
}

func (w *world) list(states []ledger.State) (map[string]ledger.Notification, error) {
	seen := map[string]ledger.Notification{}
	f := ledger.Filter{States: states, Oldest: true, Limit: ledger.MaxList}
	for {
		p, err := w.ledger.List(context.Background(), f)
		if err != nil {
			return nil, err
		}
		for _, n := range p.Rows {
			seen[n.ID.String()] = n
		}
		if f.Cursor = p.Next; p.Next == 0 {
			return seen, nil
		}
	}
}

func (w *world) get(id string, seen map[string]ledger.Notification) error {
	rec, err := w.ledger.Get(context.Background(), w.events[id].id, nil)
	if err != nil {
		return fmt.Errorf("row %s: %w", id, err)
	}
	seen[id] = rec.Notification
	return nil
}

// look is a row as the model looks at it.
func look(n *ledger.Notification) Seen {
	s := Seen{
		State: string(n.State), Reason: string(n.Reason), Delivery: string(n.Delivery), Provider: n.Provider, MaybeSent: n.MaybeSent,
		Final: n.State.Final(), Attempts: n.AttemptCount, Version: n.Version, Due: n.DueAt,
	}
	for _, a := range ledger.Allowed(n.State, n.MaybeSent) {
		s.Allowed = append(s.Allowed, string(a))
	}
	return s
}
