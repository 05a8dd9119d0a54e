package crash

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

const (
	callers = 48 // requests at the same time
	largest = 20 // events of one batch
)

// order is one request that a caller makes.
type order struct {
	events []*event
	wait   time.Duration
}

// draw makes the next request: an event, a batch of some, or an event that was posted before.
func (r *run) draw(rng *rand.Rand) order {
	switch n := rng.IntN(100); {
	case n < 15 && len(r.events) > 0:
		from := 0
		if n < 11 { // mostly one whose row is being worked on
			from = max(0, len(r.events)-30)
		}
		return order{events: []*event{r.events[from+rng.IntN(len(r.events)-from)]}, wait: time.Duration(n%3) * time.Second}
	case n < 22:
		o := order{}
		for range 2 + rng.IntN(largest-1) {
			o.events = append(o.events, r.add(rng))
		}
		return o
	case n < 45:
		return order{events: []*event{r.add(rng)}, wait: 5 * time.Second}
	}
	return order{events: []*event{r.add(rng)}}
}

// add draws a new event and tells the provider what to do with it, before anybody posts it.
func (r *run) add(rng *rand.Rand) *event {
	e := newEvent(len(r.events)+1, r.place.hook, rng)
	if e.script != nil {
		r.place.fake.Script(e.token, e.script...)
	}
	r.events = append(r.events, e)
	return e
}

// load posts as fast as the callers get answers, until one gets none or the limit of new events is reached.
func (r *run) load(s *service, rng *rand.Rand, limit int) {
	orders := make(chan order)
	alone := make(chan struct{}) // closed by the first caller who gets no answer
	var once sync.Once
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for o := range orders {
				if _, answered := r.submit(s, o); !answered {
					once.Do(func() { close(alone) })
				}
			}
		})
	}
	for end := len(r.events) + limit; len(r.events) < end; {
		select {
		case orders <- r.draw(rng):
			continue
		case <-alone:
		}
		break
	}
	close(orders)
	all.Wait()
}

// submit makes one request and notes what was answered, if anything was: the service may have been killed.
func (r *run) submit(s *service, o order) (acknowledged, answered bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if len(o.events) == 1 {
		a, err := s.api.post(ctx, o.events[0].body, o.wait)
		return r.note(o.events[0], a, err), err == nil
	}
	bodies := make([]json.RawMessage, len(o.events))
	for i, e := range o.events {
		bodies[i] = e.body
	}
	answers, status, err := s.api.batch(ctx, bodies)
	if err != nil || status != http.StatusOK {
		return r.note(o.events[0], answer{Status: status}, err), err == nil
	}
	acknowledged = len(answers) == len(o.events)
	for i := range answers {
		acknowledged = r.note(o.events[i], answers[i], nil) && acknowledged
	}
	return acknowledged, true
}

// note holds an answer against what was answered before, and returns whether it acknowledges the event.
func (r *run) note(e *event, a answer, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.requests++
	switch {
	case err != nil:
		r.tally.unanswered++
		return false
	case a.Status == http.StatusServiceUnavailable || a.Status == http.StatusTooManyRequests:
		r.tally.later++
		return false
	case a.Status == http.StatusAccepted:
		r.tally.claimed++
		if e.claimed {
			r.t.Errorf("%s was acknowledged as new twice, first as %s, now as %s", e.id, e.told, a.ID)
		}
		e.claimed = true
	case a.Status == http.StatusOK:
		r.tally.known++
		if a.erased() {
			r.tally.knownErased++
		}
	default:
		r.t.Errorf("%s was answered with status %d %s", e.id, a.Status, a.Code)
		return false
	}
	known := a.EventID == e.id || a.erased() && a.Status == http.StatusOK && a.final()
	if !known || e.told != "" && e.told != a.ID {
		r.t.Errorf("%s was acknowledged as %s, now as %s of event %s", e.id, e.told, a.ID, a.EventID)
	}
	e.told = a.ID
	if a.final() {
		e.toldState = a.State
	}
	return true
}
