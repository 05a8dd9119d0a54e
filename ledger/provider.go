package ledger

import (
	"context"
	"strconv"
	"time"
)

// Order is what an adapter builds one request from.
type Order struct {
	ID         string // of the notification
	Number     int    // of the attempt; ID-Number is the reference
	Kind       Kind
	WireKey    string // the key that the provider may dedupe on
	Channel    Channel
	Recipient  string // the address to send to
	Message    []byte
	EventType  string
	OccurredAt time.Time
	ClaimedAt  time.Time
	ExpiresAt  time.Time
	At         time.Time // the attempt's time: signatures and validity are computed from it
	Stored     []byte    // of a repeat: the first attempt's body, to be sent as it is
}

// Reference is what a provider may echo to show which attempt it talks about.
func (o *Order) Reference() string { return o.ID + "-" + strconv.Itoa(o.Number) }

// Request is what an adapter is about to send; its body is hashed into the attempt before a byte leaves.
type Request interface{ Body() []byte }

// Provider is one configured outside service. A panic in it is recovered: ambiguous if bytes may have left, else deferred.
type Provider interface {
	// Account is a fingerprint of base URL and account: a repeat goes only to the same one.
	Account() [8]byte

	// Build makes the request; pure. An error means that this message can never be built: the row fails (unbuildable).
	Build(o Order) (Request, error)

	// Send hands the request over, once, and says what is known then. ctx carries the deadline.
	// It never returns an error: what went wrong is in the result.
	Send(ctx context.Context, r Request) Result
}

// Checker is a provider that knows before the claim what it cannot send; the error is an *InvalidError.
type Checker interface {
	Check(e Event) error
}

// Accepter is a provider that takes only some recipients of its channel (a webhook's URL prefixes): the
// length of the longest match, 0 for none. Where a channel's providers have it, the longest match takes the row.
type Accepter interface {
	Accepts(recipient string) int
}

// Repeater is a provider that honours a wire key: a repeat under it within the window sends nothing new.
type Repeater interface {
	RepeatWindow() time.Duration
}

// check asks the provider whether it can send this at all.
func (o *outlet) check(e *Event) error {
	if c, ok := o.provider.(Checker); ok {
		return c.Check(*e)
	}
	return nil
}

// repeatWindow is how long the provider honours a wire key; 0: it does not.
func (o *outlet) repeatWindow() time.Duration {
	if r, ok := o.provider.(Repeater); ok {
		return r.RepeatWindow()
	}
	return 0
}
