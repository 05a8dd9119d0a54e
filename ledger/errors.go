package ledger

import (
	"errors"
	"fmt"
	"strings"
)

// What a caller may branch on with errors.Is. The api package has the one table from these to a status.
var (
	ErrNotFound     = errors.New("no such notification")
	ErrMoved        = errors.New("somebody else moved the row")
	ErrUnavailable  = errors.New("storage: the write did not happen")                                         // storage_unavailable
	ErrUnknown      = errors.New("storage: it is not known whether the write happened")                       // storage_unknown
	ErrStorageLow   = errors.New("storage: free space is below the reserve")                                  // storage_low
	ErrDraining     = errors.New("the service is stopping")                                                   // draining
	ErrOverload     = errors.New("too many writes are waiting")                                               // overload
	ErrClockBehind  = errors.New("the machine's clock is behind the ledger: its times can't be compared now") // clock_behind
	ErrNoChannel    = errors.New("the channel has no provider")                                               // channel_not_configured
	ErrNoProvider   = errors.New("no such provider")
	ErrNoReporter   = errors.New("no provider of that name posts receipts that we can verify") // receipts_not_taken
	ErrContentGone  = errors.New("the message was erased")                                     // content_gone
	ErrIfMatch      = errors.New("this action needs If-Match")                                 // if_match_required
	ErrCountDiffers = errors.New("the filter matches another number of rows")                  // count_differs
	ErrPast         = errors.New("expires_at has passed")                                      // expired_already
	ErrNeedAccept   = errors.New("the first message may have gone out: accept_duplicate is needed")
	ErrOneState     = errors.New("release takes one state only")
	ErrMayBeSent    = errors.New("this key may release only failed rows that are surely not sent") // role_missing
)

// FieldError names one field of a request and says what is right.
type FieldError struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// InvalidError is a request that can never succeed as it is; it leaves no row.
type InvalidError struct{ Fields []FieldError }

// Error joins the fields.
func (e *InvalidError) Error() string {
	s := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		s[i] = f.Field + ": " + f.Detail
	}
	return "invalid: " + strings.Join(s, "; ")
}

// Invalid makes an InvalidError of one field.
func Invalid(field, format string, args ...any) *InvalidError {
	return &InvalidError{Fields: []FieldError{{Field: field, Detail: fmt.Sprintf(format, args...)}}}
}

// ReusedError is a key that was brought again for something else.
type ReusedError struct {
	Existing Notification
	Differs  []string
}

func (e *ReusedError) Error() string {
	return "dedupe key reused: differs in " + strings.Join(e.Differs, ", ")
}

// StateError is an action that the row's state does not allow.
type StateError struct {
	State   State
	Allowed []Cause
}

func (e *StateError) Error() string { return "not allowed in state " + string(e.State) }

// VersionError is an If-Match that names another version than the row has.
type VersionError struct{ Existing Notification }

func (e *VersionError) Error() string { return "the row has another version" }
