package walk

import (
	"context"
	"errors"
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

// compare holds every row that something may happen to, and those that something happened to, against the model. It reads the
// file itself, through a connection of its own.
func (w *world) compare() error {
	ids, now := map[string]bool{}, time.Now()
	for _, id := range w.touched {
		ids[id] = true
	}
	for _, r := range w.model.Rows {
		if !r.Final() || !r.Gone && w.model.MayErase(r, now) {
			ids[r.ID] = true
		}
	}
	w.touched = w.touched[:0]
	for _, r := range w.model.Rows {
		if !ids[r.ID] {
			continue
		}
		s, err := w.eye.look(w.events[r.ID].id)
		if err == nil {
			err = w.model.Observe(r, s, now)
		}
		if err != nil {
			return about(r, err)
		}
	}
	return nil
}

// compareAll does that with every row as the ledger lists it, and with the ledger's own counts.
func (w *world) compareAll() error {
	seen := 0
	f := ledger.Filter{Oldest: true, Limit: ledger.MaxList}
	for f.Cursor >= 0 {
		p, err := w.ledger.List(context.Background(), f)
		if err != nil {
			return err
		}
		for i := range p.Rows {
			n := &p.Rows[i]
			r := w.model.Row(n.ID.String())
			if r == nil {
				return fmt.Errorf("the ledger has a row that nobody claimed: %s (%s)", n.ID, n.State)
			}
			if err := w.model.Observe(r, look(n), time.Now()); err != nil {
				return about(r, err)
			}
			seen++
		}
		if f.Cursor = p.Next; p.Next == 0 {
			break
		}
	}
	erased := 0
	for _, r := range w.model.Rows {
		if !r.Gone {
			continue
		}
		erased++
		s, err := w.eye.look(w.events[r.ID].id)
		if err := errors.Join(err, w.model.Observe(r, s, time.Now()), w.model.whole(r)); err != nil {
			return about(r, err)
		}
	}
	if seen+erased != len(w.model.Rows) {
		return fmt.Errorf("the ledger lists %d rows, the model has %d of which %d are erased", seen, len(w.model.Rows), erased)
	}
	st, err := w.ledger.Stats(context.Background())
	if err != nil {
		return err
	}
	twice, states := int64(0), map[ledger.State]int64{}
	for _, r := range w.model.Rows {
		twice += int64(r.Twice)
		if !r.Gone {
			states[ledger.State(r.State)]++
		}
	}
	if st.Erased != int64(erased) {
		return fmt.Errorf("the ledger counts %d erased rows, the model %d", st.Erased, erased)
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
