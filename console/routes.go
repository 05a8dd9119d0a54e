package console

import "net/http"

// needs says who may use a route.
type needs uint8

const (
	anybody     needs = 1 << iota // no login
	anyKey                        // whoever is logged in
	operator                      // the role operate
	wholeLedger                   // not for keys that are bound to a source: what it shows or changes belongs to all
)

// route is one line of the table of pages. path stands below Path and is written as http.ServeMux wants it.
type route struct {
	method  string
	path    string
	needs   needs
	nav     string // its name in the navigation; "" is not there
	handler func(*visit) error
}

// routes is the table of all pages and actions, in the order of the navigation.
func (c *Console) routes() []route {
	const (
		get  = http.MethodGet
		post = http.MethodPost
	)
	return []route{
		{get, "/static/{file}", anybody, "", c.static},
		{post, "/csp", anybody, "", c.report},
		{get, "/login", anybody, "", c.showLogin},
		{post, "/login", anybody, "", c.login},
		{post, "/logout", anyKey, "", c.logout},

		{get, "/{$}", anyKey, "Overview", c.overview},
		{get, "/history", anyKey | wholeLedger, "", c.history},
		{get, "/live/overview", anyKey | wholeLedger, "", c.liveOverview},
		{get, "/notifications", anyKey, "Notifications", c.notifications},
		{get, "/notifications/export", anyKey, "", c.export},
		{get, "/notifications/{id}", anyKey, "", c.notification},
		{post, "/notifications/{id}/settle", anyKey, "", c.settle},
		{post, "/notifications/{id}/resend", operator, "", c.resend},
		{post, "/notifications/{id}/reveal", operator, "", c.reveal},
		{get, "/live/notifications/{id}", anyKey, "", c.liveNotification},
		{get, "/waiting", anyKey, "Waiting", c.waiting},
		{post, "/waiting/count", operator, "", c.bulkCount},
		{post, "/waiting/settle", operator, "", c.bulkSettle},
		{get, "/live/waiting", anyKey, "", c.liveWaiting},
		{get, "/providers", anyKey | wholeLedger, "Providers", c.providers},
		{get, "/live/providers", anyKey | wholeLedger, "", c.liveProviders},
		{post, "/providers/{name}/pause", operator | wholeLedger, "", c.pause},
		{post, "/providers/{name}/resume", operator | wholeLedger, "", c.resume},
		{get, "/mailbox", operator | wholeLedger, "Mailbox", c.mailbox},
		{get, "/mailbox/mail", operator | wholeLedger, "", c.mail},
		{get, "/live/mailbox", operator | wholeLedger, "", c.liveMailbox},
		{get, "/", anyKey, "", func(*visit) error { return errNoPage }},
		{get, "", anybody, "", func(v *visit) error { return v.redirect("/") }},
	}
}
