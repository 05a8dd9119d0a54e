package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"sendonce/api"
)

// lostError is a call without an answer of a service.
type lostError struct{ text string }

func (e *lostError) Error() string { return e.text }

// lost says what is known after a broken call: when no connection was made, nothing left.
func (c *client) lost(err error, k call) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return &lostError{fmt.Sprintf("no service answers at %s (%v): is sendonce serve running there?", c.base.Host, cause(err))}
	}
	return &lostError{fmt.Sprintf("the answer of %s is lost (%v)%s", c.base.Host, cause(err), sentence(k.again))}
}

// sentence goes on with what to do next, where there is something to say.
func sentence(again string) string {
	if again == "" {
		return ""
	}
	return "; " + again
}

// cause strips the address from an error: its query may hold a recipient.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	return err
}

// problemError is a service that said no, or not now.
type problemError struct {
	status  int
	problem api.Problem
	body    []byte
	again   string
}

func (e *problemError) Error() string { return e.problem.Title }

// exit is the exit code of the answer: a key that is not known is a matter of set-up, and what may be
// different in a minute is no "no".
func (e *problemError) exit() int {
	switch {
	case e.status == http.StatusUnauthorized:
		return ExitUsage
	case e.status == http.StatusTooManyRequests || e.status >= 500:
		return ExitUnreachable
	}
	return ExitNo
}
