package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"sendonce/api"
	"sendonce/config"
	"sendonce/console"
	"sendonce/ledger"
	"sendonce/providers"
	"sendonce/store"
)

// service is everything that serve starts, in the order in which it is stopped from the end.
type service struct {
	log     *slog.Logger
	store   *store.Store
	ledger  *ledger.Ledger
	console *console.Console
	api     *api.API
	ln      net.Listener
}

// serve runs the service until ctx is done and everything in flight has ended.
func serve(ctx context.Context, c config.Config) error {
	spareThreads()
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	log.SetOutput(io.Discard) // net/http prints bytes of unasked answers there, and they may hold content
	s, err := start(ctx, c, newLog(c.Log))
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// start prepares the service and listens; nothing is sent yet.
func start(ctx context.Context, c config.Config, log *slog.Logger) (*service, error) {
	s, err := prepare(ctx, c, log)
	if err != nil {
		return nil, err
	}
	if s.ln, err = new(net.ListenConfig).Listen(ctx, "tcp", c.Listen); err == nil {
		return s, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: stop what has the port, or give another with --listen or SENDONCE_LISTEN", err)
	}
	return nil, errors.Join(err, s.close())
}

// prepare opens the ledger and closes what a dead process left open.
func prepare(ctx context.Context, c config.Config, log *slog.Logger) (_ *service, err error) {
	s := &service{log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.store, err = openStore(c, log); err != nil {
		return nil, err
	}
	adapters, err := outlets(c)
	if err != nil {
		return nil, err
	}
	rules := c.Ledger()
	if rules.Operator, err = c.Operator.New(c.PublicURL); err != nil {
		return nil, err
	}
	s.ledger = ledger.New(s.store, adapters, rules, log)
	moved, err := s.ledger.Recover(ctx)
	if err != nil {
		return nil, fmt.Errorf("closing what the last process left open: %w", err)
	}
	if moved > 0 {
		log.Warn("rows were open when the last process ended; they are ambiguous now and nothing is sent blindly", "rows", moved)
	}
	if s.store.Condition().Restored {
		log.Error("this ledger is an old or moved copy: nothing is sent until `sendonce restore --accept`")
	}
	if !c.Real() {
		log.Warn("no real provider is configured: messages are printed on stdout and nothing really leaves")
	}
	settings := apiSettings(c)
	s.console = console.New(s.ledger, consoleSettings(settings), log)
	settings.Console = s.console
	s.api = api.New(s.ledger, settings, log)
	return s, nil
}

// run sends and answers until ctx is done, then stops both and waits for what is in flight.
func (s *service) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.log.Info("listening", "address", s.ln.Addr().String())
	var loop, door error
	var all sync.WaitGroup
	all.Go(func() { giveBack(ctx) })
	context.AfterFunc(ctx, s.console.Stop)
	all.Go(func() {
		defer cancel() // neither goes on without the other
		loop = s.ledger.Run(ctx)
	})
	all.Go(func() {
		defer cancel()
		door = s.api.Serve(ctx, s.ln)
	})
	all.Wait()
	s.ln = nil // Serve closed it
	err := errors.Join(loop, door, s.close())
	s.log.Info("stopped")
	return err
}

// close gives back what start took.
func (s *service) close() error {
	var err error
	if s.ln != nil {
		err = s.ln.Close()
	}
	if s.ledger != nil { // the last requests were answered after the loop had ended
		err = errors.Join(err, s.ledger.Flush())
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Shutdown())
	}
	return err
}

// openStore opens the ledger of a configuration. Only where nothing really leaves is a missing one made: an empty new ledger
// in front of real providers would send everything again.
func openStore(c config.Config, log *slog.Logger) (*store.Store, error) {
	o := storeOptions(c, log)
	s, err := store.Open(o)
	if !errors.Is(err, store.ErrNoLedger) || c.Real() {
		return s, asExit(c.Database, err)
	}
	if err := store.Create(o); err != nil {
		return nil, asExit(c.Database, err)
	}
	log.Info("a new ledger was made", "database", c.Database)
	s, err = store.Open(o)
	return s, asExit(c.Database, err)
}

func storeOptions(c config.Config, log *slog.Logger) store.Options {
	return store.Options{Path: c.Database, Schema: schema, Reserve: int64(c.Storage.Reserve), Log: log}
}

// outlets makes the configured providers.
func outlets(c config.Config) ([]ledger.ProviderSettings, error) {
	var out []ledger.ProviderSettings
	for _, name := range c.ProviderNames() {
		p := c.Providers[name]
		if c.PublicURL != "" {
			p.CallbackURL = c.PublicURL + "/v1/receipts/" + name
		}
		adapter, err := p.Settings.New(name, p.Common)
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", name, err)
		}
		out = append(out, ledger.ProviderSettings{
			Name: name, Type: p.Type, Channels: providers.Types[p.Type].Channels, Provider: adapter,
			Timeout: p.Timeout, Rate: float64(p.Rate), Workers: p.Workers, Price: p.Price, Offers: providers.Types[p.Type].Has(),
		})
	}
	return out, nil
}

// apiSettings turns the configuration's keys into the API's.
func apiSettings(c config.Config) api.Settings {
	s := api.Settings{AcceptIdempotencyKey: c.Keys.Header == config.HeaderAccept, PublicURL: c.PublicURL, Version: version()}
	for _, k := range c.Auth.Keys {
		key := api.AccessKey{Name: k.Name}
		for _, r := range k.Roles {
			key.Roles = append(key.Roles, api.Role(r))
		}
		if _, err := hex.Decode(key.SHA256[:], []byte(k.SHA256)); err != nil {
			panic("main: the configuration let a wrong hash pass: " + err.Error())
		}
		if k.Source != "" {
			key.Source = &k.Source
		}
		s.Keys = append(s.Keys, key)
	}
	s.Limits.Drain = c.Shutdown.Drain
	return s
}

// consoleSettings gives the console the API's keys.
func consoleSettings(a api.Settings) console.Settings {
	s := console.Settings{PublicURL: a.PublicURL, Version: a.Version, Codes: map[string]console.Codes{}}
	for _, table := range codes() {
		var list []console.Code
		for _, c := range table.Codes {
			list = append(list, console.Code{Code: c.Code, Outcome: c.Outcome, Does: c.Does, Means: c.Means})
		}
		s.Codes[table.Type] = console.Codes{Source: table.Source, Codes: list}
	}
	if len(a.Keys) == 0 {
		return s
	}
	s.Login = func(key string) (console.Identity, bool) {
		i := api.Find(a.Keys, key)
		if i < 0 {
			return console.Identity{}, false
		}
		k := a.Keys[i]
		has := func(r api.Role) bool { return slices.Contains(k.Roles, r) }
		return console.Identity{
			Name: k.Name, Source: k.Source, Read: has(api.RoleRead), Send: has(api.RoleSend), Operate: has(api.RoleOperate),
		}, true
	}
	return s
}

// newLog makes the log on stderr.
func newLog(c config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		panic("main: the configuration let a wrong log level pass: " + err.Error())
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}
