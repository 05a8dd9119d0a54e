package ledger

import (
	"context"
	"errors"
	"sync"
	"time"
)

// stateRoom is how many messages of one provider wait in memory to be asked for.
const stateRoom = 10_000

// stateQueue are the messages that one provider is to be asked for: those that this process saw accepted. A restart forgets them.
type stateQueue struct {
	at []time.Duration // after the acceptance; none: nothing waits here

	mu      sync.Mutex
	waiting [][]stateAsk // by how often they were asked, each in the order of acceptance
	count   int
	dropped int // since the last word about it
}

// stateAsk is a message that is asked for.
type stateAsk struct {
	messageID  string
	acceptedAt time.Time
}

func newStateQueue(p Provider) *stateQueue {
	q := &stateQueue{}
	if s, ok := p.(Stater); ok {
		q.at = s.StatesAt()
		q.waiting = make([][]stateAsk, len(q.at))
	}
	return q
}

// add notes a message that was asked so often. Where there is no room the oldest one goes, which has been asked for most.
func (q *stateQueue) add(asked int, a stateAsk) {
	if asked >= len(q.at) || a.messageID == "" {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := len(q.waiting) - 1; i >= 0 && q.count >= stateRoom; i-- {
		if len(q.waiting[i]) > 0 {
			q.waiting[i] = q.waiting[i][1:]
			q.count--
			q.dropped++
		}
	}
	q.waiting[asked] = append(q.waiting[asked], a)
	q.count++
}

// next takes a message whose time has come; ok is false where there is none: at is then when to look again, zero for nothing waits.
func (q *stateQueue) next(now time.Time) (a stateAsk, asked int, at time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, list := range q.waiting {
		if len(list) == 0 {
			continue
		}
		due := list[0].acceptedAt.Add(q.at[i])
		if !now.Before(due) {
			q.waiting[i] = list[1:]
			q.count--
			return list[0], i, now, true
		}
		at = earlier(at, due)
	}
	return stateAsk{}, 0, at, false
}

// turnsBy counts the turns that have come so long after an acceptance, which are one where an answer serves them all; at least so many.
func (q *stateQueue) turnsBy(age time.Duration, least int) int {
	for least < len(q.at) && q.at[least] <= age {
		least++
	}
	return least
}

// takeDropped returns how many were dropped since the last call.
func (q *stateQueue) takeDropped() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.dropped
	q.dropped = 0
	return n
}

// keepStates asks one provider, one message at a time, until ctx is done: while the service drains nothing is asked.
func (l *Ledger) keepStates(ctx context.Context, o *outlet) {
	for ctx.Err() == nil {
		next := l.stateOnce(ctx, o)
		sleep(ctx, nil, l.until(next))
	}
}

// stateOnce asks for the first message whose time has come, and returns when to go on; zero: in a minute. A failure costs the
// message its turn, so that one which always fails keeps none of the others back.
func (l *Ledger) stateOnce(ctx context.Context, o *outlet) time.Time {
	if n := o.states.takeDropped(); n > 0 {
		l.troubles.Tell("too many messages to ask for their state", "provider", o.name, "dropped", n)
	}
	now := l.clock.now()
	if c := l.store.Condition(); c.Restored || c.Err != nil || o.pausedByPerson() {
		return time.Time{}
	}
	if rest := o.looks.resting(); now.Before(rest) {
		return rest
	}
	a, asked, next, ok := o.states.next(now)
	if !ok {
		return next
	}
	known, err := l.askState(ctx, o, a.messageID)
	switch {
	case ctx.Err() != nil:
		return time.Time{}
	case err != nil:
		l.lookFailed(o, nil, err)
	default:
		o.looks.answered()
	}
	if known == NoDelivery || Higher(known, Undelivered) != known { // else nothing more is to come
		o.states.add(o.states.turnsBy(l.clock.now().Sub(a.acceptedAt), asked+1), a)
	}
	return l.clock.now().Add(lookPause)
}

// askState asks for one message and stores what is said of it, each word once. It returns what is known of the delivery now.
func (l *Ledger) askState(ctx context.Context, o *outlet, messageID string) (Delivery, error) {
	var r Receipt
	err := o.looks.ask(ctx, func(ctx context.Context) (err error) {
		r, err = o.provider.(Stater).State(ctx, l.clock.now(), messageID)
		return err
	})
	switch {
	case err != nil || r.MessageID == "":
		return NoDelivery, err
	case r.MessageID != messageID:
		return NoDelivery, errors.New("the adapter answered about another message than it was asked")
	}
	r = r.sound(o.name, l.clock.now())
	r.EventKey = shortKey("state:" + messageID + ":" + r.Kind)
	r.FactKey = r.EventKey
	list, err := l.store.Prove([]Receipt{r}, decideProof)
	if err != nil {
		return NoDelivery, err
	}
	l.proved(o.name, &list[0])
	l.log.Debug("state", "provider", o.name, "id", list[0].ID, "kind", r.Kind, "delivery", r.Delivery)
	return Higher(list[0].Delivery, r.Delivery), nil
}
