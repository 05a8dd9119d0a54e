package providers

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
)

// served is a request as a raw server read it.
type served struct {
	*http.Request
	body []byte
}

// readRequest reads one whole request from a connection.
func readRequest(r *bufio.Reader) (served, error) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return served{}, err
	}
	body, err := io.ReadAll(req.Body)
	return served{req, body}, err
}

// pipe is a dialer whose other end reads one request, writes the answer as it is, and closes. What it read goes
// to seen.
func pipe(seen chan<- served, answer []byte) DialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			req, err := readRequest(bufio.NewReader(server))
			if err != nil {
				return
			}
			seen <- req
			_, _ = server.Write(answer)
		}()
		return client, nil
	}
}

// listen serves connections on loopback, each by handle, which must end when its connection does.
func listen(t *testing.T, handle func(net.Conn)) (address string) {
	t.Helper()
	return listenAt(t, "127.0.0.1:0", handle)
}

// listenAt is listen on an address of the caller's own.
func listenAt(t *testing.T, at string, handle func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	open := make(chan net.Conn, 1024)
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open <- conn
			go func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			}()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		close(open)
		for conn := range open {
			_ = conn.Close()
		}
	})
	return l.Addr().String()
}
