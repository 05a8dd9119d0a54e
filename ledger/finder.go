package ledger

import (
	"context"
	"fmt"
	"time"
)

// Finder is a provider whose service tells what it took, so that an attempt whose answer was lost may be found there.
type Finder interface {
	// LookUps says when and by what lost attempts are looked for; the zero value: not at all, as it is configured.
	LookUps() LookUps

	// Together reports whether one call of Find may be about both; pure.
	Together(a, b Search) bool

	// Find asks for all of the searches, each of which goes Together with the first. at is the time, and ctx carries the
	// deadline. Each request only reads. The error is a *LookUpError: it proves nothing, and the look is made again later.
	Find(ctx context.Context, at time.Time, searches []Search) (LookedUp, error)
}

// LookUps are a provider's look-ups.
type LookUps struct {
	// At is when each look comes, counted from the end of the handing and rising. The last one is when a message that was
	// taken should be there by the provider's word or by what is known of it. Not found proves nothing even then.
	At []time.Duration

	// ByContent: the service does not show our reference, so that what is found was compared by recipient, text and time.
	ByContent bool
}

// What a provider's clock and its queue may differ from our times by. What is found by content has to lie inside.
const (
	lookBefore = time.Minute     // before the start of the attempt
	lookAfter  = 5 * time.Minute // after its end
)

// Search is what is known of one row's message, which may be at the provider.
type Search struct {
	ID        string // of the notification; ID-Number is a reference
	WireKey   string
	Channel   Channel
	Recipient string // as it was sent
	Message   []byte // JSON
	Attempts  []int  // numbers of those whose answer was lost
	From      time.Time
	Until     time.Time // the provider made the message between these two, which have lookBefore and lookAfter in them
}

// LookedUp is an answer to searches.
type LookedUp struct {
	Found    [][]Found // for each search, what is its message or may be
	Request  string    // method and path of the request: no secret, and nothing personal
	Status   int
	BodyHash [32]byte // SHA-256 of the answer, or of all of them, one behind the other
	Cut      bool     // the provider has more in that time than was read
}

// Found is a message at the provider that a search is about.
type Found struct {
	MessageID string // never empty
	Number    int    // of the attempt, where our reference names it; 0: it was compared by its content
	At        time.Time
	Delivery  Delivery
	Code      string // the provider's own, of a delivery that failed
	Body      []byte // the record as it came, at most MaxAnswerBytes
}

// LookUpError says that a look-up had no answer that can be used.
type LookUpError struct {
	Fault      Fault // what is wrong with the provider; it does not touch the gate
	Status     int   // 0: none came
	RetryAfter time.Duration
	Detail     string // one line, free of secrets and content
}

// Error implements error.
func (e *LookUpError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("status %d: %s", e.Status, e.Detail)
	}
	return e.Detail
}

// Attempt is the number of the attempt that a reference names which the provider echoed; ok is false for another row's.
func (s *Search) Attempt(reference string) (number int, ok bool) {
	id, number, ok := ParseReference(reference)
	return number, ok && id.String() == s.ID
}
