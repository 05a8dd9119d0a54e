package providers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

// Whatever a provider does, a message that went out is never called refused or surely not sent, one that is called
// accepted went out, and there is one request.
func TestEachProvider_OutcomeAgainstWhatWentOut(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		for _, b := range fake.Behaviours {
			t.Run(string(b), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				p := fake.New(fake.Options{Slow: time.Millisecond, OnRequest: func(r fake.Request) {
					if r.Behaviour == fake.AcceptHang {
						cancel()
					}
				}})
				p.Behave(b)
				base, err := p.Listen("127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = p.Close() }()
				c := Common{BaseURL: base, RepeatWindow: time.Hour}
				adapter := k.make(t, c)
				var first string
				for n := 1; n <= 2; n++ { // the second on a kept-alive connection, where there is one
					before := len(p.Accepted())
					r := adapter.Send(ctx, k.request(t, adapter, base))
					checkForm(t, r)
					out := len(p.Accepted()) - before
					switch {
					case b == fake.AcceptTwice && len(r.MessageIDs) > 0 && r.MessageIDs[0] == first:
						return // took the second answer to the first for its own; the shared id shows that
					case r.Outcome == ledger.Accepted && out != 1:
						t.Errorf("accepted, and %d went out", out)
					case (r.Outcome == ledger.Deferred || r.Outcome == ledger.Rejected) && out != 0:
						// A webhook's 500 is the receiver's own word that it did not take the message.
						if k.name != "webhook" || b != fake.AcceptError {
							t.Errorf("%s, and it went out: %+v", r.Outcome, r)
						}
					case !b.Accepts() && b != fake.Unavailable && b != fake.Lose && r.Outcome != ledger.Deferred && r.Outcome != ledger.Rejected:
						t.Errorf("a clean refusal is %s", r.Outcome)
					}
					if r.Outcome == ledger.Accepted && b != fake.AcceptGarbage && b != fake.AcceptCut && k.shares() {
						if len(r.MessageIDs) != 1 || !strings.HasSuffix(r.MessageIDs[0], p.Accepted()[before].ID) { // FCM puts a path before it
							t.Fatalf("message ids %q", r.MessageIDs)
						}
						first = r.MessageIDs[0]
					}
					if b == fake.AcceptHang {
						break // its context is gone
					}
					if p.Requests() != n {
						t.Errorf("%d requests after %d sends", p.Requests(), n)
					}
				}
			})
		}
	})
}

func TestInfrai_ManyAtOnceGetTheirOwnAnswers(t *testing.T) {
	p := fake.New(fake.Options{WellBehaved: true})
	base, err := p.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	adapter := newInfrai(t, InfraiSettings{}, Common{BaseURL: base, RepeatWindow: time.Hour})
	const workers, each = 16, 20
	ids := make([]string, workers*each)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w * each; i < (w+1)*each; i++ {
				text := fmt.Sprintf(`{"text":"tok_%d"}`, i)
				r, err := adapter.Build(ledger.Order{WireKey: itoa(i), Recipient: testNumber, Message: []byte(text), At: testTime})
				if err != nil {
					t.Error(err)
					return
				}
				result := adapter.Send(t.Context(), r)
				if result.Outcome != ledger.Accepted {
					t.Errorf("%+v", result)
					return
				}
				ids[i] = result.MessageIDs[0]
			}
		})
	}
	all.Wait()
	for _, m := range p.Accepted() {
		if i, err := strconv.Atoi(m.Key); err != nil || ids[i] != m.ID || m.Token != "tok_"+m.Key || p.Received(m.Token) != 1 {
			t.Errorf("%+v was told to another request, or went out %d times", m, p.Received(m.Token))
		}
	}
	if p.Requests() != workers*each {
		t.Errorf("%d requests", p.Requests())
	}
}
