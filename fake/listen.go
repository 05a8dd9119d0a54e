package fake

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

type perConn struct{}

// Listen serves on a TCP address, "127.0.0.1:0" for a free port, and returns the URL. It may be called several times.
func (p *Provider) Listen(address string) (url string, err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("fake provider: %w", err)
	}
	p.Serve(listener)
	return "http://" + listener.Addr().String(), nil
}

// Serve serves on a listener until Close. AcceptDrop needs it: only here does the fake know which connections are reused.
func (p *Provider) Serve(listener net.Listener) {
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, perConn{}, new(atomic.Int64))
		},
	}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Context().Value(perConn{}).(*atomic.Int64).Add(1)
		p.ServeHTTP(w, r)
	})
	p.mu.Lock()
	p.closers = append(p.closers, server)
	p.mu.Unlock()
	go func() { _ = server.Serve(listener) }() // ends with Close
}

// reused reports whether the connection carried a request before this one.
func reused(r *http.Request) bool {
	n, ok := r.Context().Value(perConn{}).(*atomic.Int64)
	return !ok || n.Load() > 1
}

// Close ends all servers and hanging requests, and waits for receipts that are being posted. What was counted stays.
func (p *Provider) Close() error {
	defer p.posting.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return nil
	default:
		close(p.closed)
	}
	var first error
	for _, c := range p.closers {
		if err := c.Close(); err != nil && first == nil {
			first = fmt.Errorf("fake provider: %w", err)
		}
	}
	return first
}
