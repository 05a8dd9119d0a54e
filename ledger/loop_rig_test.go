package ledger_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

// rig is a ledger at work: the real loop over a real file, with scripted providers and a clock that stands still
// unless everybody waits.
type rig struct {
	t         *testing.T
	scripts   map[string]*script
	list      []*script
	settings  ledger.Settings
	path      string
	random    func() float64                  // nil: the ledger's own
	wrap      func(*store.Store) ledger.Store // nil: the store as it is
	unchecked bool                            // rows were planted that a check calls by their name
	log       *slog.Logger                    // nil: quiet

	disk    *store.Store
	ledger  *ledger.Ledger
	cancel  context.CancelFunc
	stopped chan error
}

// bubble runs a body with a ledger whose loop runs. set changes the rules before the start; nil leaves them.
func bubble(t *testing.T, set func(*rig), body func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, path: filepath.Join(t.TempDir(), "sendonce.db"), settings: ledger.Settings{
			Channels: map[ledger.Channel]ledger.ChannelSettings{
				ledger.SMS: {
					Providers: []string{"a"}, Timeout: 15 * time.Second, ExpiresAfter: 72 * time.Hour, OnAmbiguous: ledger.OnAmbiguousAsk,
					Retry: []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour},
				},
			},
			Recipes: []ledger.Recipe{ledger.RecipeEvent()}, OnMessageChange: ledger.MessageChangeRefuse, Drain: 30 * time.Second,
		}}
		r.use(newScript("a"))
		if set != nil {
			set(r)
		}
		schema, err := os.ReadFile("../schema.sql")
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Create(store.Options{Path: r.path, Schema: string(schema), Log: quiet}); err != nil {
			t.Fatal(err)
		}
		r.start()
		defer r.stop()
		body(t, r)
	})
}

var quiet = slog.New(slog.DiscardHandler)

// use adds providers.
func (r *rig) use(scripts ...*script) {
	if r.scripts == nil {
		r.scripts = map[string]*script{}
	}
	for _, s := range scripts {
		r.scripts[s.name] = s
		r.list = append(r.list, s)
	}
}

// sms changes the rules of the channel.
func (r *rig) sms(change func(*ledger.ChannelSettings)) {
	c := r.settings.Channels[ledger.SMS]
	change(&c)
	r.settings.Channels[ledger.SMS] = c
}

// open opens the file and recovers, without a loop.
func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.disk, err = store.Open(store.Options{Path: r.path, Log: quiet}); err != nil {
		r.t.Fatal(err)
	}
	var s ledger.Store = r.disk
	if r.wrap != nil {
		s = r.wrap(r.disk)
	}
	var providers []ledger.ProviderSettings
	for _, p := range r.list {
		providers = append(providers, p.settings())
	}
	if r.log == nil {
		r.log = quiet
	}
	r.ledger = ledger.New(s, providers, r.settings, r.log)
	if r.random != nil {
		r.ledger.SetRandom(r.random)
	}
	if _, err := r.ledger.Recover(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

// start opens the ledger and lets its loop run.
func (r *rig) start() {
	r.t.Helper()
	r.open()
	r.run()
}

func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.stopped = cancel, make(chan error, 1)
	go func() { r.stopped <- r.ledger.Run(ctx) }()
	synctest.Wait()
}

// stop ends the loop, re-derives every row from its history, and closes the file. A second call does nothing.
func (r *rig) stop() {
	r.t.Helper()
	if r.cancel != nil {
		r.cancel()
		if err := <-r.stopped; err != nil {
			r.t.Errorf("Run: %v", err)
		}
		r.cancel = nil
	}
	if r.disk != nil {
		r.check()
		if err := r.disk.Shutdown(); err != nil {
			r.t.Errorf("Shutdown: %v", err)
		}
		r.disk = nil
	}
}

// check re-derives every row from its history.
func (r *rig) check() {
	r.t.Helper()
	if r.unchecked {
		return
	}
	if _, err := ledger.Check(context.Background(), r.disk, func(d ledger.Difference) {
		r.t.Errorf("check: %+v", d)
	}); err != nil {
		r.t.Errorf("check: %v", err)
	}
}

// advance lets time go by.
func (r *rig) advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func event(id string, change ...func(*ledger.Event)) ledger.Event {
	e := ledger.Event{EventID: id, Channel: ledger.SMS, Recipient: "+15550100001", Message: []byte(`{"text":"` + id + `"}`), Caller: "test"}
	for _, c := range change {
		c(&e)
	}
	return e
}

// claim claims an event and waits until everything that follows at once has happened.
func (r *rig) claim(id string, change ...func(*ledger.Event)) ledger.Notification {
	r.t.Helper()
	res, err := r.ledger.Claim(context.Background(), event(id, change...))
	if err != nil {
		r.t.Fatalf("claim %s: %v", id, err)
	}
	synctest.Wait()
	return res.Notification
}

// row reads a row anew.
func (r *rig) row(n ledger.Notification) ledger.Record {
	r.t.Helper()
	rec, err := r.ledger.Get(context.Background(), n.ID, nil)
	if err != nil {
		r.t.Fatalf("get: %v", err)
	}
	return rec
}

// expect demands a state and a reason.
func (r *rig) expect(n ledger.Notification, s ledger.State, reason ledger.Reason) ledger.Record {
	r.t.Helper()
	rec := r.row(n)
	if rec.State != s || rec.Reason != reason {
		r.t.Fatalf("%s is %s (%s), want %s (%s)", n.EventID, rec.State, rec.Reason, s, reason)
	}
	return rec
}

// act settles a row as a person.
func (r *rig) act(n ledger.Notification, a ledger.Act) (ledger.Notification, error) {
	a.ID, a.Actor = n.ID, "ops"
	if a.Reason == "" {
		a.Reason = "test"
	}
	out, err := r.ledger.Settle(context.Background(), a)
	synctest.Wait()
	return out, err
}

func (r *rig) gate(name string) ledger.GateStatus {
	for _, p := range r.ledger.Providers() {
		if p.Name == name {
			return p.Gate
		}
	}
	r.t.Fatalf("no provider %s", name)
	return ledger.GateStatus{}
}

// copyLedger copies a ledger's files as they are, open or not: what a crash would leave.
func copyLedger(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		b, err := os.ReadFile(from + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
