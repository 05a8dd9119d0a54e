package providers

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

var discard = log.New(io.Discard, "", 0)

func itoa(n int) string { return strconv.Itoa(n) }

// inBubble sends one message over a pipe with a deadline of 10 s and returns the result and how long it took.
// The deadline is the only clock: it is reached at once in a bubble.
func inBubble(t *testing.T, k kit, serve func(net.Conn)) (r ledger.Result, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var servers sync.WaitGroup
		c := Common{BaseURL: "http://127.0.0.1", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if serve == nil { // a black hole
				<-ctx.Done()
				return nil, ctx.Err()
			}
			client, server := net.Pipe()
			servers.Go(func() {
				defer func() { _ = server.Close() }()
				serve(server)
			})
			return client, nil
		}}
		p := k.make(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		r = p.Send(ctx, k.request(t, p, c.BaseURL))
		took = time.Since(began)
		closeIdle(p)
		servers.Wait()
	})
	return r, took
}

func TestSend_DeadlineEndsIt(t *testing.T) {
	drip := func(conn net.Conn) {
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
		for err == nil {
			_, err = io.WriteString(conn, "{")
			time.Sleep(time.Second)
		}
	}
	ignore := make(chan served, 64)
	cases := map[string]struct {
		serve func(net.Conn)
		want  map[string]expected
		says  string
	}{
		"dialling":           {nil, unreached, "not sent: time-out"},
		"no answer":          {afterRequest(ignore, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }), noAnswer, "no answer: time-out"},
		"one byte a second":  {afterRequest(ignore, drip), statusOnly, "answer cut: time-out"},
		"request never read": {func(c net.Conn) { <-time.After(time.Minute) }, noAnswer, "no answer: time-out"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			eachProvider(t, func(t *testing.T, k kit) {
				r, took := inBubble(t, k, c.serve)
				check(t, r, k.wants(c.want))
				if took != 10*time.Second || r.Error != c.says {
					t.Errorf("took %v with error %q, want 10s and %q", took, r.Error, c.says)
				}
			})
		})
	}
}

func TestSend_ConnectionsAreSharedOnlyWhereThatIsSafe(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		want := int32(3)
		if k.shares() {
			want = 1
		}
		for _, window := range []time.Duration{0, time.Hour} {
			var opened atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(k.yes.status)
				_, _ = io.WriteString(w, k.yes.body)
			}))
			server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					opened.Add(1)
				}
			}
			server.Start()
			p := k.make(t, Common{BaseURL: server.URL, RepeatWindow: window})
			for range 3 {
				if r := p.Send(t.Context(), k.request(t, p, server.URL)); r.Outcome != ledger.Accepted {
					t.Errorf("%+v", r)
				}
			}
			closeIdle(p)
			server.Close()
			if opened.Load() != want {
				t.Errorf("window %v: %d connections, want %d", window, opened.Load(), want)
			}
		}
	})
}

// F26: bodies that are not read to their end must not keep connections open.
func TestSend_ManyFailuresLeaveNothingOpen(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		var open, peak atomic.Int32
		var handlers sync.WaitGroup
		answer := "HTTP/1.1 503 No\r\nContent-Length: 10240\r\n\r\n" + strings.Repeat("x", 10240)
		address := listen(t, func(conn net.Conn) {
			handlers.Add(1)
			defer handlers.Done()
			peak.Store(max(peak.Load(), open.Add(1)))
			defer open.Add(-1)
			for reader := bufio.NewReader(conn); ; {
				if _, err := readRequest(reader); err != nil {
					return
				}
				if _, err := io.WriteString(conn, answer); err != nil {
					return
				}
			}
		})
		c := Common{BaseURL: "http://" + address, RepeatWindow: time.Hour}
		p := k.make(t, c)
		for range 500 {
			if r := p.Send(t.Context(), k.request(t, p, c.BaseURL)); r.Status != 503 || len(r.Answer) != ledger.MaxAnswerBytes {
				t.Fatalf("%+v", r)
			}
		}
		closeIdle(p)
		handlers.Wait()       // hangs if a connection stays open
		if peak.Load() > 64 { // the server may see a close a little late
			t.Errorf("%d connections at once for one request after another", peak.Load())
		}
	})
}

func TestSend_WhatLeaves(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		seen := make(chan served, 1)
		k.send(t, Common{Dial: pipe(seen, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))}, "http://127.0.0.1")
		req := <-seen
		if req.Method != http.MethodPost || req.Proto != "HTTP/1.1" || req.ContentLength != int64(len(req.body)) {
			t.Errorf("%s %s with length %d for %d bytes", req.Method, req.Proto, req.ContentLength, len(req.body))
		}
		if h := req.Header; h.Get("Accept-Encoding") != "" || h.Get("User-Agent") != "sendonce" || h.Get("Content-Type") != k.contentType() {
			t.Errorf("headers %v", h)
		}
	})
}

// A proxy of the environment would answer in the provider's place and dial past the address guard.
func TestSend_NoProxyOfTheEnvironment(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:9")
	}
	var dialled string
	s := newSender(func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = address
		return nil, io.EOF
	}, 1)
	s.post(t.Context(), &request{url: "http://provider.example.test/", header: http.Header{}})
	if dialled != "provider.example.test:80" {
		t.Errorf("dialled %s", dialled)
	}
}

func TestSend_HTTP1OverTLS(t *testing.T) {
	seen := make(chan string, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen <- r.Proto }))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	s := newSender(nil, 0)
	s.transport.TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	x := s.post(t.Context(), &request{url: server.URL, header: http.Header{}, body: []byte("{}")})
	if x.status != 200 || x.conns != 1 || <-seen != "HTTP/1.1" {
		t.Errorf("%+v", x)
	}
}
