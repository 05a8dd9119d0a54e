package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sendonce/fake"
)

// points are the named places in the service at which it can be told to die; "" stands for a kill from outside.
var points = []string{"claim_committed", "attempt_opened", "request_written", "answer_read", "closed", "erasing", "erased", "folding", ""}

const (
	most       = 600                    // new events of a cycle: the kill comes long before
	deepest    = 80                     // a point is passed at most so often before it kills
	erasings   = 12                     // so often where it is passed once for some rows
	longest    = 250 * time.Millisecond // from the first request to a kill from outside
	startKills = 5                      // one restart in so many is killed while it recovers
)

// keptShortly lets rows be erased while the load that made them goes on.
var keptShortly = setting{"storage:", "retention: {after: 300ms}\nstorage:"}

// run is a crash test on one ledger.
type run struct {
	t     *testing.T
	place *place
	began time.Time

	mu     sync.Mutex
	events []*event // appended to by the one drawer only
	rows   map[string]bool
	tally  tally
}

// Keeps out F03, F11, F16: a killed process that sends again what it had sent, forgets what it acknowledged, or leaves a
// row behind that nobody works on.
func TestCrash(t *testing.T) {
	t.Parallel()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("go test ./crash -run 'TestCrash$' -cycles %d -seed %d", *cycles, *seed)
	r := &run{t: t, began: time.Now(), rows: map[string]bool{}, tally: newTally()}
	r.place = newPlace(t, fake.Options{WellBehaved: true, Delay: 8 * time.Millisecond, Slow: 150 * time.Millisecond}, keptShortly)
	for n := range *cycles {
		r.cycle(n, rand.New(rand.NewPCG(*seed, uint64(n))))
		if t.Failed() {
			t.Fatalf("in cycle %d of %d", n, *cycles)
		}
		if n%100 == 99 {
			t.Logf("%d cycles, %d events, %v", n+1, len(r.events), time.Since(r.began).Round(time.Second))
		}
	}
	r.verdict()
	t.Log("\n" + r.tally.String())
	if r.tally.erased == 0 || r.tally.knownErased == 0 {
		t.Error("no row was erased, or none of their events posted again under load")
	}
}

// cycle kills the service once under load and lets the next process bring everything to an end.
func (r *run) cycle(n int, rng *rand.Rand) {
	first := len(r.events)
	killedAt := r.crash(points[n%len(points)], rng)
	if n%startKills == startKills-1 {
		killedAt = r.crashInStart(rng)
	}
	if *cycles <= 50 || n%25 == 0 {
		r.place.check()
	}

	s := r.place.start()
	r.acknowledge(s, r.events[first:])
	s.idle()
	r.judgeAmbiguous(s, killedAt)
	s.stop(patience)
}

// crash starts the service, posts events, and sees it die. It returns when it did.
func (r *run) crash(point string, rng *rand.Rand) time.Time {
	var env []string
	wait := longest/10 + time.Duration(rng.Int64N(int64(longest)))
	if point != "" {
		depth := deepest
		if point == "erasing" || point == "erased" {
			depth = erasings
		}
		env = []string{"CRASH_AT=" + point, "CRASH_AFTER=" + strconv.Itoa(1+rng.IntN(depth))}
		wait = patience
	}
	s := r.startToDie(env)
	var outside atomic.Bool
	timer := time.AfterFunc(wait, func() {
		outside.Store(true)
		s.kill()
	})
	r.load(s, rng, most)
	<-s.ended // at the latest when a gate that the load closed has opened again
	timer.Stop()
	at := time.Now()
	s.killed()
	if point != "" && outside.Load() {
		r.t.Fatalf("the service had to be killed from outside: %s was not reached", point)
	}
	r.tally.kills[point]++
	return at
}

// startToDie starts a service that dies at a point. One that already comes by it in its start, as it folds or erases what the last one
// left, is a kill in a start; the next does that work in peace, and then it is tried anew.
func (r *run) startToDie(env []string) *service {
	for range 20 {
		s, found := r.place.launch(nil, env...)
		if s.ready(found) {
			return s
		}
		s.killed()
		r.tally.startKills++
		r.place.start().stop(patience)
	}
	r.t.Fatalf("each start comes by %v", env)
	return nil
}

// crashInStart kills the service at a random moment of its start, perhaps in the middle of its recovery, perhaps when it
// has gone on sending. It returns when it did.
func (r *run) crashInStart(rng *rand.Rand) time.Time {
	s, _ := r.place.launch(nil)
	select {
	case <-time.After(time.Duration(rng.Int64N(int64(60 * time.Millisecond)))):
	case <-s.ended:
	}
	s.kill()
	at := time.Now()
	s.killed()
	r.tally.startKills++
	return at
}

// acknowledge posts events until each is acknowledged.
func (r *run) acknowledge(s *service, events []*event) {
	work := make(chan *event)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for e := range work {
				end := time.Now().Add(patience)
				for time.Now().Before(end) && !s.gone() {
					if acknowledged, _ := r.submit(s, order{events: []*event{e}}); acknowledged {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	for _, e := range events {
		work <- e
	}
	close(work)
	all.Wait()
	for _, e := range events {
		if e.told == "" {
			r.t.Fatalf("%s is not acknowledged after the restart\n%s", e.id, s.log)
		}
	}
}

// judgeAmbiguous demands a cause for each row that became ambiguous in this cycle.
func (r *run) judgeAmbiguous(s *service, killedAt time.Time) {
	var fresh []row
	err := s.api.list(context.Background(), url.Values{"state": {"ambiguous"}}, func(n row) bool {
		if r.rows[n.ID] {
			return false // this and all older ones were judged before
		}
		fresh = append(fresh, n)
		return true
	})
	if err != nil {
		r.t.Fatal(err)
	}
	open := 0
	for _, n := range fresh {
		r.rows[n.ID] = true
		full, err := s.api.get(context.Background(), n.ID)
		if err != nil {
			r.t.Fatal(err)
		}
		if n.Reason == "process_ended" {
			open++
			r.tally.processEnded++
		} else {
			r.tally.answerLost++
		}
		if cause := r.cause(&full, killedAt); cause != "" {
			r.t.Errorf("%s is ambiguous (%s) without a cause: %s\n%+v", n.EventID, n.Reason, cause, full.Attempts)
		}
	}
	if open > 0 {
		r.tally.openKills++
		r.tally.mostOpen = max(r.tally.mostOpen, open)
	}
}

// cause says what is wrong with an ambiguous row; empty: nothing.
func (r *run) cause(n *row, killedAt time.Time) string {
	if len(n.Attempts) == 0 || len(n.Attempts) != n.AttemptCount {
		return fmt.Sprintf("it has %d attempts and counts %d", len(n.Attempts), n.AttemptCount)
	}
	last := n.Attempts[len(n.Attempts)-1]
	i := slices.IndexFunc(r.events, func(e *event) bool { return e.id == n.EventID })
	switch {
	case i < 0:
		return "nobody posted it"
	case last.Outcome != "ambiguous" || !n.MaybeSent:
		return "its last attempt is " + last.Outcome
	case n.Reason != "process_ended" && !r.events[i].losesAnswer():
		return "the provider answered"
	case n.Reason == "process_ended" && (last.Phase != "" || last.StartedAt.After(killedAt)):
		return "its attempt was not open when the process was killed"
	}
	return ""
}
