package providers

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sendonce/ledger"
)

const (
	listPause   = 200 * time.Millisecond // between two requests
	listTimeout = 60 * time.Second       // of one
	listTries   = 6
	listLongest = 10 * time.Minute // between two tries
	listDay     = 24 * time.Hour
)

// errTooMany is a second in which a service has more messages than it lists in one answer.
var errTooMany = &ledger.LookUpError{Fault: ledger.FaultUnexpectedReply, Detail: "more messages in one second than one answer lists"}

// listing asks for one list after the other, and waits for a service that has enough for now.
type listing struct {
	sender *sender
	header http.Header
	query  ledger.ListQuery
	begun  bool
}

// ask makes one request until it has an answer. All of them only read, so each may be made again.
func (l *listing) ask(ctx context.Context, r request) (*exchange, error) {
	wait := listPause
	for try := 1; ; try++ {
		if l.begun {
			if err := l.query.Wait(ctx, wait); err != nil {
				return nil, err
			}
		}
		l.begun = true
		one := r
		within, cancel := context.WithTimeout(ctx, listTimeout)
		x, err := newInquiry(l.sender, l.query.Now(), l.header, nil).ask(within, &one)
		cancel()
		var failed *ledger.LookUpError
		if err == nil || ctx.Err() != nil || try == listTries || !errors.As(err, &failed) || !passes(failed) {
			return x, err
		}
		wait = min(max(failed.RetryAfter, time.Second<<try), listLongest)
	}
}

// passes reports whether the same request may have an answer later.
func passes(e *ledger.LookUpError) bool {
	return e.Fault == ledger.FaultThrottled || e.Fault == ledger.FaultUnreachable || e.Status >= 500
}

// days goes through the time of the query, a day at most at once.
func (l *listing) days(do func(from, until time.Time) error) error {
	for from := l.query.From; from.Before(l.query.Until); {
		until := from.Add(listDay)
		if until.After(l.query.Until) {
			until = l.query.Until
		}
		if err := do(from, until); err != nil {
			return err
		}
		from = until
	}
	return nil
}

// split asks for a time, and for its halves where the service has more in it than one answer lists.
func (l *listing) split(from, until time.Time, read func(from, until time.Time) (list []ledger.Listed, whole bool, err error)) error {
	list, whole, err := read(from, until)
	if err != nil {
		return err
	}
	if whole {
		return l.visit(list)
	}
	if until.Sub(from) <= time.Second {
		return errTooMany
	}
	middle := from.Add(until.Sub(from) / 2).Truncate(time.Second)
	if !middle.After(from) {
		middle = from.Add(time.Second)
	}
	if err := l.split(from, middle, read); err != nil {
		return err
	}
	return l.split(middle, until, read)
}

// visit hands messages over.
func (l *listing) visit(list []ledger.Listed) error {
	for _, m := range list {
		if m.MessageID == "" {
			continue
		}
		if err := l.query.Visit(m); err != nil {
			return err
		}
	}
	return nil
}

// Listing names the types whose services list what they took, for people.
func Listing() string { return "sendgrid, twilio, vonage" }
