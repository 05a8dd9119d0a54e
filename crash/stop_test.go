package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sendonce/fake"
)

const running = 10 // sends in flight when the service is asked to stop

// inFlight posts events and returns when all of them are at the provider.
func inFlight(t *testing.T, p *place, s *service, arrived <-chan fake.Request) {
	t.Helper()
	for i := range running {
		a, err := s.api.post(context.Background(), smsBody(fmt.Sprint("evt-", i), "+14155550100", fmt.Sprint("tok_", i)), 0)
		if err != nil || a.Status != 202 {
			t.Fatalf("status %d %s: %v", a.Status, a.Code, err)
		}
	}
	for range running {
		select {
		case <-arrived:
		case <-time.After(patience):
			t.Fatalf("%d of %d requests arrived\n%s", p.fake.Requests(), running, s.log)
		}
	}
}

// Keeps out a deployment that makes ambiguous what only needed a moment more.
func TestStop_WaitsForRunningSends(t *testing.T) {
	t.Parallel()
	arrived := make(chan fake.Request, running+1)
	p := newPlace(t, fake.Options{WellBehaved: true, Slow: 3 * time.Second, OnRequest: func(r fake.Request) { arrived <- r }})
	p.fake.Behave(fake.AcceptSlow)
	s := p.start()
	inFlight(t, p, s, arrived)
	s.stop(10 * time.Second)
	p.check()
	s = p.start()
	expectStates(t, s, map[string]int{"sent": running})
	s.stop(patience)
}

// Keeps out a stop that hangs on a provider, and a next start that sends again what was cut.
func TestStop_CutsAtTheEndOfTheDrain(t *testing.T) {
	t.Parallel()
	arrived := make(chan fake.Request, running+1)
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(r fake.Request) { arrived <- r }},
		setting{"drain: 20s", "drain: 2s"}, setting{"timeout: 30s", "timeout: 2m"})
	p.fake.Behave(fake.AcceptHang)
	s := p.start()
	inFlight(t, p, s, arrived)
	s.stop(7 * time.Second)
	p.check()

	p.fake.Behave(fake.Accept)
	s = p.start()
	expectStates(t, s, map[string]int{"ambiguous": running})
	a, err := s.api.post(context.Background(), smsBody("evt-new", "+14155550100", "tok_new"), 20*time.Second)
	if err != nil || a.State != "sent" {
		t.Errorf("a new event is %q, status %d: %v", a.State, a.Status, err)
	}
	expectStates(t, s, map[string]int{"ambiguous": running, "sent": 1})
	if calls := p.fake.Requests(); calls != running+1 {
		t.Errorf("%d calls, want %d: what was cut is not sent again", calls, running+1)
	}
	s.stop(patience)
	p.check()
}

// Keeps out a deployment under load that loses what it acknowledged, or leaves attempts open.
func TestStop_UnderLoad(t *testing.T) {
	t.Parallel()
	r := &run{t: t, began: time.Now(), rows: map[string]bool{}, tally: newTally()}
	r.place = newPlace(t, fake.Options{WellBehaved: true, Delay: 8 * time.Millisecond, Slow: 150 * time.Millisecond})
	for n := range 3 {
		first := len(r.events)
		s := r.place.start()
		stopped := make(chan struct{})
		time.AfterFunc(longest, func() {
			defer close(stopped)
			s.stop(patience)
		})
		r.load(s, rand.New(rand.NewPCG(uint64(n), 3)), 1<<20)
		<-stopped
		r.place.check()
		s = r.place.start()
		r.acknowledge(s, r.events[first:])
		s.idle()
		r.judgeAmbiguous(s, time.Now())
		s.stop(patience)
	}
	if r.tally.processEnded > 0 {
		t.Errorf("%d attempts were open when the service had stopped", r.tally.processEnded)
	}
	r.verdict()
}

// expectStates demands how many rows stand in which state.
func expectStates(t *testing.T, s *service, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	if err := s.api.list(context.Background(), nil, func(n row) bool { got[n.State]++; return true }); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("rows by state: %v, want %v", got, want)
	}
}
