package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// F18: somebody who reads a list a byte at a time, or goes away in the middle of it, keeps no read open: the log does not
// grow, and connections come back.
func TestStorage_F18_SlowReadersOfALongList(t *testing.T) {
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	write := func(from, batches int) {
		t.Helper()
		for b := range batches {
			items := make([]string, 500)
			for i := range items {
				items[i] = event(fmt.Sprintf(`"event_id":"evt_%d","send_at":"2090-01-01T00:00:00Z","expires_at":"2091-01-01T00:00:00Z","metadata":{"pad":"%03500d"}`, from+b*500+i, i))
			}
			if a := r.do(http.MethodPost, "/v1/notifications/batch", `{"notifications":[`+strings.Join(items, ",")+`]}`); !strings.Contains(a.body, `"claimed":500`) {
				t.Fatalf("batch: %d %.200s", a.status, a.body)
			}
		}
	}
	write(0, 2)
	files, sockets := r.descriptors()

	const ask = "GET /v1/notifications?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n"
	slow := make([]net.Conn, 8) // more than the store has connections
	for i := range slow {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.(*net.TCPConn).SetReadBuffer(2048)
		defer func() { _ = conn.Close() }()
		if _, err := fmt.Fprint(conn, ask); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		slow[i] = conn
	}
	write(1000, 24) // over 60 MB of log, were it never folded
	for _, conn := range slow {
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Errorf("a slow reader was cut: %v", err)
		}
	}
	info, err := os.Stat(filepath.Join(p.dir, "sendonce.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 48<<20 { // it is folded from 32 MB on, beside the writer
		t.Errorf("the log has %d bytes beside slow readers", info.Size())
	}
	for _, conn := range slow {
		_ = conn.Close()
	}

	for range 100 {
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/v1/notifications?limit=500", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = res.Body.Read(make([]byte, 100))
		leave()
		_ = res.Body.Close()
	}
	r.http.CloseIdleConnections()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		filesNow, socketsNow := r.descriptors()
		if filesNow <= files+2*3 && socketsNow <= sockets { // the pool of four readers may have filled up
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of the ledger's files and %d sockets are open after 100 broken lists, %d and %d before", filesNow, socketsNow, files, sockets)
		}
	}
	if a := r.do(http.MethodGet, "/v1/notifications?limit=1", ""); a.status != 200 {
		t.Errorf("a list afterwards: %d", a.status)
	}
}

// descriptors counts what this process has open of the ledger's files and of sockets.
func (r *running) descriptors() (files, sockets int) {
	r.t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		r.t.Skip("NOT TESTED: no /proc here to count descriptors in")
	}
	for _, d := range open {
		to, err := os.Readlink("/proc/self/fd/" + d.Name())
		switch {
		case err != nil: // closed meanwhile
		case strings.HasPrefix(to, r.dir):
			files++
		case strings.HasPrefix(to, "socket:"):
			sockets++
		}
	}
	return files, sockets
}
