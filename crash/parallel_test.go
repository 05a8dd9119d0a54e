package crash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"sendonce/fake"
)

// Keeps out a race of callers: of fifty who post the same event at once, one makes the row and nobody gets an error.
func TestParallel_SameEvent(t *testing.T) {
	const rounds, together = 20, 50
	p := newPlace(t, fake.Options{WellBehaved: true})
	s := p.start()
	answers := map[int]int{}
	var mu sync.Mutex
	for round := range rounds {
		body := smsBody(fmt.Sprint("evt-", round), "+14155550101", fmt.Sprint("tok_", round))
		goAhead := make(chan struct{})
		ids := map[string]bool{}
		var all sync.WaitGroup
		for range together {
			all.Go(func() {
				<-goAhead
				a, err := s.api.post(context.Background(), body, 0)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				answers[a.Status]++
				ids[a.ID] = true
			})
		}
		close(goAhead)
		all.Wait()
		if len(ids) != 1 {
			t.Errorf("round %d: %d ids", round, len(ids))
		}
	}
	s.idle()
	if answers[202] != rounds || answers[200] != rounds*(together-1) || len(answers) != 2 {
		t.Errorf("answers by status: %v", answers)
	}
	expectStates(t, s, map[string]int{"sent": rounds})
	if calls := p.fake.Requests(); calls != rounds {
		t.Errorf("%d calls, want %d", calls, rounds)
	}
	s.stop(patience)
	p.check()
}

// Keeps out F04: a caller who hangs up and takes the outcome of the send with him.
func TestParallel_CallersHangUp(t *testing.T) {
	t.Parallel()
	const callers = 40
	p := newPlace(t, fake.Options{WellBehaved: true, Delay: 200 * time.Millisecond})
	s := p.start()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			ctx, leave := context.WithTimeout(context.Background(), time.Duration(i)*5*time.Millisecond)
			defer leave()
			_, _ = s.api.post(ctx, smsBody(fmt.Sprint("evt-", i), "+14155550101", fmt.Sprint("tok_", i)), 20*time.Second)
		})
	}
	all.Wait()
	for i := range callers {
		a, err := s.api.post(context.Background(), smsBody(fmt.Sprint("evt-", i), "+14155550101", fmt.Sprint("tok_", i)), 0)
		if err != nil || a.Status != 202 && a.Status != 200 {
			t.Errorf("event %d again: status %d %s: %v", i, a.Status, a.Code, err)
		}
	}
	s.idle()
	expectStates(t, s, map[string]int{"sent": callers})
	if calls := p.fake.Requests(); calls != callers {
		t.Errorf("%d calls, want %d", calls, callers)
	}
	s.stop(patience)
	p.check()
}

// The request of the article that this product comes from, with the provider that it names.
func TestParallel_ArticleRequest(t *testing.T) {
	var got fake.Request
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(r fake.Request) { got = r }},
		setting{"key-of-main,", "key-of-main, from: AcmeShip,"})
	s := p.start()
	body := []byte(`{"event_id":"evt_2291","event_type":"order.shipped","source":"shop","user_id":"u_17",
		"channel":"sms","recipient":"+14155550142","message":{"text":"Order A-2291 shipped."},"metadata":{"order":"A-2291"}}`)
	a, err := s.api.post(context.Background(), body, 20*time.Second)
	if err != nil || a.Status != 202 || a.State != "sent" {
		t.Fatalf("status %d %s, state %q: %v", a.Status, a.Code, a.State, err)
	}

	sum := sha256.Sum256([]byte("shop\x00evt_2291\x00sms\x00+14155550142"))
	if key := hex.EncodeToString(sum[:])[:40]; a.DedupeKey != key {
		t.Errorf("dedupe_key is %s, any caller computes %s", a.DedupeKey, key)
	}
	var wire struct {
		Key      string `json:"idempotency_key"`
		Messages []struct{ To, Body, From string }
	}
	if err := json.Unmarshal(got.Body, &wire); err != nil {
		t.Fatal(err)
	}
	if wire.Key != a.DedupeKey || len(wire.Messages) != 1 || wire.Messages[0] != (struct{ To, Body, From string }{"+14155550142", "Order A-2291 shipped.", "AcmeShip"}) {
		t.Errorf("on the wire: %s", got.Body)
	}
	if id := p.fake.Accepted()[0].ID; a.MessageID != id {
		t.Errorf("message_id is %q, the provider gave %q", a.MessageID, id)
	}
	var found []string
	if err := s.api.list(context.Background(), url.Values{"message_id": {a.MessageID}}, func(n row) bool {
		found = append(found, n.ID)
		return true
	}); err != nil || len(found) != 1 || found[0] != a.ID {
		t.Errorf("the list by message_id has %v, want %s: %v", found, a.ID, err)
	}
	again, err := s.api.post(context.Background(), body, 0)
	if err != nil || again.Status != 200 || !again.Duplicate || again.ID != a.ID || p.fake.Requests() != 1 {
		t.Errorf("the same again: status %d, id %s, %d calls: %v", again.Status, again.ID, p.fake.Requests(), err)
	}
	s.stop(patience)
	p.check()
}
