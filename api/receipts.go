package api

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"

	"sendonce/ledger"
)

// largeAtOnce is how many receipts bodies of more than an ordinary request's size are read at the same time: whoever posts them
// is known only once they are in memory.
const largeAtOnce = 8

// receive takes what a provider posts about messages that it was handed. There is no key: the signature is the right, and the
// adapter that knows it reads the body, whatever its type. A receipt about something unknown is taken as well.
func (a *API) receive(rq *request) error {
	if a.settings.PublicURL == "" {
		return refuse(codeNoPublicURL)
	}
	body := &admitted{ReadCloser: rq.Request().Body, free: a.limits.Body, large: a.large}
	defer body.leave(rq.Request())
	rq.Request().Body = body
	err := a.wholeBody(rq, a.limits.Receipts, func(body []byte) error {
		_, err := a.ledger.Receive(context.WithoutCancel(rq.Request().Context()), rq.Param("provider"), ledger.Posted{
			URL: a.settings.PublicURL + asItCame(rq.Request()), Header: rq.Request().Header, Body: body, Reference: rq.Param("reference"),
		})
		return err
	})
	if err == nil {
		return rq.NoContent(http.StatusNoContent)
	}
	if errors.Is(err, ledger.ErrUnverified) || errors.Is(err, ledger.ErrUnreadable) { // so there is such a provider
		a.unsigned.Do(func() { a.log.Warn("receipts refused", "provider", rq.Param("provider"), "error", err) })
	}
	return err
}

// admitted is a body that takes one of the few places for large ones once more of it has come than an ordinary request has. What it
// announces may never come, and must keep no other out.
type admitted struct {
	io.ReadCloser
	free   int64         // bytes that need no place
	large  chan struct{} // the places
	inside bool
}

// Read implements io.Reader. Where there is no place it says so once, and the rest can be read to be thrown away.
func (b *admitted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.free -= int64(n)
	if b.free >= 0 || b.inside {
		return n, err
	}
	select {
	case b.large <- struct{}{}:
		b.inside = true
		return n, err
	default:
		b.free = math.MaxInt64
		return 0, refuse(codeOverload)
	}
}

// leave gives the request its own body back, too, as that of a share does.
func (b *admitted) leave(r *http.Request) {
	r.Body = b.ReadCloser
	if b.inside {
		<-b.large
	}
}

// asItCame is the path and the query of a request, byte for byte: providers sign them.
func asItCame(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}
