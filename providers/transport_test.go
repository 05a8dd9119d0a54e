package providers

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

func answerText(body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
}

// numbered serves connections, the first by first, further ones with an answer that says "later".
func numbered(t *testing.T, first func(net.Conn)) (base string, opened *atomic.Int32) {
	opened = new(atomic.Int32)
	return "http://" + listen(t, func(conn net.Conn) {
		if opened.Add(1) == 1 {
			first(conn)
			return
		}
		for in := bufio.NewReader(conn); ; {
			if _, err := readRequest(in); err != nil {
				return
			}
			_, _ = io.WriteString(conn, answerText("later"))
		}
	}), opened
}

func postTo(t *testing.T, s *sender, base, body string) exchange {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return s.post(ctx, &request{url: base, header: http.Header{}, body: []byte(body)})
}

// F01: what comes on a connection unasked, or too late, is nobody's answer; and one that ended is not written to.
func TestTransport_F01_WhatComesOnAnIdleConnectionAnswersNobody(t *testing.T) {
	for name, then := range map[string]func(net.Conn){
		"a second answer":       func(c net.Conn) { write(answerText("unasked"))(c) },
		"half of one":           func(c net.Conn) { write("HTTP/1.1 200 OK\r\nContent-Le")(c) },
		"one byte":              func(c net.Conn) { write("\n")(c) },
		"the end":               func(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() },
		"408 and the end":       func(c net.Conn) { write("HTTP/1.1 408 Slow\r\nConnection: close\r\n\r\n")(c); _ = c.Close() },
		"together with the one": nil,
	} {
		t.Run(name, func(t *testing.T) {
			taken, sent := make(chan struct{}), make(chan struct{})
			base, opened := numbered(t, func(conn net.Conn) {
				in := bufio.NewReader(conn)
				if _, err := readRequest(in); err != nil {
					return
				}
				if then == nil {
					write(answerText("first") + answerText("unasked"))(conn)
				} else {
					write(answerText("first"))(conn)
					<-taken
					then(conn)
				}
				close(sent)
				if _, err := readRequest(in); err == nil {
					t.Error("the connection was used again")
				}
			})
			s := newSender(nil, 1)
			defer s.transport.CloseIdleConnections()
			if x := postTo(t, s, base, "{}"); string(x.body) != "first" || !x.whole {
				t.Fatalf("%+v", x)
			}
			close(taken)
			<-sent
			if x := postTo(t, s, base, "{}"); string(x.body) != "later" || opened.Load() != 2 {
				t.Errorf("%q on %d connections, %v", x.body, opened.Load(), x.err)
			}
		})
	}
}

// Go's server answers some requests before it has read them, and reads no more: waiting for all to leave would miss the answer.
func TestTransport_AnswerBeforeTheRequestWasRead(t *testing.T) {
	base, opened := numbered(t, func(conn net.Conn) {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			write("HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n")(conn)
			<-t.Context().Done()
		}
	})
	s := newSender(nil, 1)
	defer s.transport.CloseIdleConnections()
	if x := postTo(t, s, base, strings.Repeat("x", 32<<20)); x.status != 413 || x.phase != ledger.Answered {
		t.Errorf("status %d, %s, %v", x.status, x.phase, x.err)
	}
	if x := postTo(t, s, base, "{}"); string(x.body) != "later" || opened.Load() != 2 {
		t.Errorf("%q on %d connections, %v", x.body, opened.Load(), x.err)
	}
}

func TestTransport_WhatEndsAConnection(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		again  bool
	}{
		"whole":          {answerText("a"), true},
		"chunks":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", true},
		"announced":      {"HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + answerText("a"), true},
		"asked to close": {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na", false},
		"HTTP/1.0":       {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", false},
		"large":          {answerText("a" + strings.Repeat("b", maxBodyRead)), false},
	} {
		base, opened := numbered(t, func(conn net.Conn) {
			for in := bufio.NewReader(conn); ; {
				if _, err := readRequest(in); err != nil {
					return
				}
				write(c.answer)(conn)
			}
		})
		s := newSender(nil, 1)
		first, second := postTo(t, s, base, "{}"), postTo(t, s, base, "{}")
		if first.status != 200 || !strings.HasPrefix(string(first.body), "a") || second.status != 200 || c.again != (opened.Load() == 1) {
			t.Errorf("%s: %d %d on %d connections, %v", name, first.status, second.status, opened.Load(), second.err)
		}
		s.transport.CloseIdleConnections()
	}
}

func TestTransport_TLSConnectionsAreUsedAgain(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "a") }))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	s := newSender(nil, 1)
	defer s.transport.CloseIdleConnections()
	s.transport.TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for range 3 {
		if x := postTo(t, s, server.URL, "{}"); string(x.body) != "a" {
			t.Errorf("%+v", x)
		}
	}
	if opened.Load() != 1 {
		t.Errorf("%d connections", opened.Load())
	}
}

