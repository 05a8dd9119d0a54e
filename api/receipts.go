package api

import (
	"context"
	"errors"
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
	if r := rq.Request(); r.ContentLength < 0 || r.ContentLength > a.limits.Body {
		select {
		case a.large <- struct{}{}:
			defer func() { <-a.large }()
		default:
			drain(r)
			return refuse(codeOverload)
		}
	}
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

// asItCame is the path and the query of a request, byte for byte: providers sign them.
func asItCame(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}
