package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sendonce/cli"
	"sendonce/config"
	"sendonce/ledger"
	"sendonce/providers"
	"sendonce/store"
)

// reconcile compares the ledger with what a provider says it sent. It reads only, beside a running service if there is one.
func reconcile(ctx context.Context, c config.Config, q cli.Reconcile) (cli.Reconciled, error) {
	out := cli.Reconciled{Provider: q.Provider, Since: clockText(q.Since), Until: clockText(q.Until), Found: []cli.Mismatch{}}
	lister, err := listerOf(c, q.Provider)
	if err != nil {
		return out, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	s, err := store.OpenReadOnly(storeOptions(c, newLog(c.Log)))
	if err != nil {
		return out, asExit(c.Database, err)
	}
	count, err := ledger.Reconcile(ctx, s, ledger.Reconciliation{
		Provider: q.Provider, Lister: lister, Channels: providers.Types[c.Providers[q.Provider].Type].Channels, From: q.Since, Until: q.Until, Now: time.Now, Wait: waitFor,
		Progress: func(listed int64, _ time.Time) { q.Progress(listed, 0) },
		Found: func(m ledger.Mismatch) {
			one := cli.Mismatch{Kind: m.Kind, MessageIDs: m.MessageIDs, Recipient: m.Recipient, At: clockText(m.At), Detail: m.Detail}
			if one.MessageIDs == nil {
				one.MessageIDs = []string{}
			}
			if m.ID != uuid.Nil {
				id := m.ID.String()
				one.ID = &id
			}
			out.Found = append(out.Found, one)
		},
	})
	out.Listed, out.Attempts, out.NotYet, out.Unasked = count.Listed, count.Attempts, count.NotYet, count.Unasked
	out.Erased, out.OfErased = count.Erased, count.OfErased
	var there *ledger.LookUpError
	if errors.As(err, &there) {
		code := cli.ExitUnreachable
		if there.Fault == ledger.FaultCredentials {
			code = cli.ExitUsage
		}
		err = &cli.ExitError{Code: code, Err: fmt.Errorf("the list of %s: %w", q.Provider, err)}
	}
	return out, errors.Join(err, s.Shutdown())
}

// listerOf makes the adapter of a provider that lists what it took.
func listerOf(c config.Config, name string) (ledger.Lister, error) {
	p, ok := c.Providers[name]
	if !ok {
		return nil, fmt.Errorf("the configuration has no provider %s", name)
	}
	adapter, err := p.Settings.New(name, p.Common)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", name, err)
	}
	l, ok := adapter.(ledger.Lister)
	if !ok {
		return nil, fmt.Errorf("providers of type %s do not list what they sent; these do: %s", p.Type, providers.Listing())
	}
	return l, nil
}

// waitFor waits, or returns early with ctx's error.
func waitFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
