package walk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
	"sendonce/store"
)

// world is a real ledger on a real file, its providers, and the model beside it.
type world struct {
	t      *testing.T
	random *rand.Rand
	dir    string
	places int // folders used so far
	path   string
	model  *Model
	store  *store.Store
	ledger *ledger.Ledger
	eye    *eye
	cancel context.CancelFunc
	ended  chan error
	backup *backup

	events  map[string]claimed // by row
	witness witness
	acts    []string // what was done, the newest last
	touched []string // ids of rows that the present act is about
	checks  int
	again   int                      // how often something was asked of an erased row
	shared  struct{ id, row string } // a message id that another row may be given too

	mu     sync.Mutex
	life   int
	open   []*call
	happen []happening
}

// claimed is an event with the row that it has.
type claimed struct {
	event ledger.Event
	id    uuid.UUID
	place int // in order of claiming
}

// happening is something at a provider that the model has not been told yet.
type happening struct {
	call  *call
	reply *reply // nil: the request arrived
	at    time.Time
}

var rules = Rules{
	Providers: map[string][]string{"sms": {"first", "second"}, "email": {"keyed"}},
	Ladder:    []time.Duration{20 * time.Second, time.Minute},
	Policies: map[string]Policy{
		"again":  {Do: "send_again", After: 40 * time.Second},
		"assume": {Do: "assume_sent", After: time.Minute},
		"drop":   {Do: "abandon", After: time.Minute},
	},
	Window: map[string]time.Duration{"keyed": 20 * time.Minute},
	Keep:   20 * time.Minute,
}

const (
	lifetime = 15 * time.Minute // of a row that names no end
	timeout  = 15 * time.Second
	drain    = 20 * time.Second
)

func settings() ledger.Settings {
	s := ledger.Settings{
		Channels: map[ledger.Channel]ledger.ChannelSettings{}, Recipes: []ledger.Recipe{ledger.RecipeEvent()},
		OnMessageChange: ledger.MessageChangeRefuse, Drain: drain, Retention: ledger.Retention{After: rules.Keep},
	}
	for name, providers := range rules.Providers {
		s.Channels[ledger.Channel(name)] = ledger.ChannelSettings{
			Providers: providers, Timeout: timeout, Retry: rules.Ladder, OnAmbiguous: ledger.OnAmbiguousAsk, ExpiresAfter: lifetime,
		}
	}
	for event, p := range rules.Policies {
		s.Policies = append(s.Policies, ledger.PolicySettings{EventType: event, OnAmbiguous: ledger.OnAmbiguous(p.Do), After: p.After})
	}
	return s
}

var quiet = slog.New(slog.DiscardHandler)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, random: rand.New(rand.NewPCG(seed, seed)), dir: t.TempDir(), model: New(rules),
		events: map[string]claimed{}, witness: witness{},
	}
	w.path = w.place()
	schema, err := os.ReadFile("../schema.sql")
	if err == nil {
		err = store.Create(store.Options{Path: w.path, Schema: string(schema), Log: quiet})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// place is the path of a ledger in a new folder.
func (w *world) place() string {
	w.places++
	dir := filepath.Join(w.dir, fmt.Sprint(w.places))
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	return filepath.Join(dir, "sendonce.db")
}

// start opens the ledger and recovers; then, when the model has been told, run lets the loop go.
func (w *world) start() error {
	w.mu.Lock()
	w.life++
	life := w.life
	w.mu.Unlock()
	var err error
	if w.store, err = store.Open(store.Options{Path: w.path, Log: quiet}); err != nil {
		return err
	}
	var providers []ledger.ProviderSettings
	for channel, names := range rules.Providers {
		for _, name := range names {
			p := &post{name: name, window: rules.Window[name], world: w, life: life}
			o := ledger.ProviderSettings{Name: name, Type: "post", Channels: []ledger.Channel{ledger.Channel(channel)}, Provider: p, Workers: 256}
			if p.window > 0 {
				o.Provider = keyed{p}
			}
			providers = append(providers, o)
		}
	}
	w.ledger = ledger.New(w.store, providers, settings(), quiet)
	if _, err := w.ledger.Recover(context.Background()); err != nil {
		return err
	}
	w.eye, err = openEye(w.path)
	return err
}

// shut closes the file.
func (w *world) shut() error {
	err := errors.Join(w.eye.close(), w.store.Shutdown())
	w.eye = nil
	return err
}

func (w *world) run() {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.ended = cancel, make(chan error, 1)
	l, ended := w.ledger, w.ended
	go func() { ended <- l.Run(ctx) }()
	synctest.Wait()
}

// quit ends the loop, if it runs.
func (w *world) quit() error {
	if w.cancel == nil {
		return nil
	}
	w.cancel()
	w.cancel = nil
	return <-w.ended
}

// end closes whatever is open, after a last check.
func (w *world) end() error {
	err := w.quit()
	if w.store != nil {
		err = errors.Join(err, w.check(), w.shut())
	}
	return err
}

// check re-derives every row of the ledger from its history.
func (w *world) check() error {
	w.checks++
	var errs []error
	_, err := ledger.Check(context.Background(), w.store, func(d ledger.Difference) {
		errs = append(errs, fmt.Errorf("check: %s %s: %s", d.ID, d.Rule, d.Detail))
	})
	return errors.Join(append(errs, err)...)
}

func (w *world) arrived(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.life == w.life {
		w.open = append(w.open, c)
		w.happen = append(w.happen, happening{call: c, at: time.Now()})
	}
}

func (w *world) left(c *call, a reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.life != w.life {
		return
	}
	for i, x := range w.open {
		if x == c {
			w.open = append(w.open[:i], w.open[i+1:]...)
			break
		}
	}
	w.happen = append(w.happen, happening{call: c, reply: &a, at: time.Now()})
}

// advance lets time go by.
func (w *world) advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
