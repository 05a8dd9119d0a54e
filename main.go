// Command sendonce is a notification dedupe ledger: it claims each event durably under a derived key, hands it to a
// provider at most once without knowing that it was not sent, and keeps what became of it.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"sendonce/cli"
	"sendonce/config"
	"sendonce/ledger"
	"sendonce/providers"
	"sendonce/store"
)

//go:embed schema.sql
var schema string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], os.Environ(), cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, cli.Service{
		Serve:         serve,
		Init:          initLedger,
		Check:         check,
		Backup:        backup,
		RestoreAccept: restoreAccept,
		Reconcile:     reconcile,
		Codes:         codes(),
		Version:       version(),
	}))
}

// initLedger makes a new, empty ledger.
func initLedger(_ context.Context, c config.Config) error {
	return asExit(c.Database, store.Create(storeOptions(c, newLog(c.Log))))
}

// check re-derives every row and reports what differs; it reads only, beside a running service if there is one.
func check(ctx context.Context, c config.Config, done cli.Done) (cli.Differences, error) {
	s, err := store.OpenReadOnly(storeOptions(c, newLog(c.Log)))
	if err != nil {
		return cli.Differences{}, asExit(c.Database, err)
	}
	d := cli.Differences{Found: []cli.Difference{}}
	st, err := s.Stats(ctx)
	if err != nil {
		return d, errors.Join(err, s.Shutdown())
	}
	d.Rows, err = ledger.Check(ctx, counting{Store: s, all: st.Notifications, done: done}, func(f ledger.Difference) {
		d.Found = append(d.Found, cli.Difference{ID: f.ID, Rule: f.Rule, Detail: f.Detail})
	})
	return d, errors.Join(err, s.Shutdown())
}

// counting tells how many rows of a store were read for a check.
type counting struct {
	ledger.Store
	all  int64
	done cli.Done
}

// Audit implements ledger.Store.
func (c counting) Audit(ctx context.Context, visit func(ledger.Record) error) error {
	n := int64(0)
	return c.Store.Audit(ctx, func(r ledger.Record) error {
		if r.Seq != 0 {
			n++
			c.done(n, max(c.all, n)) // rows may come while it reads
		}
		return visit(r)
	})
}

// backup copies the ledger, beside a running service if there is one. How far it is shows in the size of the copy, which is more compact
// than the ledger.
func backup(ctx context.Context, c config.Config, to string, done cli.Done) error {
	look, stop := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-look.Done():
				return
			case <-tick.C:
			}
			whole, err := os.Stat(c.Database)
			copied, also := os.Stat(store.Draft(to))
			if err == nil && also == nil {
				done(min(copied.Size(), whole.Size()), whole.Size())
			}
		}
	})
	err := store.Backup(ctx, storeOptions(c, newLog(c.Log)), to)
	stop()
	looking.Wait()
	if errors.Is(err, store.ErrExists) {
		return asExit(to, err)
	}
	return asExit(c.Database, err)
}

// restoreAccept makes an old or moved copy the ledger again: a person has settled what it cannot know.
func restoreAccept(_ context.Context, c config.Config) error {
	return asExit(c.Database, store.AcceptRestored(storeOptions(c, newLog(c.Log))))
}

// codes are the code tables of all types of providers, by the name of the type.
func codes() []cli.Codes {
	var out []cli.Codes
	for _, kind := range slices.Sorted(maps.Keys(providers.Types)) {
		table, ok := providers.CodesOf(kind)
		if !ok {
			continue
		}
		c := cli.Codes{Type: kind, Source: table.Source}
		for _, row := range table.Codes {
			c.Codes = append(c.Codes, cli.Code{
				Code: row.Code, Outcome: row.Outcome.String(), Fault: string(row.Fault), Reason: string(row.Reason),
				Sender: row.Sender, Does: row.Does(), Means: row.Means,
			})
		}
		out = append(out, c)
	}
	return out
}

// asExit gives errors about a file its name, which a person may have given wrong, and their exit code.
func asExit(path string, err error) error {
	for _, e := range []error{store.ErrMissing, store.ErrNoLedger, store.ErrExists, store.ErrLocked, store.ErrOlder, store.ErrNewer, store.ErrDamaged, store.ErrForeign, store.ErrLinked, store.ErrPlatform} {
		if errors.Is(err, e) {
			return &cli.ExitError{Code: cli.ExitLedger, Err: fmt.Errorf("%s: %w", path, err)}
		}
	}
	return err
}

// version is the module's version, or the commit that was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v = fmt.Sprintf("%s (%s)", v, s.Value)
		}
	}
	return v
}
