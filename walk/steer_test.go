package walk

import (
	"slices"
	"sort"
	"time"

	"sendonce/ledger"
)

// steer leads the walk to lines of the table that were rarely taken: it makes one act that takes such a line, or a step
// towards one. false: nothing fits now.
func (w *world) steer() (bool, error) {
	if w.model.Halted && w.chance(20) {
		return true, w.accept()
	}
	for _, name := range []string{"first", "second", "keyed"} {
		if w.model.Gates[name].Paused && w.chance(15) {
			return true, w.resume(name)
		}
	}
	lines := slices.Clone(table)
	w.random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	sort.SliceStable(lines, func(i, j int) bool { return w.taken(lines[i]) < w.taken(lines[j]) })
	for _, l := range lines[:10] {
		if done, err := w.toward(l); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// taken is how often a line was taken; what is more than this walk's share does not count.
func (w *world) taken(l Line) int { return min(w.share(), w.model.Taken[l.From+" "+l.By]) }

// share is what this walk has to do of what all have to.
func (w *world) share() int { return (least + *walksFlag - 1) / *walksFlag }

func (w *world) toward(l Line) (bool, error) {
	switch l.By {
	case "take":
		return w.alive() <= crowd, w.claimNew()
	case "accepted", "rejected", "deferred", "fault", "ambiguous", "exhausted":
		return w.answerSo(l.By)
	case "repeat_ended":
		c := w.held(func(c *call) bool { return c.Kind == ledger.KindRepeat })
		return c != nil, w.answer(c, w.replyOf(w.pick("rejected", "deferred", "fault", "ambiguous")))
	case "unbuildable":
		e := w.fresh()
		e.Message, e.SendAt = message(e.Channel, brokenText), time.Time{}
		return true, w.claim(e)
	case "repeat":
		r := w.any(func(r *Row) bool {
			return r.State == "ambiguous" && r.Channel == "email" && len(r.Attempts) == 1 && !r.Restored
		})
		if r != nil && !w.model.Halted {
			return w.goBy(6 * time.Second), nil
		}
		c := w.held(func(c *call) bool { return c.Provider == "keyed" && c.Kind == ledger.KindSend })
		return c != nil, w.answer(c, replies[len(replies)-2])
	case "process_ended":
		if len(w.requests()) < 3 {
			return false, nil
		}
		return true, w.crash()
	case "expire":
		return w.expireOne(l.From)
	case "restored":
		return w.restoreSome(l.From)
	case "proof":
		if r := w.any(func(r *Row) bool { return r.State == l.From && len(r.Attempts) > 0 }); r != nil {
			return true, w.prove(r, 1+w.random.IntN(len(r.Attempts)))
		}
		return w.unsettle(l.From)
	}
	r := w.any(func(r *Row) bool { return r.State == l.From && (!l.Unsettled || r.MaybeSent) })
	if r == nil {
		return w.unsettle(l.From)
	}
	return true, w.settle(r, l.By, r.Version(), w.later(l.By))
}

// later is a new end for rows that are released.
func (w *world) later(action string) (t time.Time) {
	if action == "release" {
		t = time.Now().Add(5 * time.Minute).Truncate(time.Millisecond)
	}
	return t
}

// held picks a request that a provider holds.
func (w *world) held(fits func(*call) bool) *call {
	for _, c := range w.requests() {
		if fits(c) {
			return c
		}
	}
	return nil
}

// answerSo lets a provider answer so that a line is taken.
func (w *world) answerSo(by string) (bool, error) {
	if by != "exhausted" {
		c := w.held(func(c *call) bool { return c.Kind == ledger.KindSend })
		return c != nil, w.answer(c, w.replyOf(by))
	}
	if c := w.held(func(c *call) bool { return c.Kind == ledger.KindSend && c.Row.Steps > 0 }); c != nil {
		return true, w.answer(c, w.replyOf("deferred"))
	}
	r := w.any(func(r *Row) bool { return r.State == "claimed" && r.Steps > 0 })
	return r != nil && w.goBy(time.Until(r.Due)+time.Second), nil
}

// unsettle brings a row that may have been sent to a final state, or a step nearer: a policy releases it, it is deferred, and then
// it is cancelled, or held until it expires.
func (w *world) unsettle(state string) (bool, error) {
	waiting := w.any(func(r *Row) bool { return r.State == "claimed" && len(r.Attempts) > 0 })
	if maybe := w.any(func(r *Row) bool { return r.State == "claimed" && r.MaybeSent }); maybe != nil {
		waiting = maybe
	}
	switch {
	case state == "held" && waiting != nil:
		return true, w.settle(waiting, "hold", waiting.Version(), time.Time{})
	case state == "cancelled" && waiting != nil && waiting.MaybeSent:
		return true, w.settle(waiting, "cancel", waiting.Version(), time.Time{})
	case state == "expired" && waiting != nil && waiting.MaybeSent:
		return true, w.settle(waiting, "hold", waiting.Version(), time.Time{})
	}
	if c := w.held(func(c *call) bool { return c.Kind == ledger.KindSend && c.Row.MaybeSent }); c != nil {
		return true, w.answer(c, reply{Answer: Answer{Outcome: "deferred", Answered: true, RetryAfter: time.Minute}})
	}
	if state == "expired" {
		if done, err := w.expireOne("held"); done || err != nil {
			return done, err
		}
	}
	r := w.any(func(r *Row) bool { return r.State == "ambiguous" && r.Type == "again" && !r.SentAgain && !r.Restored })
	if r != nil && !w.model.Halted {
		return w.goBy(time.Until(r.Since.Add(rules.Policies["again"].After)) + time.Second), nil
	}
	if c := w.held(func(c *call) bool { return c.Row.Type == "again" && !c.Row.SentAgain }); c != nil {
		return true, w.answer(c, replies[len(replies)-2])
	}
	if w.alive() > crowd {
		return false, nil
	}
	e := w.fresh()
	e.EventType, e.Channel, e.Recipient = "again", ledger.SMS, "+15550100001"
	e.SendAt, e.Message, e.Provider = time.Time{}, message(ledger.SMS, e.EventID), ""
	return true, w.claim(e)
}

// expireOne lets time go by until a row's end.
func (w *world) expireOne(state string) (bool, error) {
	if w.model.Halted {
		return false, nil
	}
	var first *Row
	for _, r := range w.model.Rows {
		if r.State == state && (first == nil || r.Expires.Before(first.Expires)) {
			first = r
		}
	}
	if first == nil || time.Until(first.Expires) > 4*time.Minute {
		return state == "claimed", w.claimToExpire()
	}
	return w.goBy(time.Until(first.Expires) + time.Second), nil
}

// claimToExpire claims a row that will wait at a gate until its end.
func (w *world) claimToExpire() error {
	if !w.model.Gates["keyed"].Paused {
		return w.pause("keyed")
	}
	e := w.fresh()
	e.Channel, e.Recipient, e.Provider = ledger.Email, "ada@example.test", ""
	e.SendAt, e.ExpiresAt, e.Message = time.Time{}, time.Now().Add(20*time.Second), message(ledger.Email, e.EventID)
	return w.claim(e)
}

// restoreSome puts back a copy in which rows are in a state, or makes one.
func (w *world) restoreSome(state string) (bool, error) {
	count := func(m *Model) (n int) {
		for _, r := range m.Rows {
			if r.State == state {
				n++
			}
		}
		return n
	}
	switch {
	case w.model.Halted:
		return true, w.accept()
	case w.backup != nil && count(w.backup.model) >= 2:
		if time.Since(w.backup.at) < 3*time.Second {
			return w.goBy(3 * time.Second), nil
		}
		return true, w.putBack()
	case count(w.model) >= 3:
		return true, w.copyAside()
	}
	return false, nil
}

func (w *world) goBy(d time.Duration) bool {
	d = max(d, time.Millisecond)
	w.did("%v go by", d)
	w.advance(d)
	return true
}
