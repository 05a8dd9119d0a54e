package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"sendonce/ledger"
)

// sentinels maps the ledger's plain errors to codes. Nothing writes to it.
var sentinels = []struct {
	err  error
	code string
}{
	{ledger.ErrNotFound, codeNoNotification},
	{ledger.ErrNoProvider, codeNoProvider},
	{ledger.ErrNoReporter, codeNoReceipts},
	{ledger.ErrUnsigned, codeUnsigned}, // before the kind that it is of
	{ledger.ErrUnverified, codeUnverified},
	{ledger.ErrUnreadable, codeUnreadable},
	{ledger.ErrMayBeSent, codeRoleMissing},
	{ledger.ErrContentGone, codeContentGone},
	{ledger.ErrCountDiffers, codeCountDiffers},
	{ledger.ErrPast, codeExpiredAlready},
	{ledger.ErrNeedAccept, codeNeedAccept},
	{ledger.ErrIfMatch, codeIfMatch},
	{ledger.ErrOneState, codeInvalid},
	{ledger.ErrOverload, codeOverload},
	{ledger.ErrUnavailable, codeStorageUnavailable},
	{ledger.ErrUnknown, codeStorageUnknown},
	{ledger.ErrStorageLow, codeStorageLow},
	{ledger.ErrClockBehind, codeClockBehind},
	{ledger.ErrNoChannel, codeNoChannel},
	{ledger.ErrDraining, codeDraining},
	{ledger.ErrMoved, codeRowMoved},
	{context.Canceled, codeInterrupted},
	{context.DeadlineExceeded, codeInterrupted},
}

// refusal is an error that already knows its answer.
type refusal struct {
	kind    problemKind
	problem Problem
}

// refuse makes the refusal of a code.
func refuse(code string) *refusal {
	k := kindOf(code)
	return &refusal{kind: k, problem: Problem{
		Type: "/problems/" + k.code, Title: k.title, Status: k.status, Detail: k.detail, Code: k.code,
	}}
}

// because gives the refusal a detail of its own; it must hold nothing that a caller sent.
func (r *refusal) because(detail string) *refusal {
	r.problem.Detail = detail
	return r
}

// Error is for tests and logs.
func (r *refusal) Error() string { return r.kind.code + ": " + r.problem.Detail }

// invalid is the refusal of a request whose fields are wrong.
func invalid(fields []ledger.FieldError) *refusal {
	r := refuse(codeInvalid)
	r.problem.Errors = fields
	return r
}

// refusalOf is the one way from an error to an answer. known is false when nobody planned for the error.
func refusalOf(err error) (r *refusal, known bool) {
	var (
		field   *ledger.InvalidError
		reused  *ledger.ReusedError
		state   *ledger.StateError
		version *ledger.VersionError
		framed  *echo.HTTPError
	)
	switch {
	case errors.As(err, &r):
		return r, true
	case errors.As(err, &field):
		return invalid(field.Fields), true
	case errors.As(err, &reused):
		r = refuse(codeKeyReused)
		r.problem.Differs = reused.Differs
		r.problem.Notification = &Current{Notification: notification(&reused.Existing)}
		return r, true
	case errors.As(err, &state):
		r = refuse(codeWrongState)
		r.problem.State = string(state.State)
		r.problem.Allowed = make([]string, len(state.Allowed))
		for i, c := range state.Allowed {
			r.problem.Allowed[i] = string(c)
		}
		return r, true
	case errors.As(err, &version):
		r = refuse(codeVersionDiffers)
		r.problem.Notification = &Current{Notification: notification(&version.Existing)}
		return r, true
	case errors.Is(err, ledger.ErrOneState):
		return invalid([]ledger.FieldError{{Field: "filter.state", Detail: "must be exactly one state for a release"}}), true
	case errors.As(err, &framed):
		return refusalOfStatus(framed.Code)
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return refuse(s.code), true
		}
	}
	return refuse(codeInternal), false
}

// refusalOfStatus answers for what the router refuses by itself.
func refusalOfStatus(status int) (*refusal, bool) {
	switch status {
	case http.StatusNotFound:
		return refuse(codeNoRoute), true
	case http.StatusMethodNotAllowed:
		return refuse(codeMethod), true
	}
	return refuse(codeInternal), false
}

// fail writes an error as a problem. What nobody planned for gets a fixed text and one log line.
func (a *API) fail(err error, c echo.Context) {
	r, known := refusalOf(err)
	if !known {
		a.troubles.Tell("request failed", "method", c.Request().Method, "route", c.Path(), "error", err)
	}
	if c.Response().Committed {
		return
	}
	h := c.Response().Header()
	if r.kind.retryAfter > 0 {
		h.Set("Retry-After", retryText(r.kind.retryAfter))
	}
	if r.kind.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="sendonce"`)
	}
	a.write(c, r.kind.status, problemType, &r.problem)
}

// retryText is a Retry-After header.
func retryText(seconds int) string { return strconv.Itoa(seconds) }
