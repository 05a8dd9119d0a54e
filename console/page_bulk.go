package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"sendonce/ledger"
)

// bulkForm is one decision over many rows, as a form has it.
type bulkForm struct {
	Action, Reason, By string
}

// Action is the decision.
func (d bulkData) Action() ledger.Cause { return ledger.Cause(d.Bulk.Action) }

// bulkData is what the page between counting and deciding shows.
type bulkData struct {
	Form   filterForm
	Bulk   bulkForm
	Count  int64 // rows that match and have the action
	Result *ledger.BulkResult
}

// bulk reads the form of a decision over many rows. It always names a state: what waits for a person is one of two, and each
// action belongs to one.
func (v *visit) bulk() (ledger.Bulk, bulkData, error) {
	f := v.r.PostForm
	form, filter, err := v.readFilter(f)
	data := bulkData{Form: form, Bulk: bulkForm{f.Get("action"), f.Get("reason"), f.Get("by")}}
	b := ledger.Bulk{
		Action: ledger.Cause(data.Bulk.Action), Filter: filter, Reason: data.Bulk.Reason, Actor: v.who.Name, Person: data.Bulk.By,
	}
	if err != nil {
		return b, data, err
	}
	if !slices.Contains(ledger.Actions, b.Action) {
		return b, data, ledger.Invalid("action", "must be chosen")
	}
	if len(filter.States) != 1 || !slices.Contains(waitingStates, filter.States[0]) {
		return b, data, ledger.Invalid("state", "must be ambiguous or held")
	}
	if _, ok := ledger.Next(filter.States[0], b.Action, filter.States[0] == ledger.StateAmbiguous); !ok {
		return b, data, &ledger.StateError{State: filter.States[0]}
	}
	return b, data, nil
}

// bulkCount counts what a decision would change, and asks whether that is meant.
func (c *Console) bulkCount(v *visit) error {
	b, data, err := v.bulk()
	if err == nil {
		b.DryRun = true
		var res ledger.BulkResult
		res, err = c.ledger.SettleMany(v.r.Context(), b)
		data.Count = res.Matched
	}
	if err != nil {
		return v.bulkRefused(err)
	}
	return v.render(http.StatusOK, "bulk", "Decide about many", data)
}

// bulkSettle decides, if as many rows match as were counted.
func (c *Console) bulkSettle(v *visit) error {
	b, data, err := v.bulk()
	if err != nil {
		return v.bulkRefused(err)
	}
	if b.Expected, err = strconv.ParseInt(v.r.PostForm.Get("expected_count"), 10, 64); err != nil || b.Expected < 1 {
		return errForm
	}
	res, err := c.ledger.SettleMany(context.WithoutCancel(v.r.Context()), b)
	if errors.Is(err, ledger.ErrCountDiffers) { // count again, and say so
		data.Count = res.Matched
		r, _ := refusalOf(err)
		return v.page(r.Status, "bulk", view{Title: "Decide about many", Wrong: r.Text, Data: data})
	}
	if err != nil {
		return v.bulkRefused(err)
	}
	data.Result = &res
	return v.render(http.StatusOK, "bulk", "Decided", data)
}

// bulkRefused shows the waiting rows again, with what was typed.
func (v *visit) bulkRefused(err error) error {
	r, known := refusalOf(err)
	if !known {
		return err
	}
	q := url.Values{}
	for name, values := range v.r.PostForm {
		if name != "newer" {
			q[name] = values
		}
	}
	if r.Status == http.StatusBadRequest { // the filter itself may be what is wrong
		if _, _, again := v.readFilter(q); again != nil {
			q = url.Values{"action": q["action"], "reason": q["reason"], "by": q["by"]}
		}
	}
	if !slices.Contains(words(waitingStates), q.Get("state")) {
		q.Del("state")
	}
	return v.showWaiting(r.Status, r.Text, q)
}
