package walk

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sendonce/ledger"
)

// post is a provider that keeps each request until the walk says what becomes of it.
type post struct {
	name   string
	window time.Duration // for which it honours a key; 0: it does not
	world  *world
	life   int // of the ledger that it belongs to: what a dropped one still does is nobody's business
}

// call is a request at a provider.
type call struct {
	ledger.Order
	Handing
	life   int
	body   []byte
	answer chan reply
}

// reply is an answer with what the walk knows of it.
type reply struct {
	Answer
	ids   []string
	panic bool
}

// Body returns the bytes that leave.
func (c *call) Body() []byte { return c.body }

// keyed is a post that honours a key.
type keyed struct{ *post }

// RepeatWindow implements ledger.Repeater.
func (k keyed) RepeatWindow() time.Duration { return k.window }

// Account implements ledger.Provider.
func (p *post) Account() (a [8]byte) {
	sum := sha256.Sum256([]byte(p.name))
	copy(a[:], sum[:])
	return a
}

// Build implements ledger.Provider. The bytes name the attempt's reference, as a provider would echo it, and its time.
func (p *post) Build(o ledger.Order) (ledger.Request, error) {
	c := &call{Order: o, body: o.Stored, life: p.life, answer: make(chan reply, 1)}
	if c.body == nil {
		if strings.Contains(string(o.Message), brokenText) {
			return nil, errors.New("this text cannot be built")
		}
		c.body = fmt.Appendf(nil, "%s %s %s %s %d", o.Reference(), o.WireKey, o.Recipient, o.Message, o.At.UnixMilli())
	}
	return c, nil
}

const brokenText = "unbuildable"

// Send implements ledger.Provider.
func (p *post) Send(ctx context.Context, r ledger.Request) ledger.Result {
	c := r.(*call)
	c.Provider, c.Began = p.name, time.Now()
	p.world.arrived(c)
	var a reply
	select {
	case a = <-c.answer:
	case <-ctx.Done():
		a.Answer = Answer{Outcome: "ambiguous", Reason: "no_answer"}
	}
	p.world.left(c, a)
	if a.panic {
		panic("the adapter fell over")
	}
	return a.result()
}

// result is the reply as an adapter reads it.
func (a *reply) result() ledger.Result {
	r := ledger.Result{
		Fault: ledger.Fault(a.Fault), Reason: ledger.Reason(a.Reason), Phase: ledger.Written, MessageIDs: a.ids, RetryAfter: a.RetryAfter,
	}
	if o, ok := ledger.ParseOutcome(a.Outcome); ok {
		r.Outcome = o
	}
	switch {
	case a.Answered:
		r.Phase, r.Status = ledger.Answered, 200
	case a.Outcome == "deferred":
		r.Phase = ledger.NotWritten
	}
	return r
}

// kind is the outcome, with the provider's faults set apart.
func (a *reply) kind() string {
	if a.Fault != "" {
		return "fault"
	}
	return a.Outcome
}

// replies are all that a provider may do; a message id and a receipt of it are added when it accepted.
var replies = []reply{
	{Answer: Answer{Outcome: "accepted", Answered: true}},
	{Answer: Answer{Outcome: "rejected", Answered: true}},
	{Answer: Answer{Outcome: "deferred", Answered: true}},
	{Answer: Answer{Outcome: "deferred", Answered: true, RetryAfter: 45 * time.Second}},
	{Answer: Answer{Outcome: "deferred", Answered: true, RetryAfter: 100 * time.Hour}},
	{Answer: Answer{Outcome: "deferred", Fault: "unreachable"}},
	{Answer: Answer{Outcome: "deferred", Fault: "throttled", Answered: true}},
	{Answer: Answer{Outcome: "deferred", Fault: "throttled", Answered: true, RetryAfter: 20 * time.Second}},
	{Answer: Answer{Outcome: "deferred", Fault: "credentials", Answered: true}},
	{Answer: Answer{Outcome: "deferred", Fault: "account", Answered: true}},
	{Answer: Answer{Outcome: "deferred", Fault: "unexpected_answer", Answered: true}},
	{Answer: Answer{Outcome: "ambiguous", Reason: "no_answer"}},
	{Answer: Answer{Outcome: "ambiguous", Reason: "unreadable_answer", Answered: true}},
	{Answer: Answer{Outcome: "ambiguous", Reason: "unlisted_answer", Answered: true}},
	{Answer: Answer{Outcome: "ambiguous", Reason: "partial", Answered: true}},
	{Answer: Answer{Outcome: "ambiguous"}},
	{Answer: Answer{Outcome: "ambiguous", Reason: "unreadable_answer"}, panic: true},
}

// messageText is the text of a message, for the log of a walk.
func messageText(raw []byte) string {
	var m struct{ Text string }
	if json.Unmarshal(raw, &m) != nil {
		return "?"
	}
	return m.Text
}
