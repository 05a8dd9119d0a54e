package console

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"sendonce/ledger"
)

// What the console itself refuses.
var (
	errLogin     = errors.New("not logged in")
	errElsewhere = errors.New("it begins elsewhere")
	errRole      = errors.New("the key has not the role")
	errNoPage    = errors.New("no such page")
	errForm      = errors.New("no form")
	errTooLarge  = errors.New("too large")
	errBusy      = errors.New("too many streams or exports")
)

// refusal is a page that says why there is no other.
type refusal struct {
	Status int
	Title  string
	Text   string
}

// refusals are the pages of the errors. Nothing writes to it.
var refusals = []struct {
	err error
	refusal
}{
	{errRole, refusal{403, "Not with this key", "The key that you are logged in with may not do that. Nothing was changed."}},
	{errNoPage, refusal{404, "No such page", "Nothing stands under this address."}},
	{errForm, refusal{400, "Not understood", "What was posted is no form of this console."}},
	{errTooLarge, refusal{413, "Too much", "What was posted is too large."}},
	{errBusy, refusal{503, "Busy", "Too many exports or waiting pages are open. Try again in a moment."}},
	{ledger.ErrNotFound, refusal{404, "No such notification", "Nothing has this id, or your key may not see it."}},
	{ledger.ErrNoProvider, refusal{404, "No such provider", "No provider has this name."}},
	{ledger.ErrIfMatch, refusal{428, "Load the page again", "The form did not say which version of the row you saw. Nothing was changed."}},
	{ledger.ErrNeedAccept, refusal{409, "Tick the box", "The first message may have gone out. To send another, say that you accept a possible duplicate."}},
	{ledger.ErrMayBeSent, refusal{403, "Not with this key", "This key may release only failed rows that surely were not sent."}},
	{ledger.ErrContentGone, refusal{409, "The row was erased", "Only its key, outcome and times are left, and they stay as they are."}},
	{ledger.ErrPast, refusal{409, "It has expired", "Its time is over; a release needs a later expiry."}},
	{ledger.ErrCountDiffers, refusal{409, "The number has changed", "Not as many rows match as were counted. Nothing was changed; count again."}},
	{ledger.ErrOneState, refusal{400, "One state", "A release takes rows of one state."}},
	{ledger.ErrNoChannel, refusal{503, "No provider", "No provider is configured for this channel."}},
	{ledger.ErrDraining, refusal{503, "The service is stopping", "Try again in a moment."}},
	{ledger.ErrOverload, refusal{503, "Busy", "Too many writes are waiting. Nothing was changed; try again."}},
	{ledger.ErrUnavailable, refusal{503, "Not written", "The ledger can't be written now. Nothing was changed; try again."}},
	{ledger.ErrUnknown, refusal{503, "Not known", "It is not known whether the ledger was written. Load the page again to see."}},
	{ledger.ErrStorageLow, refusal{503, "The disk is full", "There is too little free space for new rows."}},
	{ledger.ErrMoved, refusal{409, "Somebody was faster", "The row has just been changed. Load it again."}},
	{context.DeadlineExceeded, refusal{503, "Too slow", "The ledger did not answer in time."}},
	{context.Canceled, refusal{503, "Interrupted", "The request ended before its answer."}},
}

// refusalOf makes the page of an error. known is false when nobody planned for the error.
func refusalOf(err error) (r refusal, known bool) {
	var invalid *ledger.InvalidError
	var state *ledger.StateError
	var version *ledger.VersionError
	var reused *ledger.ReusedError
	switch {
	case errors.As(err, &invalid):
		texts := make([]string, len(invalid.Fields))
		for i, f := range invalid.Fields {
			texts[i] = f.Field + " " + f.Detail
		}
		return refusal{400, "Not so", strings.Join(texts, "; ") + "."}, true
	case errors.As(err, &state):
		return refusal{409, "Not in this state", "The row is " + string(state.State) + " now, where that can't be done. Nothing was changed."}, true
	case errors.As(err, &version):
		return refusal{412, "It has changed", "The row has changed since you saw it. Nothing was done; look at it again."}, true
	case errors.As(err, &reused):
		return refusal{409, "The key is taken", "Another notification has the key that this one would have."}, true
	}
	for _, line := range refusals {
		if errors.Is(err, line.err) {
			return line.refusal, true
		}
	}
	return refusal{500, "Our fault", "Something went wrong here. It was logged."}, false
}

// refuse shows an error.
func (v *visit) refuse(err error) {
	if errors.Is(err, errLogin) {
		v.askLogin()
		return
	}
	if errors.Is(err, errElsewhere) {
		_ = v.redirect("/notifications")
		return
	}
	r, known := refusalOf(err)
	if !known {
		v.failed(err)
	}
	if r.Status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", "5")
	}
	if err := v.render(r.Status, "refusal", r.Title, r); err != nil {
		v.failed(err)
	}
}

// failed logs an error that nobody planned for.
func (v *visit) failed(err error) {
	v.c.troubles.Tell("console page failed", "route", v.r.Pattern, "error", err)
}

// askLogin leads to the login. Who comes by a link from another site has his cookie only after one more step from here, since
// it is SameSite=Strict.
func (v *visit) askLogin() {
	path := strings.TrimPrefix(v.r.URL.Path, Path)
	if v.r.Method != http.MethodGet || v.r.Header.Get("HX-Request") != "" || strings.Contains(v.r.Header.Get("Accept"), "text/event-stream") {
		if v.r.Header.Get("HX-Request") != "" {
			v.w.Header().Set("HX-Redirect", Path+"/login")
		}
		r := refusal{http.StatusUnauthorized, "Log in again", "You are not logged in, or were idle for too long. Nothing was changed."}
		if err := v.render(r.Status, "refusal", r.Title, r); err != nil {
			v.failed(err)
		}
		return
	}
	if v.r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		v.w.Header().Set("Refresh", "0")
		if err := v.render(http.StatusOK, "onward", "One moment", nil); err != nil {
			v.failed(err)
		}
		return
	}
	next := (&url.URL{Path: path, RawQuery: v.r.URL.RawQuery}).String()
	_ = v.redirect("/login?next=" + url.QueryEscape(next))
}

// gone drops the error of a reader who went away, or takes so long that his time is over: another page would not reach him either.
func gone(err error) error {
	for _, leave := range []error{syscall.EPIPE, syscall.ECONNRESET, os.ErrDeadlineExceeded, net.ErrClosed} {
		if errors.Is(err, leave) {
			return nil
		}
	}
	return err
}
