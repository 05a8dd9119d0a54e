package ledger

import (
	"errors"
	"fmt"
	"strings"
)

// What a caller may branch on with errors.Is, each with the code of the problem that a client sees. The api package has the one
// table from these to a status.
var (
	ErrNotFound     = errors.New("no such notification")                                                      // notification_not_found
	ErrMoved        = errors.New("somebody else moved the row")                                               // row_moved
	ErrUnavailable  = errors.New("storage: the write did not happen")                                         // storage_unavailable
	ErrUnknown      = errors.New("storage: it is not known whether the write happened")                       // storage_unknown
	ErrStorageLow   = errors.New("storage: free space is below the reserve")                                  // storage_low
	ErrDraining     = errors.New("the service is stopping")                                                   // draining
	ErrOverload     = errors.New("too many writes are waiting")                                               // overload
	ErrClockBehind  = errors.New("the machine's clock is behind the ledger: its times can't be compared now") // clock_behind
	ErrNoChannel    = errors.New("the channel has no provider")                                               // channel_not_configured
	ErrNoProvider   = errors.New("no such provider")                                                          // provider_not_found
	ErrNoReporter   = errors.New("no provider of that name posts receipts that we can verify")                // receipts_not_taken
	ErrContentGone  = errors.New("the message was erased")                                                    // content_gone
	ErrIfMatch      = errors.New("this action needs If-Match")                                                // if_match_required
	ErrCountDiffers = errors.New("the filter matches another number of rows")                                 // count_differs
	ErrPast         = errors.New("expires_at has passed")                                                     // expired_already
	ErrNeedAccept   = errors.New("the first message may have gone out: accept_duplicate is needed")           // duplicate_not_accepted
	ErrOneState     = errors.New("release takes one state only")                                              // invalid_request
	ErrMayBeSent    = errors.New("this key may release only failed rows that are surely not sent")            // role_missing
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
	Existing Notification // the row that has the key
	Differs  []string     // names of fields, as Differs gives them
}

// Error names the fields.
func (e *ReusedError) Error() string {
	return "dedupe key reused: differs in " + strings.Join(e.Differs, ", ")
}

// StateError is an action that the row's state does not allow.
type StateError struct {
	State   State   // where the row stands
	Allowed []Cause // what may be done with it there
}

// Error names the state.
func (e *StateError) Error() string { return "not allowed in state " + string(e.State) }

// VersionError is an If-Match that names another version than the row has.
type VersionError struct{ Existing Notification }

// Error implements error.
func (e *VersionError) Error() string { return "the row has another version" }
