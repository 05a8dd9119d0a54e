package console

import (
	"context"
	"errors"
	"net/http"
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
	Back   string // the waiting rows, with the same filter
	Count  int64  // rows that match and have the action
	Result *ledger.BulkResult
}

// bulk reads the form of a decision over many rows. It always names a state: what waits for a person is one of two, and each
// action belongs to one.
func (v *visit) bulk() (ledger.Bulk, bulkData, error) {
	form, filter, err := v.readFilter(v.asked)
	data := bulkData{Form: form, Bulk: v.bulkForm(), Back: v.bulkConditions().address("/waiting")}
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

func (v *visit) bulkForm() bulkForm {
	return bulkForm{v.asked["action"], v.asked["reason"], v.asked["by"]}
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
	if b.Expected, err = strconv.ParseInt(v.asked["expected_count"], 10, 64); err != nil || b.Expected < 1 {
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

// bulkRefused shows the waiting rows of the same filter again, with what was typed. A filter that is itself what is wrong is shown
// as it is, with no rows.
func (v *visit) bulkRefused(err error) error {
	r, known := refusalOf(err)
	if !known {
		return err
	}
	return v.showWaiting(r.Status, r.Text, v.bulkConditions(), v.bulkForm())
}

// bulkConditions are those of the filter, as the waiting page takes them.
func (v *visit) bulkConditions() asked {
	a := v.asked.without("action", "reason", "by", "expected_count")
	if !slices.Contains(words(waitingStates), a["state"]) {
		a = a.without("state")
	}
	return a
}
