package ledger

import (
	"context"
	"time"
)

// Stater is a provider that posts no receipts and can be asked what became of a message whose id is known. What it says is
// information: no state of a row hangs on it.
type Stater interface {
	// StatesAt says when a message is asked for, counted from its acceptance and rising; the first one is a minute or more, since
	// whoever asks looks once a minute. None: not at all, as it is configured.
	StatesAt() []time.Duration

	// State asks for one message, by a request that only reads. at is the time, and ctx carries the deadline. The receipt has
	// MessageID, Kind, Delivery, Code, ProviderAt and Body; without a message id: the provider does not know the message, which
	// proves nothing. The error is a *LookUpError.
	State(ctx context.Context, at time.Time, messageID string) (Receipt, error)
}
