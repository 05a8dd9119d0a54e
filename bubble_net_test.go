package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// line is a listener whose connections are pipes in memory: while all that wait for one another wait, a bubble's time passes.
type line struct {
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newLine() *line { return &line{calls: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements net.Listener.
func (l *line) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *line) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *line) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8484} }

func refused(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// life is one process: its connections, which all end when it dies.
type life struct {
	door *line        // where it answers
	http *http.Client // for requests to it

	mu    sync.Mutex
	dead  bool
	conns map[net.Conn]bool
}

func newLife() *life {
	f := &life{door: newLine(), conns: map[net.Conn]bool{}}
	f.http = &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64,
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return f.dial(ctx, f.door) },
	}}
	return f
}

// dial makes a connection from or to the process.
func (f *life) dial(ctx context.Context, to *line) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case to.calls <- server:
	case <-to.closed:
		return nil, refused(syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, refused(ctx.Err())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return nil, refused(errors.Join(client.Close(), syscall.ECONNRESET))
	}
	f.conns[client] = true
	return &counted{client, f}, nil
}

// counted is a connection that its process forgets when it is closed.
type counted struct {
	net.Conn
	life *life
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.life.mu.Lock()
	delete(c.life.conns, c.Conn)
	c.life.mu.Unlock()
	return c.Conn.Close()
}

func (f *life) alive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.dead
}

// cut ends all connections; no new one is made.
func (f *life) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
	for c := range f.conns {
		_ = c.Close()
	}
	f.conns = nil
}

// roadToUs is the way of receipts: it takes a while, ends where nobody is there, and loses the answer of a process that dies.
type roadToUs struct{ w *bubbleWorld }

// RoundTrip implements http.RoundTripper.
func (r roadToUs) RoundTrip(request *http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Millisecond))))
	w := r.w
	w.mu.Lock()
	process := w.life
	w.mu.Unlock()
	if process == nil {
		return nil, refused(syscall.ECONNREFUSED)
	}
	there := request.Clone(request.Context())
	there.URL.Scheme = "http" // whoever ends TLS before us passes the rest on as it is
	answer, err := process.http.Transport.RoundTrip(there)
	time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Millisecond))))
	if err == nil && !process.alive() {
		_ = answer.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return answer, err
}
