package console

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
	"sendonce/providers"
	"sendonce/store"
)

// The ledger itself fits the console.
var _ Ledger = (*ledger.Ledger)(nil)

// identities are who the keys of the tests belong to; a key is "key-" and the name.
var identities = map[string]Identity{
	"reader":   {Name: "reader", Read: true},
	"sender":   {Name: "sender", Send: true},
	"operator": {Name: "operator", Operate: true},
	"shop":     {Name: "shop", Send: true, Operate: true, Source: new("shop")},
}

func loginOf(key string) (Identity, bool) {
	name, ok := strings.CutPrefix(key, "key-")
	who, known := identities[name]
	return who, ok && known
}

// rig is a console over a real ledger in a real file. Its provider "taken" says yes, "lost" never says anything.
type rig struct {
	t       testing.TB
	console *Console
	ledger  *ledger.Ledger
	log     *logBook

	visitors int
}

// logBook keeps what was logged.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBook) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newRig starts a ledger and its loop, with keys.
func newRig(t testing.TB, set ...func(*Settings)) *rig {
	t.Helper()
	return newRigWith(t, func(*ledger.ProviderSettings) {}, set...)
}

// newRigWith is newRig with other settings of its providers.
func newRigWith(t testing.TB, outlet func(*ledger.ProviderSettings), set ...func(*Settings)) *rig {
	t.Helper()
	r := &rig{t: t, log: &logBook{}}
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(r.log, nil))
	o := store.Options{Path: filepath.Join(t.TempDir(), "sendonce.db"), Schema: string(schema), Log: log}
	if err := store.Create(o); err != nil {
		t.Fatal(err)
	}
	disk, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	outlets := []ledger.ProviderSettings{outletOf(t, "taken", false), outletOf(t, "lost", true)}
	for i := range outlets {
		outlet(&outlets[i])
	}
	r.ledger = ledger.New(disk, outlets, rulesOf(), log)
	if _, err := r.ledger.Recover(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- r.ledger.Run(ctx) }()
	s := Settings{Login: loginOf}
	for _, f := range set {
		f(&s)
	}
	r.console = New(r.ledger, s, log)
	t.Cleanup(func() {
		r.console.Stop()
		cancel()
		if err := <-stopped; err != nil {
			t.Errorf("loop: %v", err)
		}
		if err := disk.Shutdown(); err != nil {
			t.Errorf("store: %v", err)
		}
	})
	return r
}

// open is a console without keys.
func open(s *Settings) { s.Login = nil }

func outletOf(t testing.TB, name string, drop bool) ledger.ProviderSettings {
	t.Helper()
	s := providers.LogSettings{DropAnswer: drop, Share: 1, Out: io.Discard}
	p, err := s.New(name, providers.Common{})
	if err != nil {
		t.Fatal(err)
	}
	return ledger.ProviderSettings{Name: name, Type: "log", Channels: ledger.Channels, Provider: p, Workers: 4}
}

func rulesOf() ledger.Settings {
	s := ledger.Settings{
		Channels: map[ledger.Channel]ledger.ChannelSettings{}, Recipes: []ledger.Recipe{ledger.RecipeEvent()},
		OnMessageChange: ledger.MessageChangeRefuse, Drain: 10 * time.Second,
	}
	for _, ch := range ledger.Channels {
		s.Channels[ch] = ledger.ChannelSettings{
			Providers: []string{"taken", "lost"}, Timeout: 5 * time.Second, ExpiresAfter: 72 * time.Hour, OnAmbiguous: ledger.OnAmbiguousAsk,
			Retry: []time.Duration{30 * time.Second}, Region: "US",
		}
	}
	return s
}

// claim claims an event and waits until its first attempt has ended.
func (r *rig) claim(e ledger.Event) ledger.Notification {
	r.t.Helper()
	if e.EventID == "" {
		e.EventID = "evt_1"
	}
	if e.Channel == "" {
		e.Channel, e.Recipient = ledger.SMS, "+14155550142"
	}
	if e.Message == nil {
		e.Message = []byte(`{"text":"Your order has left."}`)
		if e.Channel == ledger.Email {
			e.Message = []byte(`{"subject":"Your order","text":"has left"}`)
		}
	}
	e.Wait = e.SendAt.IsZero()
	res, err := r.ledger.Claim(context.Background(), e)
	if err != nil {
		r.t.Fatal(err)
	}
	if !e.Wait {
		return res.Notification
	}
	return r.ledger.Wait(context.Background(), res.Notification, 30*time.Second, nil)
}

// row is a notification as it is now.
func (r *rig) row(n ledger.Notification) ledger.Record {
	r.t.Helper()
	rec, err := r.ledger.Get(context.Background(), n.ID, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return rec
}
