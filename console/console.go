package console

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"sendonce/ledger"
)

// Path is where the console stands.
const Path = "/console"

// Ledger is what the pages need of the ledger; *ledger.Ledger has it, with the errors that its methods name.
type Ledger interface {
	Get(ctx context.Context, id uuid.UUID, source *string) (ledger.Record, error)
	List(ctx context.Context, f ledger.Filter) (ledger.Page, error)
	Settle(ctx context.Context, a ledger.Act) (ledger.Notification, error)
	SettleMany(ctx context.Context, b ledger.Bulk) (ledger.BulkResult, error)
	Resend(ctx context.Context, a ledger.Act, acceptDuplicate bool) (ledger.Notification, error)
	Reveal(ctx context.Context, a ledger.Act) (ledger.Notification, error)
	Understand(text string) []ledger.Reading
	Watch(ctx context.Context, source *string) *ledger.Watcher
	Keys(ctx context.Context, e ledger.Event) ([]ledger.KeyPreview, error)
	Providers() []ledger.ProviderStatus
	ProviderViews(ctx context.Context) ([]ledger.ProviderView, error)
	Pause(ctx context.Context, provider, actor, reason string) (ledger.ProviderStatus, error)
	Resume(ctx context.Context, provider, actor string) (ledger.ProviderStatus, error)
	History(provider string) ledger.History
	Saved() ledger.Saved
	Mailbox() ([]ledger.Printed, bool)
	Stats(ctx context.Context) (ledger.Stats, error)
	Condition() ledger.Condition
}

// Settings are what the configuration says about the console.
type Settings struct {
	Login     func(key string) (Identity, bool) // who has an API key; nil: there are no keys, and everybody on this machine may do everything
	PublicURL string                            // its origin counts as our own; with https, cookies are for https only
	Version   string
	Codes     map[string]Codes // code tables by type of provider
}

// Console is the pages over one ledger.
type Console struct {
	ledger    Ledger
	settings  Settings
	log       *slog.Logger
	troubles  *ledger.Troubles // what any visit may meet, told now and then
	mux       *http.ServeMux
	handler   http.Handler
	templates templates
	files     map[string]file
	sessions  sessions
	guesses   guesses
	seal      [32]byte // proves that a cookie which tells of an act is ours
	streams   shares
	exports   shares
	running   context.Context // ends when the service begins to stop
	stop      context.CancelFunc
	reports   reports
}

// New makes the console. It panics on a public URL that the config package would have refused.
func New(l Ledger, s Settings, log *slog.Logger) *Console {
	c := &Console{
		ledger:   l,
		settings: s,
		log:      log,
		troubles: ledger.NewTroubles(log),
		mux:      http.NewServeMux(),
		files:    readFiles(),
		sessions: sessions{all: map[[32]byte]session{}},
		guesses:  guesses{all: map[string]*limiter{}},
		streams:  newShares(maxStreams, keyStreams, loginStreams),
		exports:  newShares(maxExports, keyExports, keyExports),
		reports:  reports{seldom: rate.Sometimes{First: 3, Interval: time.Minute}},
	}
	_, _ = rand.Read(c.seal[:]) // never fails
	c.running, c.stop = context.WithCancel(context.Background())
	c.templates = c.readTemplates()
	for _, r := range withWaysBack(c.routes()) {
		c.mux.Handle(r.method+" "+Path+r.path, c.serve(r))
	}
	c.handler = secure(c.protect(c.mux))
	return c
}

// ServeHTTP answers everything below Path.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Stop ends the streams, which would hold up a stop of the service until they are cut.
func (c *Console) Stop() { c.stop() }
