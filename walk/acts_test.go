package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent }

func (w *world) pick(words ...string) string { return words[w.random.IntN(len(words))] }

// did notes an act for the report of a failure.
func (w *world) did(format string, args ...any) {
	w.acts = append(w.acts, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (w *world) touch(r *Row) { w.touched = append(w.touched, r.ID) }

func name(r *Row) string {
	return fmt.Sprintf("%s %s (%s %s, %d attempts)", r.ID[len(r.ID)-4:], r.State, r.Channel, r.Type, len(r.Attempts))
}

// any picks a row that fits, mostly a young one; nil: there is none.
func (w *world) any(fits func(*Row) bool) *Row {
	rows := w.model.Rows
	if w.chance(70) {
		rows = rows[max(0, len(rows)-60):]
	}
	var list []*Row
	for _, r := range rows {
		if fits == nil || !r.Gone && fits(r) {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[w.random.IntN(len(list))]
}

// person settles a row, or tries to.
func (w *world) person() error {
	action := Actions[w.random.IntN(len(Actions))]
	r := w.any(func(r *Row) bool { return r.MaybeSent || !r.Final() })
	if r == nil || w.chance(30) {
		r = w.any(nil)
	}
	if r == nil {
		return nil
	}
	if allowed := r.Allowed(); len(allowed) > 0 && w.chance(80) {
		action = allowed[w.random.IntN(len(allowed))]
	}
	match := w.match(r)
	var expires time.Time
	if action == "release" && w.chance(70) {
		expires = time.Now().Add(5 * time.Minute).Truncate(time.Millisecond)
	}
	return w.settle(r, action, match, expires)
}

// match is an If-Match: the right one, none, or an old one.
func (w *world) match(r *Row) int64 {
	switch {
	case w.chance(60):
		return r.Version()
	case w.chance(70):
		return 0
	}
	return max(1, r.Version()-1)
}

func (w *world) settle(r *Row, action string, match int64, expires time.Time) error {
	w.did("%s %s, If-Match %d of %d, expires %v", action, name(r), match, r.Version(), expires)
	_, err := w.ledger.Settle(context.Background(), ledger.Act{
		Action: ledger.Cause(action), ID: w.events[r.ID].id, Reason: "walk", Actor: "walk", IfMatch: match, ExpiresAt: expires,
	})
	w.touch(r)
	want, failed := w.model.Act(r, action, match, expires, time.Now())
	if failed != nil {
		return failed
	}
	if want == Again {
		want = Done
	}
	if got := verdict(err); got != want {
		return fmt.Errorf("%s %s: %s (%v), the model says %s", action, name(r), got, err, want)
	}
	return nil
}

// verdict is an error in the model's words.
func verdict(err error) string {
	var state *ledger.StateError
	var version *ledger.VersionError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &state):
		return Wrong
	case errors.As(err, &version):
		return Differs
	case errors.Is(err, ledger.ErrIfMatch):
		return NeedMatch
	case errors.Is(err, ledger.ErrPast):
		return Past
	case errors.Is(err, ledger.ErrNeedAccept):
		return NeedYes
	case errors.Is(err, ledger.ErrContentGone):
		return Gone
	}
	return err.Error()
}

// resend asks for a second message on purpose.
func (w *world) resend() error {
	r := w.any(func(r *Row) bool { return r.Final() || r.State == "ambiguous" || w.chance(10) })
	if r == nil {
		return nil
	}
	return w.resendOf(r)
}

func (w *world) resendOf(r *Row) error {
	match, accept := w.match(r), w.chance(70)
	w.did("resend %s, If-Match %d of %d, accept %v", name(r), match, r.Version(), accept)
	now := time.Now()
	n, err := w.ledger.Resend(context.Background(), ledger.Act{ID: w.events[r.ID].id, Reason: "walk", Actor: "walk", IfMatch: match}, accept)
	w.touch(r)
	if want, got := w.model.Resend(r, match, accept, now), verdict(err); got != want {
		return fmt.Errorf("resend: %s (%v), the model says %s", got, err, want)
	} else if want != Done {
		return nil
	}
	e := w.events[r.ID].event
	e.SendAt, e.ExpiresAt, e.DedupeKey = time.Time{}, time.Time{}, n.DedupeKey
	if err := w.isNew(&e, ledger.ClaimResult{Notification: n}, now); err != nil {
		return err
	}
	w.model.Row(n.ID.String()).Parent = r.ID
	return nil
}

// proof reports that an attempt was accepted, whatever was said of it before, and now and then twice.
func (w *world) proof() error {
	r := w.any(func(r *Row) bool { return len(r.Attempts) > 0 && (r.State != "sent" || w.chance(15)) })
	if r == nil {
		return nil
	}
	return w.prove(r, 1+w.random.IntN(len(r.Attempts)))
}

func (w *world) prove(r *Row, number int) error {
	delivery := w.pick(deliveries...)
	w.did("proof of attempt %d of %s: %q", number, name(r), delivery)
	w.touch(r)
	rc := ledger.Receipt{
		Provider: r.Attempts[number-1].Provider, EventKey: fmt.Sprint("report-", len(w.acts), "-", r.ID), ID: w.events[r.ID].id, Number: number,
		Kind: w.pick("late_answer", "report"), Delivery: ledger.Delivery(delivery), Body: []byte("walk"),
	}
	for range 1 + w.random.IntN(2) {
		_, err := w.ledger.Prove(context.Background(), rc)
		if r.Gone && err == nil {
			return errors.New("a report met a row that was erased")
		}
		if err != nil && !(r.Gone && errors.Is(err, ledger.ErrNotFound)) {
			return err
		}
		synctest.Wait()
	}
	if r.Gone { // nothing is left that the report could be about
		return nil
	}
	return w.model.Proof(r, number, delivery, time.Now())
}

// requests are those that providers hold, in an order that does not depend on which arrived first in the same moment.
func (w *world) requests() []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(slices.Values(w.open), func(a, b *call) int { return w.events[a.ID].place - w.events[b.ID].place })
}

// reply lets a provider answer one of the requests that it holds.
func (w *world) reply() error {
	open := w.requests()
	if len(open) == 0 {
		return nil
	}
	return w.answer(open[w.random.IntN(len(open))], w.replyOf(w.pick("accepted", "rejected", "deferred", "fault", "ambiguous", "ambiguous")))
}

// replyOf picks a reply of a kind.
func (w *world) replyOf(kind string) reply {
	for _, i := range w.random.Perm(len(replies)) {
		if a := replies[i]; a.kind() == kind {
			return a
		}
	}
	panic("there is no reply of kind " + kind)
}

func (w *world) answer(c *call, a reply) error {
	if c == nil {
		return nil
	}
	if a.Outcome == "accepted" && w.chance(80) || a.Reason == "partial" {
		a.ids = []string{fmt.Sprint("m-", len(w.acts))}
	}
	if a.Outcome == "accepted" && a.ids != nil && c.Provider == "first" {
		if w.shared.id != "" && w.shared.row != c.ID && !w.model.Row(w.shared.row).Gone && w.chance(40) {
			a.ids[0], a.Shared = w.shared.id, true
		} else {
			w.shared.id, w.shared.row = a.ids[0], c.ID
		}
	}
	w.did("%s answers %s-%d: %s %s %s", c.Provider, c.ID[len(c.ID)-4:], c.Order.Number, a.Outcome, a.Fault, a.Reason)
	c.answer <- a
	return nil
}

// pass lets some of it go by.
func (w *world) pass() error {
	d := time.Duration(w.random.IntN(1000)) * time.Millisecond
	switch {
	case w.chance(10):
		d = time.Duration(w.random.IntN(300)) * time.Second
	case w.chance(50):
		d = time.Duration(w.random.IntN(60)) * time.Second
	}
	w.did("%v go by", d)
	w.advance(d)
	return nil
}
