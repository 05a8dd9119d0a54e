package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// settle is the handler of one of the six actions.
func (a *API) settle(action ledger.Cause) func(*request) error {
	return func(rq *request) error {
		id, err := rowID(rq)
		if err != nil {
			return err
		}
		var in Action
		if err := a.readInto(rq, &in); err != nil {
			return err
		}
		act, err := in.act(action, rq, id)
		if err != nil {
			return err
		}
		n, err := a.ledger.Settle(context.WithoutCancel(rq.Request().Context()), act)
		if err != nil {
			return a.withCurrent(rq, id, err)
		}
		return a.writeRow(rq, http.StatusOK, &n, &ledger.ClaimResult{})
	}
}

// act turns the JSON of an action into the ledger's.
func (in *Action) act(action ledger.Cause, rq *request, id uuid.UUID) (ledger.Act, error) {
	var f faults
	f.text("reason", in.Reason, ledger.MaxReason, true)
	f.text("by", in.By, ledger.MaxPerson, false)
	f.text("message_id", in.MessageID, ledger.MaxMessageID, false)
	if in.MessageID != "" && action != ledger.CauseConfirm {
		f.add("message_id", "must be left out; it belongs to confirm only")
	}
	if in.ExpiresAt != "" && action != ledger.CauseRelease {
		f.add("expires_at", "must be left out; it belongs to release only")
	}
	act := ledger.Act{
		Action:    action,
		ID:        id,
		Source:    rq.key.Source,
		Reason:    in.Reason,
		Actor:     rq.key.Name,
		Person:    in.By,
		MessageID: in.MessageID,
		ExpiresAt: f.time("expires_at", in.ExpiresAt),
		IfMatch:   f.ifMatch(rq.Request().Header),
		Surely:    rq.key.roles&operator == 0,
	}
	return act, f.err()
}

// resend claims a second message on purpose. It needs If-Match, so that a second click finds what the first
// one did instead of sending a third message.
func (a *API) resend(rq *request) error {
	id, err := rowID(rq)
	if err != nil {
		return err
	}
	var in ResendRequest
	if err := a.readInto(rq, &in); err != nil {
		return err
	}
	var f faults
	f.text("reason", in.Reason, ledger.MaxReason, true)
	f.text("by", in.By, ledger.MaxPerson, false)
	match := f.ifMatch(rq.Request().Header)
	if err := f.err(); err != nil {
		return err
	}
	if match == 0 {
		return a.withCurrent(rq, id, ledger.ErrIfMatch)
	}
	act := ledger.Act{ID: id, Source: rq.key.Source, Reason: in.Reason, Actor: rq.key.Name, Person: in.By, IfMatch: match}
	n, err := a.ledger.Resend(context.WithoutCancel(rq.Request().Context()), act, in.AcceptDuplicate)
	if err != nil {
		return a.withCurrent(rq, id, err)
	}
	location(rq, n.ID)
	return a.writeRow(rq, http.StatusAccepted, &n, &ledger.ClaimResult{})
}

// withCurrent adds the row and its resends to a refusal about its version. A row that this key can't see
// stays not found.
func (a *API) withCurrent(rq *request, id uuid.UUID, err error) error {
	var version *ledger.VersionError
	if !errors.Is(err, ledger.ErrIfMatch) && !errors.As(err, &version) {
		return err
	}
	rec, readErr := a.ledger.Get(rq.Request().Context(), id, rq.key.Source)
	switch {
	case readErr != nil && version != nil:
		return err // it brings the row itself
	case readErr != nil:
		return readErr
	}
	r, _ := refusalOf(err)
	r.problem.Notification = &Current{Notification: notification(&rec.Notification), Resends: ids(rec.Resends)}
	return r
}

// ifMatch reads If-Match, which is exactly an ETag of a row: "3". 0 means that there is none; versions
// start at 1.
func (f *faults) ifMatch(h http.Header) int64 {
	values := h.Values("If-Match")
	if len(values) == 0 {
		return 0
	}
	text, quoted := strings.CutPrefix(values[0], `"`)
	text, closed := strings.CutSuffix(text, `"`)
	version, err := strconv.ParseInt(text, 10, 64)
	if len(values) > 1 || !quoted || !closed || err != nil || version < 1 || text[0] == '+' || text[0] == '0' {
		f.add("If-Match", `must be exactly one ETag of the notification, such as "3"`)
		return 0
	}
	return version
}

// rowID is the id in the path. Only the form that answers show is an id; all else is an unknown row, with the
// same answer as a row of another source.
func rowID(rq *request) (uuid.UUID, error) {
	text := rq.Param("id")
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.Nil, refuse(codeNoNotification)
	}
	return id, nil
}

// bulkBody is Bulk with a filter that can tell an empty value from none: an emptied filter must not match
// everything.
type bulkBody struct {
	Action        string            `json:"action"`
	Filter        map[string]string `json:"filter"`
	Reason        string            `json:"reason"`
	By            string            `json:"by"`
	ExpectedCount *int64            `json:"expected_count"`
	DryRun        bool              `json:"dry_run"`
}

// settleMany decides about every row that a filter matches.
func (a *API) settleMany(rq *request) error {
	var in bulkBody
	if err := a.readInto(rq, &in); err != nil {
		return err
	}
	bulk, err := in.bulk(rq.key)
	if err != nil {
		return err
	}
	res, err := a.ledger.SettleMany(context.WithoutCancel(rq.Request().Context()), bulk)
	if errors.Is(err, ledger.ErrCountDiffers) {
		r := refuse(codeCountDiffers)
		r.problem.Matched = &res.Matched
		return r
	}
	if err != nil {
		return err
	}
	return a.writeJSON(rq, http.StatusOK, &BulkAnswer{Matched: res.Matched, Changed: res.Changed, Skipped: res.Skipped})
}

// bulk turns the JSON of a settlement of many rows into the ledger's.
func (in *bulkBody) bulk(key *credential) (ledger.Bulk, error) {
	var f faults
	action := ledger.Cause(in.Action)
	if !isAction(action) {
		f.add("action", "must be one of %s", actionNames())
	}
	f.text("reason", in.Reason, ledger.MaxReason, true)
	f.text("by", in.By, ledger.MaxPerson, false)
	switch {
	case in.ExpectedCount == nil && !in.DryRun:
		f.add("expected_count", "must be given, as dry_run counted it")
	case in.ExpectedCount != nil && *in.ExpectedCount < 0:
		f.add("expected_count", "must not be negative")
	}
	if len(in.Filter) == 0 {
		f.add("filter", "must be given and have at least one field")
	}
	filter := f.conditions("filter.", in.Filter)
	if err := f.err(); err != nil {
		return ledger.Bulk{}, err
	}
	var err error
	filter.Source, err = key.sourceFor(filter.Source)
	bulk := ledger.Bulk{Action: action, Filter: filter, Reason: in.Reason, Actor: key.Name, Person: in.By, DryRun: in.DryRun}
	if in.ExpectedCount != nil {
		bulk.Expected = *in.ExpectedCount
	}
	return bulk, err
}

// isAction reports whether a person may ask for a cause.
func isAction(c ledger.Cause) bool {
	for _, a := range ledger.Actions {
		if a == c {
			return true
		}
	}
	return false
}

// actionNames lists the actions for a person.
func actionNames() string {
	names := make([]string, len(ledger.Actions))
	for i, a := range ledger.Actions {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}
