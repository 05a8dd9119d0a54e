package ledger

import (
	"context"
	"time"
)

// Lister is a provider whose service lists what it took in a time. Every request only reads.
type Lister interface {
	Provider

	// ListLag is how long after it was taken a message may be missing from the list, by the provider's word or by a margin.
	ListLag() time.Duration

	// List hands over every message of ours that the service made in the time of the query, in any order, some perhaps twice. One
	// request runs at a time; one that the service has no time for now is made again. The error is a *LookUpError, ctx's, or what
	// Visit returned: then the list is not whole.
	List(ctx context.Context, q ListQuery) error

	// Reference asks what we sent along with a listed message that has none in the list; "" where the service keeps nothing. Of
	// the query only Now and Wait are looked at.
	Reference(ctx context.Context, q ListQuery, m Listed) (string, error)
}

// Holder is a Lister whose service shows a message by its id alone, whatever its list leaves out.
type Holder interface {
	// Holds reports whether the service has the message. Of the query only Now and Wait are looked at. Errors as List.
	Holds(ctx context.Context, q ListQuery, messageID string) (bool, error)
}

// ListQuery is what is asked of a Lister.
type ListQuery struct {
	From  time.Time // whole seconds
	Until time.Time // not any more
	Now   func() time.Time
	Visit func(Listed) error
	Wait  func(ctx context.Context, d time.Duration) error // between two requests; it returns early with ctx's error
}

// Listed is one message as its provider lists it.
type Listed struct {
	MessageID string // never empty
	Name      string // under which the service shows it alone
	Reference string // ours, where the list has it
	Recipient string // a phone number with its plus sign
	Status    string // the provider's word
	Part      bool   // of a text that was cut into several, each with an id of its own
	At        time.Time
}
