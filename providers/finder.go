package providers

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"net/http"
	"net/url"
	"time"

	"sendonce/ledger"
)

// What look_up says.
const (
	LookUpOn  = "on"
	LookUpOff = "off"
)

// maxListRead is how many bytes of a list are read: about a thousand messages.
const maxListRead = 4 << 20

// lookUps are a type's look-ups, none where they are switched off.
func (c Common) lookUps(l ledger.LookUps) ledger.LookUps {
	if c.LookUp == LookUpOff {
		return ledger.LookUps{}
	}
	return l
}

// statesAt are the times at which a type asks for a message by its id, none where look-ups are switched off.
func (c Common) statesAt(at []time.Duration) []time.Duration {
	if c.LookUp == LookUpOff {
		return nil
	}
	return at
}

// inquiry is one call of Find on its way: it asks as often as it has to, and keeps what the evidence needs.
type inquiry struct {
	sender *sender
	at     time.Time
	header http.Header
	sum    hash.Hash
	out    ledger.LookedUp
}

func newInquiry(s *sender, at time.Time, header http.Header, searches []ledger.Search) *inquiry {
	return &inquiry{sender: s, at: at, header: header, sum: sha256.New(), out: ledger.LookedUp{Found: make([][]ledger.Found, len(searches))}}
}

// ask sends a request that only reads, and returns an answer that came whole under a 200. The first one is the evidence's.
func (q *inquiry) ask(ctx context.Context, r *request) (*exchange, error) {
	r.header, r.at = q.header.Clone(), q.at
	if r.body != nil {
		r.header.Set("Content-Type", "application/json")
	}
	x := q.sender.post(ctx, r)
	if q.out.Request == "" {
		q.out.Request, q.out.Status = requestLine(r), x.status
	}
	if x.status != http.StatusOK || !x.whole {
		return &x, unanswered(&x)
	}
	q.sum.Write(x.body)
	return &x, nil
}

// requestLine is the method and the path: a query may hold a recipient.
func requestLine(r *request) string {
	method := r.method
	if method == "" {
		method = http.MethodPost
	}
	u, err := url.Parse(r.url)
	if err != nil {
		return method
	}
	return method + " " + u.Path
}

// done is the answer to all of the searches.
func (q *inquiry) done() ledger.LookedUp {
	q.sum.Sum(q.out.BodyHash[:0])
	return q.out
}

// found notes what a search found. A record that is too long is kept in part: it is there to be hashed and seen.
func (q *inquiry) found(i int, f ledger.Found) {
	f.Body = f.Body[:min(len(f.Body), ledger.MaxAnswerBytes)]
	q.out.Found[i] = append(q.out.Found[i], f)
}

// unanswered says why a look-up has no answer.
func unanswered(x *exchange) error {
	e := &ledger.LookUpError{Status: x.status, RetryAfter: max(x.retryAfter(), x.untilUnix("X-RateLimit-Reset")), Fault: ledger.FaultUnexpectedReply, Detail: "no answer to a look-up"}
	switch {
	case x.phase != ledger.Answered:
		e.Fault, e.Detail = ledger.FaultUnreachable, plainError(x.phase, x.err)
	case x.status == http.StatusTooManyRequests:
		e.Fault, e.Detail = ledger.FaultThrottled, "too many look-ups"
	case x.status == http.StatusUnauthorized || x.status == http.StatusForbidden:
		e.Fault, e.Detail = ledger.FaultCredentials, "these credentials may not look messages up"
	case x.err != nil:
		e.Detail = plainError(x.phase, x.err)
	}
	return e
}

// illegible is the error of an answer that came whole and cannot be read.
func illegible(x *exchange) error {
	return &ledger.LookUpError{Status: x.status, Fault: ledger.FaultUnexpectedReply, Detail: "the answer is not in the provider's form"}
}

var errBadTime = errors.New("no time")

// notFound reports whether a look-up failed because what it asked for is not there.
func notFound(err error) bool {
	var e *ledger.LookUpError
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// span is the time of all searches.
func span(searches []ledger.Search) (from, until time.Time) {
	from, until = searches[0].From, searches[0].Until
	for _, s := range searches[1:] {
		if s.From.Before(from) {
			from = s.From
		}
		if s.Until.After(until) {
			until = s.Until
		}
	}
	return from, until
}

// fitInto reports whether both searches fit into so long a time together.
func fitInto(a, b ledger.Search, longest time.Duration) bool {
	from, until := span([]ledger.Search{a, b})
	return until.Sub(from) <= longest
}
