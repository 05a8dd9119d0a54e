package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// Headers that never end and bodies that never come are cut, and the claim of such a body is none.
func TestServe_SlowCallersAreCut(t *testing.T) {
	s := newStub()
	short := 100 * time.Millisecond
	slow, _ := listen(t, New(s, Settings{Limits: Limits{Header: short, Read: 2 * short}}, quiet()))
	idle, _ := listen(t, New(s, Settings{Limits: Limits{Idle: short}}, quiet()))
	const head = "POST /v1/notifications HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	for _, c := range []struct{ what, base, start, answer string }{
		{"nothing", slow, "", ""}, {"half a header", slow, head, ""}, {"a pause", idle, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK"},
		// Any status would say something about the claim; a 4xx would make a queue throw the message away.
		{"half a body", slow, head + "Content-Length: 100\r\n\r\n{\"event_id\":", ""}, {"half a chunk", slow, head + "Transfer-Encoding: chunked\r\n\r\n20\r\n{\"event_id\":", ""},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, c.start)
		got, err := io.ReadAll(conn)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the connection stays open: %v", c.what, err)
		}
		if line, _, _ := strings.Cut(string(got), "\r\n"); line != c.answer {
			t.Errorf("%s: answered %q", c.what, line)
		}
		conn.Close()
	}
	if s.seen() != 0 {
		t.Errorf("%d claims of bodies that never came", s.seen())
	}
}

// Connections beyond the limit wait their turn; headers beyond theirs are refused.
func TestServe_ConnectionsAndHeaders(t *testing.T) {
	base, _ := listen(t, New(newStub(), Settings{Limits: Limits{Connections: 2, HeaderBytes: 4 << 10}}, quiet()))
	addr := strings.TrimPrefix(base, "http://")
	const ask = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, ask+"\r\n")
		return conn
	}
	status := func(conn net.Conn) int {
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode
	}
	one, two := dial(), dial()
	defer two.Close()
	if status(one) != 200 || status(two) != 200 {
		t.Fatal("the first two are not answered")
	}
	three := dial()
	defer three.Close()
	_ = three.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := three.Read(make([]byte, 1)); !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err) {
		t.Errorf("a third connection was served beside two: %v", err)
	}
	one.Close()
	_ = three.SetReadDeadline(time.Now().Add(5 * time.Second))
	if status(three) != 200 {
		t.Error("the third is not answered after the first left")
	}
	three.Close()
	four, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer four.Close()
	go fmt.Fprint(four, ask+"X: "+strings.Repeat("x", 64<<10)+"\r\n\r\n")
	if got := status(four); got != 431 {
		t.Errorf("64 KiB of headers: %d", got)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// At the stop no new connection is taken, what runs ends and is answered, reads included, and waits end early.
func TestServe_StopFinishesWhatRuns(t *testing.T) {
	s := newStub()
	claiming, listing, waiting, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.claim = func(context.Context) { close(claiming); <-goOn }
	s.wait = func(ctx context.Context, n ledger.Notification, longest time.Duration, stop <-chan struct{}) ledger.Notification {
		close(waiting)
		select {
		case <-stop:
		case <-ctx.Done():
			t.Error("the stop cut a request off")
		case <-time.After(longest):
			t.Error("the wait went on until its own end")
		}
		return n
	}
	s.list = func(ctx context.Context) {
		close(listing)
		<-goOn
		if ctx.Err() != nil {
			t.Error("a read was broken off by the stop")
		}
	}
	base, stop := listen(t, New(s, Settings{Limits: Limits{Wait: 5 * time.Second}}, quiet()))
	answered, listed := make(chan answer, 1), make(chan answer, 1)
	go func() { listed <- do(t, "GET", base+"/v1/notifications", "") }()
	go func() {
		answered <- do(t, "POST", base+"/v1/notifications", bodies["POST /v1/notifications"], "Prefer: wait=30")
	}()
	<-claiming
	<-listing
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			break // the listener is closed
		}
		conn.Close()
	}
	close(goOn)
	<-waiting
	if got := <-answered; got.status != 202 {
		t.Errorf("the running claim: %d", got.status)
	}
	if got := <-listed; got.status != 200 {
		t.Errorf("the running list: %d", got.status)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// What is still running at the end of the drain is cut, and Serve returns.
func TestServe_DrainEnds(t *testing.T) {
	s := newStub()
	claiming, never := make(chan struct{}), make(chan struct{})
	defer close(never)
	s.claim = func(context.Context) { close(claiming); <-never }
	base, stop := listen(t, New(s, Settings{Limits: Limits{Drain: 50 * time.Millisecond}}, quiet()))
	go func() {
		res, err := http.Post(base+"/v1/notifications", "application/json", strings.NewReader(bodies["POST /v1/notifications"]))
		if err == nil {
			res.Body.Close()
		}
	}()
	<-claiming
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// brokenListener has run out of descriptors.
type brokenListener struct {
	net.Listener
	accepts atomic.Int64
}

func (l *brokenListener) Accept() (net.Conn, error) {
	l.accepts.Add(1)
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

// A listener that fails for a minute is tried again at intervals, and fills neither a core nor the log. (F39)
func TestServe_AcceptErrorsBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		real, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ln := &brokenListener{Listener: real}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := New(newStub(), Settings{}, slog.New(slog.NewTextHandler(&log, nil))).Serve(ctx, ln); err != nil {
			t.Fatal(err)
		}
		if n, lines := ln.accepts.Load(), strings.Count(log.String(), "\n"); n < 10 || n > 100 || lines > 100 {
			t.Errorf("%d accepts, %d log lines in a minute", n, lines)
		}
	})
}

// Without keys nothing but loopback is served, and no public URL.
func TestServe_RefusesAnOpenDoor(t *testing.T) {
	for _, c := range []struct {
		listen string
		set    Settings
	}{{"0.0.0.0:0", Settings{}}, {"127.0.0.1:0", Settings{PublicURL: "https://notify.example.test"}}} {
		ln, err := net.Listen("tcp", c.listen)
		if err != nil {
			t.Fatal(err)
		}
		if err := New(newStub(), c.set, quiet()).Serve(t.Context(), ln); err == nil {
			t.Errorf("%s with %+v is served", c.listen, c.set)
		}
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s stays open", c.listen)
		}
	}
}
