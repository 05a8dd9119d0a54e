package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"sendonce/ledger"
)

// Ledger is what the API needs of the ledger; *ledger.Ledger has it, with the errors that its methods name.
type Ledger interface {
	Known(h ledger.EventHash, caller string) (ledger.ClaimResult, bool)
	Claim(ctx context.Context, e ledger.Event) (ledger.ClaimResult, error)
	ClaimBatch(ctx context.Context, events []ledger.Event) ([]ledger.ClaimResult, error)
	Wait(ctx context.Context, n ledger.Notification, longest time.Duration, stop <-chan struct{}) ledger.Notification
	Get(ctx context.Context, id uuid.UUID, source *string) (ledger.Record, error)
	List(ctx context.Context, f ledger.Filter) (ledger.Page, error)
	Settle(ctx context.Context, a ledger.Act) (ledger.Notification, error)
	SettleMany(ctx context.Context, b ledger.Bulk) (ledger.BulkResult, error)
	Resend(ctx context.Context, a ledger.Act, acceptDuplicate bool) (ledger.Notification, error)
	Providers() []ledger.ProviderStatus
	Pause(ctx context.Context, provider, actor, reason string) (ledger.ProviderStatus, error)
	Resume(ctx context.Context, provider, actor string) (ledger.ProviderStatus, error)
	Keys(ctx context.Context, e ledger.Event) ([]ledger.KeyPreview, error)
	Stats(ctx context.Context) (ledger.Stats, error)
	Receive(ctx context.Context, provider string, p ledger.Posted) (ledger.Received, error)
	Ready() error
}

// Settings are what the configuration says about the API. They are valid when New gets them.
type Settings struct {
	Keys                 []AccessKey  // none: loopback only, no key needed
	AcceptIdempotencyKey bool         // an Idempotency-Key header on a claim is its dedupe_key instead of a 400
	PublicURL            string       // its origin counts as our own for browsers, and providers post to it; no slash at the end
	Version              string       // shown by /healthz
	Console              http.Handler // the pages for people at /console, which ask for a login themselves; nil: there are none
	Limits               Limits
}

// API is the HTTP door of one ledger.
type API struct {
	ledger   Ledger
	settings Settings
	limits   Limits
	keys     []credential
	log      *slog.Logger
	troubles *ledger.Troubles // what any request may meet, told now and then
	echo     *echo.Echo
	origins  *http.CrossOriginProtection
	public   map[string]bool // path templates that need no key
	signed   map[string]bool // of them, those whose callers sign and are no browsers
	room     *room           // for bodies
	large    chan struct{}   // one for each large body of receipts that is read
	unsigned rate.Sometimes  // bounds the log lines about refused receipts
	bodies   sync.Pool       // of *[]byte: request bodies, which nothing keeps after decoding
	answers  sync.Pool       // of *bytes.Buffer
	refusals rate.Sometimes  // bounds the log lines about refused hosts and origins
}

// New makes the API. It panics on settings that the config package would have refused.
func New(l Ledger, s Settings, log *slog.Logger) *API {
	a := &API{
		ledger:   l,
		settings: s,
		limits:   s.Limits.withDefaults(),
		keys:     credentials(s.Keys),
		log:      log,
		troubles: ledger.NewTroubles(log),
		echo:     echo.New(),
		origins:  http.NewCrossOriginProtection(),
		public:   map[string]bool{},
		signed:   map[string]bool{},
		large:    make(chan struct{}, largeAtOnce),
		refusals: rate.Sometimes{First: 5, Interval: time.Second},
		unsigned: rate.Sometimes{First: 5, Interval: 10 * time.Second},
	}
	a.room = newRoom(a.limits)
	if s.PublicURL != "" {
		u, err := url.Parse(s.PublicURL)
		if err == nil {
			err = a.origins.AddTrustedOrigin(u.Scheme + "://" + u.Host)
		}
		if err != nil {
			panic(fmt.Sprintf("api: public URL: %v", err))
		}
	}
	a.echo.HideBanner = true
	a.echo.HidePort = true
	a.echo.HTTPErrorHandler = a.fail
	a.echo.Use(a.recoverPanic, a.admit)
	for _, r := range a.routes() {
		a.add(r)
	}
	if s.Console != nil {
		a.addConsole()
	}
	return a
}

// Handler answers every route of the API.
func (a *API) Handler() http.Handler { return a.echo }

// request is one admitted request and the key that it came with.
type request struct {
	echo.Context
	key *credential
}

// route is one line of the table of routes. A route without roles is public; everyRole means any valid key.
type route struct {
	method  string
	path    string
	roles   roles
	handler func(*request) error
}

// routes is the table of all routes and of who may use them.
func (a *API) routes() []route {
	const (
		get  = http.MethodGet
		head = http.MethodHead
		post = http.MethodPost
		one  = "/v1/notifications/:id"
	)
	return []route{
		{post, "/v1/notifications", sender, a.claim},
		{post, "/v1/notifications/batch", sender, a.claimBatch},
		{get, "/v1/notifications", everyRole, a.list},
		{get, one, everyRole, a.get},
		{post, one + "/confirm", operator, a.settle(ledger.CauseConfirm)},
		{post, one + "/release", sender | operator, a.settle(ledger.CauseRelease)},
		{post, one + "/abandon", operator, a.settle(ledger.CauseAbandon)},
		{post, one + "/hold", sender | operator, a.settle(ledger.CauseHold)},
		{post, one + "/unhold", sender | operator, a.settle(ledger.CauseUnhold)},
		{post, one + "/cancel", sender | operator, a.settle(ledger.CauseCancel)},
		{post, one + "/resend", operator, a.resend},
		{post, "/v1/settlements", operator, a.settleMany},
		{get, "/v1/providers", everyRole, a.providers},
		{post, "/v1/providers/:name/pause", operator | wholeLedger, a.pause},
		{post, "/v1/providers/:name/resume", operator | wholeLedger, a.resume},
		{get, "/v1/keys", everyRole, a.previewKeys},
		{get, "/v1/stats", everyRole | wholeLedger, a.stats},
		{post, "/v1/receipts/:provider", signed, a.receive},
		{post, "/v1/receipts/:provider/:reference", signed, a.receive},
		{get, "/healthz", public, a.health},
		{head, "/healthz", public, a.health},
		{get, "/readyz", public, a.ready},
		{head, "/readyz", public, a.ready},
		{get, "/problems/:code", public, a.explain},
	}
}

// addConsole lets the console answer below its path, behind the guards of every route. It has keys and roles of its own.
func (a *API) addConsole() {
	show := func(rq *request) error {
		a.settings.Console.ServeHTTP(rq.Response(), rq.Request())
		return nil
	}
	for _, path := range []string{"/console", "/console/*"} {
		a.add(route{http.MethodGet, path, public, show})
		a.add(route{http.MethodPost, path, public, show})
	}
}

// add registers a route behind its roles. A route that names none is a programmer's mistake.
func (a *API) add(r route) {
	if r.roles == 0 {
		panic("api: route without roles: " + r.method + " " + r.path)
	}
	if r.roles == public || r.roles == signed {
		a.public[r.path] = true
	}
	if r.roles == signed {
		a.signed[r.path] = true
	}
	a.echo.Add(r.method, r.path, func(c echo.Context) error {
		rq := c.(*request)
		if err := rq.key.may(r.roles); err != nil {
			return err
		}
		return r.handler(rq)
	})
}
