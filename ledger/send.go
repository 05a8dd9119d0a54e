package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// send makes one attempt: build the request, open the attempt durably, hand the request over, close the attempt
// with what is known. It is the only caller of Provider.Send. probe says that the gate waits for this result.
// finish ends the work on the row, before it is handed on.
func (l *Ledger) send(work context.Context, o *outlet, n Notification, kind Kind, probe bool, finish func()) {
	defer finish()
	opened := false
	defer func() {
		if probe && !opened {
			o.withdraw()
		}
	}()
	first, ok := l.firstBytes(work, o, n, kind)
	if !ok {
		return
	}
	a := o.attempt(&n, kind, l.clock.now())
	req, err := build(o.provider, l.order(n, a, first))
	var panicked *panicError
	if err != nil && !errors.As(err, &panicked) {
		l.unbuildable(n, o, err, finish)
		return
	}
	if req != nil {
		a.seal(req, o.repeatWindow() > 0 && first == nil)
	}
	if err := l.store.Take(Taking{Attempt: a, Version: n.Version, Provider: o.name}); err != nil {
		finish()
		l.notTaken(o, n, err)
		return
	}
	opened = true
	Reach(PointAttemptOpened)
	n.State, n.Reason, n.AttemptCount, n.Version, n.Provider = StateSending, "", a.Number, n.Version+1, o.name
	n.NextAction, n.DueAt, n.UpdatedAt = DoNothing, time.Time{}, a.StartedAt
	l.recent.moved(n)
	l.watchers.row(&n)
	l.carryOut(work, o, n, a, errand{request: req, panicked: panicked, probe: probe, again: first != nil}, finish)
}

// attempt is a row's next attempt, before its request is built.
func (o *outlet) attempt(n *Notification, kind Kind, at time.Time) Attempt {
	return Attempt{Seq: n.Seq, Number: n.AttemptCount + 1, Kind: kind, Provider: o.name, Account: o.provider.Account(), StartedAt: at}
}

// seal notes which request leaves; keep says that it is kept for a repeat.
func (a *Attempt) seal(req Request, keep bool) {
	sum := sha256.Sum256(req.Body())
	copy(a.RequestHash[:], sum[:])
	if keep {
		a.Request = req.Body()
	}
}

// errand is what is done with an attempt that is open.
type errand struct {
	request  Request     // nil: none could be built
	panicked *panicError // while it was built
	probe    bool        // the gate waits for the result
	again    bool        // the request was an earlier attempt's, its reference included
}

// carryOut hands the request over, closes the attempt with what is known, and hands the row on.
func (l *Ledger) carryOut(work context.Context, o *outlet, n Notification, a Attempt, h errand, finish func()) {
	r := Result{Outcome: Deferred, Phase: NotWritten}
	if h.panicked == nil {
		r = l.call(work, o, n, h.request)
	} else {
		r.Error = h.panicked.Error()
	}
	Reach(PointAnswerRead)
	l.report(o, r, h.probe)
	row, closed := l.closeAttempt(work, o, n, a, r, h.again)
	finish()
	if closed {
		l.recent.moved(row)
		l.watchers.row(&row)
		l.waiters.ended(row)
		l.moveOn(row)
		if len(o.states.at) > 0 && r.Outcome == Accepted && row.State == StateSent {
			o.states.add(0, stateAsk{row.MessageID, row.UpdatedAt})
		}
	}
}

// order is what the adapter builds from. Where first is set its bytes are sent again, its reference included.
func (l *Ledger) order(n Notification, a Attempt, first *Attempt) Order {
	order := Order{
		ID: n.ID.String(), Number: a.Number, Kind: a.Kind, WireKey: WireKey(n.Source, n.DedupeKey, n.SourceInKey),
		Channel: n.Channel, Recipient: n.Recipient, Message: n.Message, EventType: n.EventType,
		OccurredAt: n.OccurredAt, ClaimedAt: n.ClaimedAt, ExpiresAt: n.ExpiresAt, At: a.StartedAt,
	}
	if n.Channel == SMS {
		order.Recipient = n.RecipientKey // + and digits
	}
	if first != nil {
		order.Number, order.Stored = first.Number, first.Request
	}
	return order
}

// panicError is a panic of an adapter. Its text is kept only where the runtime wrote it: any other may hold what the adapter
// had in its hands.
type panicError struct{ value any }

func (p *panicError) Error() string {
	if e, ok := p.value.(runtime.Error); ok {
		return "the adapter panicked: " + e.Error()
	}
	return fmt.Sprintf("the adapter panicked: %T", p.value)
}

func build(p Provider, order Order) (req Request, err error) {
	defer func() {
		if v := recover(); v != nil {
			req, err = nil, &panicError{v}
		}
	}()
	return p.Build(order)
}

// call hands the request over within the provider's time-out, detached from whoever asked for it.
func (l *Ledger) call(work context.Context, o *outlet, n Notification, req Request) (r Result) {
	timeout := o.timeout
	if timeout <= 0 {
		timeout = l.settings.Channels[n.Channel].Timeout
	}
	ctx, cancel := context.WithTimeout(work, timeout+o.patience())
	defer cancel()
	defer func() {
		if v := recover(); v != nil { // bytes may have left
			r = Result{Outcome: Ambiguous, Reason: ReasonUnreadableAnswer, Error: (&panicError{v}).Error()}
		}
	}()
	return o.provider.Send(ctx, req).sound()
}

// notTaken deals with a take that did not happen: the row is read again. Somebody may have moved it; if he held it and let it
// go again, it is due as it was.
func (l *Ledger) notTaken(o *outlet, n Notification, err error) {
	if !errors.Is(err, ErrMoved) {
		l.troubles.Tell("take", "id", n.ID, "provider", o.name, "error", err)
		o.restUntil(l.clock.now().Add(storeRetry))
	}
	for _, x := range []*outlet{o, l.outlets[n.Provider]} {
		if x != nil {
			x.look()
			x.poke()
		}
	}
}

// unbuildable fails a row that its adapter can never send. There is no attempt.
func (l *Ledger) unbuildable(n Notification, o *outlet, cause error, finish func()) {
	now := l.clock.now()
	moved := false
	row, err := l.settle(n.ID, func(cur Notification) (Change, error) {
		to, ok := Next(cur.State, CauseUnbuildable, cur.MaybeSent)
		if moved = !ok || cur.Version != n.Version; moved {
			return Change{}, nil
		}
		c := keep(cur, now)
		c.State, c.Reason, c.NextAction, c.DueAt = to, ReasonUnbuildable, DoNothing, time.Time{}
		c.Settlement = &Settlement{At: now, Action: CauseUnbuildable, From: cur.State, To: to, Actor: actorSelf, Reason: shorten(cause.Error())}
		return c, nil
	})
	if err == nil && moved {
		err = ErrMoved
	}
	if err != nil {
		finish()
		l.notTaken(o, n, err)
		return
	}
	l.log.Error("unbuildable", "id", n.ID, "provider", o.name)
	l.waiters.ended(row)
}