// corked writes only what has come together when it is let go.
type corked struct {
	net.Conn
	held *bytes.Buffer
	shut bool
}

func (c *corked) Write(p []byte) (int, error) {
	if c.shut {
		return c.held.Write(p)
	}
	return c.Conn.Write(p)
}

// F01 under TLS: a second answer in the same record as the first, or in one that came with it, is nobody's either.
func TestTransport_F01_WhatComesWithAnAnswerUnderTLS(t *testing.T) {
	long := "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
	fill := 4096 // what is read of a record at once
	fill -= len(fmt.Sprintf(long, fill))
	exact := fmt.Sprintf(long, fill) + strings.Repeat("f", fill)
	for name, c := range map[string]struct {
		records []string // "": the beginning of one
		cut     int      // bytes that do not leave
	}{
		"one record":               {records: []string{answerText("first") + answerText("unasked")}},
		"two records":              {records: []string{answerText("first"), answerText("unasked")}},
		"a record and a half":      {records: []string{answerText("first"), answerText("unasked")}, cut: 20},
		"a record and three bytes": {records: []string{answerText("first"), ""}},
		"as much as is read":       {records: []string{exact + answerText("unasked")}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(nil)
			server.StartTLS()
			defer server.Close()
			var opened atomic.Int32
			address := listen(t, func(conn net.Conn) {
				cork := &corked{Conn: conn, held: new(bytes.Buffer)}
				secured := tls.Server(cork, server.TLS)
				first := opened.Add(1) == 1
				for in := bufio.NewReader(secured); ; {
					if _, err := readRequest(in); err != nil {
						return
					}
					if !first {
						_, _ = io.WriteString(secured, answerText("later"))
						continue
					}
					cork.shut = true
					for _, r := range c.records {
						if r == "" {
							cork.held.WriteString("\x17\x03\x03")
							continue
						}
						_, _ = io.WriteString(secured, r)
					}
					_, _ = conn.Write(cork.held.Bytes()[:cork.held.Len()-c.cut])
				}
			})
			s := newSender(nil, 1)
			defer s.transport.CloseIdleConnections()
			s.transport.TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			if x := postTo(t, s, "https://"+address, "{}"); !strings.HasPrefix(string(x.body), "f") || !x.whole {
				t.Fatalf("%+v", x)
			}
			if x := postTo(t, s, "https://"+address, "{}"); string(x.body) != "later" || opened.Load() != 2 {
				t.Errorf("%q on %d connections, %v", x.body, opened.Load(), x.err)
			}
		})
	}
}

func TestTransport_IdleConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Duration, 2)
		began := time.Now()
		s := newSender(func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				for in := bufio.NewReader(server); ; {
					if _, err := readRequest(in); err != nil {
						ended <- time.Since(began)
						return
					}
					write(answerText("a"))(server)
				}
			}()
			return client, nil
		}, 2)
		postTo(t, s, "http://a.test", "{}")
		time.Sleep(4 * time.Second)
		postTo(t, s, "http://b.test", "{}")
		time.Sleep(5 * time.Second)
		postTo(t, s, "http://a.test", "{}") // at 9 s, on the first
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(ended) != 2 || s.transport.sweep != nil {
			t.Fatalf("%d ended", len(ended))
		}
		if a, b := <-ended, <-ended; a != 14*time.Second || b != 19*time.Second {
			t.Errorf("ended after %v and %v", a, b)
		}
	})
}

func TestTransport_NothingLeavesThatIsNoHTTP(t *testing.T) {
	dialled := 0
	s := newSender(func(context.Context, string, string) (net.Conn, error) { dialled++; return nil, io.EOF }, 1)
	for _, h := range []http.Header{{"X-A": {"a\r\nX-B: c"}}, {"X-A": {"a\x00"}}, {"X A": {"a"}}, {"X-A:": {"a"}}} {
		x := s.post(t.Context(), &request{url: "http://provider.example.test/", header: h})
		if x.err == nil || x.phase != ledger.NotWritten || dialled != 0 {
			t.Errorf("%v: %s, %v", h, x.phase, x.err)
		}
	}
}

func TestTransport_Origins(t *testing.T) {
	for text, want := range map[string]string{
		"http://a.test/x": "a.test:80", "https://a.test": "a.test:443", "https://a.test:8443": "a.test:8443", "http://[::1]/": "[::1]:80",
		"http://a.test:": "a.test:80", "https://bücher.test/": "xn--bcher-kva.test:443", "ftp://a.test": "", "http://:80": "", "a.test": "",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := originOf(u); (err != nil) != (want == "") || err == nil && o.address != want {
			t.Errorf("%s: %+v, %v, want %s", text, o, err, want)
		}
	}
}
