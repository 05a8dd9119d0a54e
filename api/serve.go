package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// Limits bound what callers can take up. A zero field takes the default.
type Limits struct {
	Connections int           // 1,024 open at a time; further ones wait in the kernel's queue
	Header      time.Duration // 5 s from connecting, or from the first byte after a pause, to the end of the headers
	Read        time.Duration // 15 s from there to the end of the body
	Write       time.Duration // 60 s from the end of the headers to the end of the answer
	Idle        time.Duration // 60 s between two requests
	Drain       time.Duration // 30 s for what runs when the service stops
	Wait        time.Duration // 30 s at most for Prefer: wait
	HeaderBytes int           // 64 KiB of request line and headers
	Body        int64         // 256 KiB
	Batch       int64         // 4 MiB, the body of a batch
	Receipts    int64         // 8 MiB, what a provider posts
	Bodies      int64         // 4 MiB of larger bodies that are in work at once; a batch counts for 256 KiB at least
	Queue       time.Duration // 5 s that a request waits for room among them
}

// withDefaults fills the fields that are zero.
func (l Limits) withDefaults() Limits {
	return Limits{
		Connections: or(l.Connections, 1024),
		Header:      or(l.Header, 5*time.Second),
		Read:        or(l.Read, 15*time.Second),
		Write:       or(l.Write, 60*time.Second),
		Idle:        or(l.Idle, 60*time.Second),
		Drain:       or(l.Drain, 30*time.Second),
		Wait:        or(l.Wait, 30*time.Second),
		HeaderBytes: or(l.HeaderBytes, 64<<10),
		Body:        or(l.Body, 256<<10),
		Batch:       or(l.Batch, 4<<20),
		Receipts:    or(l.Receipts, 8<<20),
		Bodies:      or(l.Bodies, 4<<20),
		Queue:       or(l.Queue, 5*time.Second),
	}
}

// or returns value, or fallback where value is zero.
func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// stopping is the context key of the context that ends when the service begins to stop.
type stopping struct{}

// Serve answers requests from ln until ctx is done, then accepts no more, lets what runs end within the
// drain, and returns nil. It closes ln. Without keys it refuses to serve anything but loopback, or under a
// public URL.
func (a *API) Serve(ctx context.Context, ln net.Listener) error {
	if err := a.mayServe(ln); err != nil {
		return errors.Join(err, ln.Close())
	}
	// Requests outlive ctx, so they must not inherit its end; they only learn of it.
	base := context.WithValue(context.WithoutCancel(ctx), stopping{}, ctx)
	srv := &http.Server{
		Handler:                      a.Handler(),
		ReadHeaderTimeout:            a.limits.Header,
		ReadTimeout:                  a.limits.Read,
		WriteTimeout:                 a.limits.Write,
		IdleTimeout:                  a.limits.Idle,
		MaxHeaderBytes:               a.limits.HeaderBytes,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
		BaseContext:                  func(net.Listener) context.Context { return base },
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(netutil.LimitListener(ln, a.limits.Connections)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("accept: %w", errors.Join(err, srv.Close()))
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.limits.Drain)
	defer cancel()
	if err := srv.Shutdown(drain); err != nil {
		// What is cut here has its claims on disk or not at all, as its caller must assume anyway.
		a.log.Warn("requests cut at the end of the drain", "error", err)
		return srv.Close()
	}
	return nil
}

// mayServe repeats two rules of the configuration where breaking them would open the ledger to a network.
func (a *API) mayServe(ln net.Listener) error {
	if len(a.keys) > 0 {
		return nil
	}
	if a.settings.PublicURL != "" {
		return errors.New("a public URL needs keys")
	}
	if addr, ok := ln.Addr().(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		return errors.New("without keys only loopback is served")
	}
	return nil
}
