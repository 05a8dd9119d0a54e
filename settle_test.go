package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/fake"
)

var (
	settleEvents  = flag.Int("settle-events", 0, "events of the settle run; 0: 5,000, or 600 with the race detector")
	settleCrashes = flag.Int("settle-crashes", 6, "crashes of the settle run")
	settleSeed    = flag.Uint64("settle-seed", 0, "seed of the settle run; 0: a new one")
)

// Every tenth answer is lost, receipts come late or never, look-ups lag and fail, providers go away, and the service dies again
// and again: nobody gets a message twice without a recorded cause, none is lost, and what settles by itself settles rightly.
func TestSettleByItself(t *testing.T) {
	t.Parallel()
	seed, events := *settleSeed, *settleEvents
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	if events == 0 {
		events = map[bool]int{false: 5000, true: 600}[raced]
	}
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		w := &settleWorld{random: rand.New(rand.NewPCG(seed, seed)), bubbleWorld: newBubbleWorld(t, fake.Options{
			Seed: seed, Weights: settleWeights, HonourKeys: true, Delay: 300 * time.Millisecond,
			Receipts: fake.Receipts{After: 30 * time.Minute}, LookUps: fake.LookUps{Lag: 3 * time.Minute, Hidden: 1},
		})}
		w.run(events, *settleCrashes)
		w.settleAll(seed)
	})
	t.Logf("%.0f s", time.Since(began).Seconds())
}

// settleWeights lose the answer of every tenth request. In two of a hundred of these nobody took the message either, which no
// receipt and no look-up ever tells.
var settleWeights = map[fake.Behaviour]int{
	fake.Accept: 8700, fake.AcceptSlow: 100, fake.AcceptReset: 400, fake.AcceptError: 300, fake.AcceptHang: 280, fake.Lose: 10, fake.Unavailable: 10,
	fake.Throttle: 50, fake.Refuse: 100, fake.Unauthorized: 5, fake.Defer: 45,
}

// settleWorld is a run of many events in a bubble.
type settleWorld struct {
	*bubbleWorld
	random           *rand.Rand
	crashes, outages int
	ids              []string // of the rows, in the order of the events
}

const (
	settleBatch = 40               // events of one claim
	settleEvery = 20 * time.Second // a claim
	settleTail  = 13 * time.Hour   // for the last repeats and look-ups
	settleFew   = 300              // lost answers of a provider, below which their share is left a margin
	settleTwin  = 100              // every so manieth event of a kind is asked for twice, with two ids and the same text
)

func settleToken(n int) string { return fmt.Sprintf("tok_settle_%d", n) }

// twin is the event whose text an event has: mostly its own.
func twin(n int) int {
	if kinds := len(bubbleKinds); n/kinds%settleTwin == 1 {
		return n - kinds
	}
	return n
}

// event is the claim of the nth event.
func (w *settleWorld) event(n int) string {
	kind, token := bubbleKinds[n%len(bubbleKinds)], settleToken(twin(n))
	members := fmt.Sprintf(`"event_id":"evt_%d","channel":%q,"provider":%q`, n, kind.channel, kind.name)
	if kind.name == "fcm" && n%5 == 0 {
		members += `,"event_type":"again.reminder"`
	}
	switch kind.channel {
	case "sms":
		members += fmt.Sprintf(`,"recipient":"+1555%07d","message":{"text":"Order %s shipped."}`, twin(n)%4000, token)
	case "email":
		members += fmt.Sprintf(`,"recipient":"c%d@customer.example.test","message":{"subject":"Order","text":"Order %s shipped."}`, twin(n)%4000, token)
		if kind.name == "smtp" { // the fake reads the token from the address too
			members = strings.Replace(members, fmt.Sprintf("c%d@", twin(n)%4000), token+"@", 1)
		}
	case "push":
		members += fmt.Sprintf(`,"recipient":"device-%d","message":{"title":"Shipped","body":"Order %s"}`, n%4000, token)
	}
	return "{" + members + "}"
}

// claim claims events and demands that as many of them are new.
func (w *settleWorld) claim(first, count, fresh int) {
	w.t.Helper()
	events := make([]string, count)
	for i := range events {
		events[i] = w.event(first + i)
	}
	var answer struct {
		Claimed, Duplicates int
		Results             []struct{ Notification struct{ ID string } }
	}
	w.do(http.MethodPost, "/v1/notifications/batch", `{"notifications":[`+strings.Join(events, ",")+`]}`, &answer)
	if answer.Claimed != fresh || answer.Duplicates != count-fresh {
		w.t.Fatalf("of the events from %d on %d were claimed and %d known, want %d new of %d", first, answer.Claimed, answer.Duplicates, fresh, count)
	}
	for i, r := range answer.Results {
		if fresh > 0 {
			w.ids = append(w.ids, r.Notification.ID)
		} else if r.Notification.ID != w.ids[first+i] {
			w.t.Errorf("event %d has the row %s now, and had %s", first+i, r.Notification.ID, w.ids[first+i])
		}
	}
}

// run claims all events while everything goes wrong, and lets time go by until nothing more happens by itself.
func (w *settleWorld) run(events, crashes int) {
	batches := events / settleBatch
	for b := range batches {
		w.claim(b*settleBatch, settleBatch, settleBatch)
		w.trouble(b)
		if crashes > 0 && b%max(1, batches/crashes) == batches/crashes/2 {
			time.Sleep(time.Duration(w.random.Int64N(int64(time.Second)))) // while requests are under way
			w.crashes++
			w.crash(time.Duration(w.random.Int64N(int64(2 * time.Minute))))
			w.claim(b*settleBatch, settleBatch, 0) // its answer was lost, so the application asks again
		}
		time.Sleep(settleEvery)
	}
	for name := range w.fakes {
		w.mend(name)
	}
	time.Sleep(settleTail)
	synctest.Wait()
}

// trouble begins and ends outages: a provider that nobody reaches, that asks to wait, that answers with errors, or whose look-ups
// fail.
func (w *settleWorld) trouble(batch int) {
	if batch%10 != 0 {
		return
	}
	for name := range w.fakes {
		w.mend(name)
	}
	name := bubbleKinds[w.random.IntN(len(bubbleKinds))].name
	w.outages++
	switch w.random.IntN(4) {
	case 0:
		w.mu.Lock()
		w.down[name] = true
		w.mu.Unlock()
	case 1:
		w.fakes[name].Behave(fake.Throttle)
	case 2:
		w.fakes[name].Behave(fake.AcceptError)
	case 3:
		w.fakes[name].Silence(true)
	}
}

// mend ends an outage.
func (w *settleWorld) mend(name string) {
	w.mu.Lock()
	w.down[name] = false
	w.mu.Unlock()
	w.fakes[name].Behave("")
	w.fakes[name].Silence(false)
}
