package walk

import (
	"context"
	"fmt"
	"time"

	"sendonce/ledger"
)

// witness is what the providers saw, by source and key. It knows nothing of states: it only asks of each message that may be a
// second one why it was sent.
type witness map[string]*evidence

type evidence struct {
	handings []handed
	accepted time.Time // when a person accepted an old copy as the ledger to go on with
}

// handed is one request; surely says that the provider refused it, so that it is no message.
type handed struct {
	call   *call
	surely bool
}

// saw notes a request.
func (w witness) saw(key string, c *call) {
	if w[key] == nil {
		w[key] = &evidence{}
	}
	w[key].handings = append(w[key].handings, handed{call: c})
}

// heard notes that the provider surely did not send it.
func (w witness) heard(key string, c *call, a *reply) {
	for i := range w[key].handings {
		if h := &w[key].handings[i]; h.call == c {
			h.surely = a.Outcome == "deferred" || a.Outcome == "rejected"
		}
	}
}

// blind checks the newest request under a key: at most one blind send. Between two that were accepted or may have been there is a
// release that stands in the ledger, or a person accepted an old copy, or the second is a repeat of the same bytes under the same key.
func (w *world) blind(r *Row) error {
	e := w.witness[r.Source+"\x00"+r.Key]
	last := e.handings[len(e.handings)-1].call
	var before *call
	for _, h := range e.handings[:len(e.handings)-1] {
		if !h.surely {
			before = h.call
		}
	}
	if before == nil {
		return nil
	}
	if last.Kind == ledger.KindRepeat && last.WireKey == before.WireKey && string(last.body) == string(before.body) && last.Provider == before.Provider {
		return nil
	}
	if !e.accepted.IsZero() && !e.accepted.Before(before.Began) {
		return nil
	}
	rec, err := w.ledger.Get(context.Background(), w.events[r.ID].id, nil)
	if err != nil {
		return err
	}
	for _, s := range rec.Settlements {
		if s.Action == ledger.CauseRelease && !s.At.Before(before.Began.Truncate(time.Millisecond)) && !s.At.After(last.Began) {
			return nil
		}
	}
	return fmt.Errorf("SECOND BLIND SEND: attempt %d at %s on %v after attempt %d at %s on %v, and nobody released it",
		last.Order.Number, last.Provider, last.Began, before.Order.Number, before.Provider, before.Began)
}
