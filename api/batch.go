package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"sendonce/ledger"
)

// batchField is the one field of a batch.
const batchField = "notifications"

// claimBatch takes up to ledger.MaxBatch events in one commit; each item is judged by itself.
func (a *API) claimBatch(rq *request) error {
	if len(rq.Request().Header.Values("Idempotency-Key")) > 0 {
		return ledger.Invalid("Idempotency-Key", "must not be sent with a batch; a key of your own goes into each item's dedupe_key")
	}
	var (
		results []BatchResult
		events  []ledger.Event
		places  []int // of events in results
	)
	share := a.room.weigh(rq.Request(), a.limits.Batch, batchWeight)
	defer share.leave() // once it is answered
	err := a.jsonBody(rq, a.limits.Batch, func(body []byte) error {
		if err := share.take(batchWeight); err != nil {
			return err
		}
		return eachItem(body, func(item []byte) {
			results = append(results, BatchResult{})
			i := len(results) - 1
			e, err := a.batchEvent(rq.key, item)
			if err != nil {
				results[i] = a.refusedItem(i, err)
				return
			}
			events, places = append(events, e), append(places, i)
		})
	})
	if err != nil {
		return err
	}
	if len(events) > 0 {
		claimed, err := a.ledger.ClaimBatch(context.WithoutCancel(rq.Request().Context()), events)
		if err != nil {
			return err
		}
		for j := range claimed {
			results[places[j]] = a.claimedItem(places[j], &claimed[j])
		}
	}
	return a.writeJSON(rq, http.StatusOK, countBatch(results))
}

// eachItem hands each item of a batch to use, which must keep no part of it. An invalid item spoils no other,
// so text and names inside items are not looked at here; only what is no JSON at all ends the batch.
func eachItem(body []byte, use func(item []byte)) error {
	if err := startsObject(body); err != nil {
		return err
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	items := 0
	if _, err := d.ReadToken(); err != nil { // {
		return decodeError(err)
	}
	for seen := false; d.PeekKind() == '"'; seen = true {
		name, err := d.ReadToken()
		switch {
		case err != nil:
			return decodeError(err)
		case name.String() != batchField:
			return ledger.Invalid(fieldOf(d.StackPointer()), "is no field here; the field is %s", batchField)
		case seen:
			return ledger.Invalid(batchField, "must stand once")
		}
		if items, err = arrayItems(d, use); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil { // }
		return decodeError(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return ledger.Invalid(wholeBody, "must end with its object; something follows at byte %d", d.InputOffset())
	}
	if items == 0 {
		return ledger.Invalid(batchField, "must be given and have at least one item")
	}
	return nil
}

// arrayItems reads the array that comes next and counts its items.
func arrayItems(d *jsontext.Decoder, use func(item []byte)) (int, error) {
	if d.PeekKind() != '[' {
		return 0, ledger.Invalid(batchField, "must be an array")
	}
	if _, err := d.ReadToken(); err != nil { // [
		return 0, decodeError(err)
	}
	items := 0
	for d.PeekKind() != ']' {
		item, err := d.ReadValue()
		if err != nil {
			return 0, decodeError(err)
		}
		if items++; items > ledger.MaxBatch {
			return 0, ledger.Invalid(batchField, "must have at most %d items", ledger.MaxBatch)
		}
		use(item)
	}
	_, err := d.ReadToken() // ]
	return items, decodeError(err)
}

// batchEvent reads one item, which has the limits of a claim by itself.
func (a *API) batchEvent(key *credential, item []byte) (ledger.Event, error) {
	if int64(len(item)) > a.limits.Body {
		return ledger.Event{}, refuse(codeTooLarge)
	}
	var in Event
	if err := decode(item, &in); err != nil {
		return ledger.Event{}, err
	}
	return in.event(key, nil)
}

// claimedItem is the result of an item that the ledger looked at.
func (a *API) claimedItem(i int, res *ledger.ClaimResult) BatchResult {
	if res.Err != nil {
		return a.refusedItem(i, res.Err)
	}
	n := claimed(&res.Notification, res)
	if res.Duplicate {
		return BatchResult{Status: http.StatusOK, Notification: &n}
	}
	return BatchResult{Status: http.StatusAccepted, Notification: &n}
}

// refusedItem is the result of an item that made no row; its fields are named from the batch's root.
func (a *API) refusedItem(i int, err error) BatchResult {
	r, known := refusalOf(err)
	if !known {
		a.troubles.Tell("item of a batch failed", "error", err)
	}
	item := batchField + "[" + strconv.Itoa(i) + "]"
	fields := make([]ledger.FieldError, len(r.problem.Errors))
	for j, f := range r.problem.Errors {
		if f.Field = item + "." + f.Field; f.Field == item+"."+wholeBody {
			f.Field = item
		}
		fields[j] = f
	}
	r.problem.Errors = fields
	return BatchResult{Status: r.kind.status, Problem: &r.problem}
}

// countBatch adds the results up.
func countBatch(results []BatchResult) *BatchAnswer {
	answer := &BatchAnswer{Results: results}
	for _, r := range results {
		switch r.Status {
		case http.StatusAccepted:
			answer.Claimed++
		case http.StatusOK:
			answer.Duplicates++
		default:
			answer.Refused++
		}
	}
	return answer
}
