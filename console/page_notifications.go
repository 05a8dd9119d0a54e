package console

import (
	"errors"
	"net/http"

	"sendonce/ledger"
)

// notificationsData is what the list of notifications shows.
type notificationsData struct {
	Form filterForm
	listed
}

// notifications shows the rows that fit the filters.
func (c *Console) notifications(v *visit) error {
	var data notificationsData
	var filter ledger.Filter
	var err error
	data.Form, filter, err = v.readFilter(v.r.URL.Query())
	if err == nil {
		data.listed, err = v.list(filter)
	}
	if invalid := (*ledger.InvalidError)(nil); errors.As(err, &invalid) {
		r, _ := refusalOf(err)
		return v.page(r.Status, "notifications", view{Title: "Notifications", Wrong: r.Text, Data: data})
	}
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "notifications", "Notifications", data)
}
