package console

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"sendonce/ledger"
)

// waitingRows is how many rows that wait for a person stand on a page: each with what was tried.
const waitingRows = 20

// waitingStates are those of rows that wait for a person.
var waitingStates = []ledger.State{ledger.StateAmbiguous, ledger.StateHeld}

// waitingData is what the page of waiting rows shows.
type waitingData struct {
	Form  filterForm
	Rows  []waitingRow
	Read  bool   // the filter could be read
	Older string // the next page: they stand oldest first
	First string // the first page, where this is another
	Here  string // this page, also where it answers a form that was posted elsewhere
	Mark  string
	Bulk  bulkForm
}

// waitingRow is one of them.
type waitingRow struct {
	ledger.Record
	Last     *ledger.Attempt
	Shows    ledger.NextAction
	Decision decision
}

// waiting shows what waits for a person, oldest first.
func (c *Console) waiting(v *visit) error {
	return v.showWaiting(http.StatusOK, "", v.asked, bulkForm{})
}

// showWaiting shows the page for a filter; wrong says why a decision over many was refused, which b holds.
func (v *visit) showWaiting(status int, wrong string, a asked, b bulkForm) error {
	form, f, err := v.readFilter(a)
	form.States = words(waitingStates)
	data := waitingData{Form: form, Bulk: b, Here: a.address("/waiting")}
	if err == nil && form.State != "" && !slices.Contains(form.States, form.State) {
		err = ledger.Invalid("state", "must be ambiguous or held: no other rows wait for a person")
	}
	if err == nil {
		if form.State == "" {
			f.States = waitingStates
		}
		err = v.fillWaiting(&data, a, f)
	}
	if invalid := (*ledger.InvalidError)(nil); errors.As(err, &invalid) {
		r, _ := refusalOf(err)
		return v.page(r.Status, "waiting", view{Title: "Waiting", Wrong: r.Text, Data: data})
	}
	if err != nil {
		return err
	}
	return v.page(status, "waiting", view{Title: "Waiting", Wrong: wrong, Data: data})
}

// fillWaiting reads the rows of a page.
func (v *visit) fillWaiting(data *waitingData, a asked, f ledger.Filter) error {
	f.Oldest, f.Limit = true, waitingRows
	var err error
	if f.Cursor, err = readPlace(a, "newer"); err != nil {
		return err
	}
	page, err := v.c.ledger.List(v.r.Context(), f)
	if err != nil {
		return err
	}
	if page.Next != 0 {
		data.Older = a.turned("newer", page.Next).address("/waiting")
	}
	if f.Cursor != 0 {
		data.First = a.without("newer").address("/waiting")
	}
	for i := range page.Rows {
		rec, err := v.c.ledger.Get(v.r.Context(), page.Rows[i].ID, v.who.Source)
		if errors.Is(err, ledger.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		row := waitingRow{Record: rec, Shows: rec.Shown()}
		if n := len(rec.Attempts); n > 0 {
			last := rec.Attempts[n-1]
			last.Code = hide(&rec.Notification, last.Code)
			row.Last = &last
		}
		row.Decision = decision{Row: &row.Notification, Offers: v.offers(&row.Notification), Back: data.Here}
		data.Rows = append(data.Rows, row)
	}
	for i := range data.Rows { // the slice has moved while it grew
		data.Rows[i].Decision.Row = &data.Rows[i].Notification
	}
	data.Read = true
	data.Mark, err = v.waitingMark(v.r.Context())
	return err
}

// waitingMark tells whether other rows wait than a page shows: the first of them, with their versions.
func (v *visit) waitingMark(ctx context.Context) (string, error) {
	page, err := v.c.ledger.List(ctx, ledger.Filter{States: waitingStates, Source: v.who.Source, Oldest: true, Limit: 2 * waitingRows})
	parts := make([]any, 0, 2*len(page.Rows)+1)
	for i := range page.Rows {
		parts = append(parts, page.Rows[i].ID, page.Rows[i].Version)
	}
	return v.c.markOf(append(parts, page.Next)...), err
}

// liveWaiting tells when rows begin or cease to wait. A row that moved may have been one of them.
func (c *Console) liveWaiting(v *visit) error {
	concerns := func(changes ledger.Changes) bool {
		return slices.ContainsFunc(changes.Rows, func(r ledger.RowChange) bool { return r.State != ledger.StateSending })
	}
	return v.stream(concerns, v.waitingMark)
}
