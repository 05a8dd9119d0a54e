package console

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

// needs says who may use a route, and whether a person asks for it.
type needs uint8

const (
	anybody     needs = 1 << iota // no login
	anyKey                        // whoever is logged in
	operator                      // the role operate
	elsewhere                     // as wholeLedger, but such keys are led to the notifications: it is where everybody begins
	wholeLedger                   // not for keys that are bound to a source: what it shows or changes belongs to all
	unattended                    // a page asks for it by itself: no use of the login
)

// route is one line of the table of pages. path stands below Path and is written as http.ServeMux wants it.
type route struct {
	method  string
	path    string
	needs   needs
	nav     string // its name in the navigation; "" is not there
	handler func(*visit) error
	takes   []string // the names of its query or form, all others are refused; nil: it reads none
}

// routes is the table of all pages and actions, in the order of the navigation.
func (c *Console) routes() []route {
	const (
		get  = http.MethodGet
		post = http.MethodPost
	)
	return []route{
		{get, "/static/{file}", anybody, "", c.static, nil},
		{post, "/csp", anybody, "", c.report, nil},
		{get, "/login", anybody, "", c.showLogin, []string{"next"}},
		{post, "/login", anybody, "", c.login, []string{"key", "next"}},
		{post, "/logout", anyKey, "", c.logout, nil},

		{get, "/{$}", anyKey | elsewhere, "Overview", c.overview, nil},
		{get, "/history", anyKey | wholeLedger | unattended, "", c.history, nil},
		{get, "/live/overview", anyKey | wholeLedger | unattended, "", c.liveOverview, []string{"mark"}},
		{get, "/notifications", anyKey, "Notifications", c.notifications, takes(listConditions, places)},
		{get, "/notifications/export", anyKey, "", c.export, takes(listConditions, []string{"format"})},
		{get, "/notifications/{id}", anyKey, "", c.notification, nil},
		{post, "/notifications/{id}/settle", anyKey, "", c.settle, takes(decisionFields, []string{"action", "message_id", "expires_at", "back"})},
		{post, "/notifications/{id}/resend", operator, "", c.resend, takes(decisionFields, []string{"accept_duplicate"})},
		{post, "/notifications/{id}/reveal", operator, "", c.reveal, decisionFields},
		{get, "/live/notifications/{id}", anyKey | unattended, "", c.liveNotification, []string{"mark"}},
		{get, "/waiting", anyKey, "Waiting", c.waiting, takes(waitingConditions, []string{"newer"})},
		{post, "/waiting/count", operator, "", c.bulkCount, bulkFields},
		{post, "/waiting/settle", operator, "", c.bulkSettle, bulkFields},
		{get, "/live/waiting", anyKey | unattended, "", c.liveWaiting, []string{"mark"}},
		{get, "/providers", anyKey | wholeLedger, "Providers", c.providers, nil},
		{get, "/live/providers", anyKey | wholeLedger | unattended, "", c.liveProviders, []string{"mark"}},
		{post, "/providers/{name}/pause", operator | wholeLedger, "", c.pause, []string{"reason"}},
		{post, "/providers/{name}/resume", operator | wholeLedger, "", c.resume, nil},
		{get, "/mailbox", operator | wholeLedger, "Mailbox", c.mailbox, []string{"channel", "skip"}},
		{get, "/mailbox/mail", operator | wholeLedger, "", c.mail, []string{"provider", "message"}},
		{get, "/live/mailbox", operator | wholeLedger | unattended, "", c.liveMailbox, []string{"mark"}},
		{get, "/", anyKey, "", func(*visit) error { return errNoPage }, nil},
		{get, "", anybody, "", func(v *visit) error { return v.redirect("/") }, nil},
	}
}

// withWaysBack adds a GET for each address that only takes a form: a browser that is started again asks for it, and is led to the
// page that the form stands on.
func withWaysBack(all []route) []route {
	out := slices.Clone(all)
	gets := func(p string) bool {
		return slices.ContainsFunc(all, func(r route) bool { return r.method == http.MethodGet && r.path == p })
	}
	for _, r := range all {
		if r.method != http.MethodPost || gets(r.path) {
			continue
		}
		up, page := 1, path.Dir(r.path)
		for page != "/" && !gets(page) {
			up, page = up+1, path.Dir(page)
		}
		out = append(out, route{method: http.MethodGet, path: r.path, needs: anybody, handler: func(v *visit) error {
			at := strings.TrimPrefix(v.r.URL.EscapedPath(), Path)
			for range up {
				at = path.Dir(at)
			}
			return v.redirect(at)
		}})
	}
	return out
}
