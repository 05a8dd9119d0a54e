//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"
)

// stub is the provider that both services send to: it answers every request after delay with an envelope as
// Infrai documents it. It runs as a process of its own, so that its CPU time is nobody else's.
type stub struct {
	delay time.Duration
	sent  atomic.Int64
}

// runStub listens on addr until ctx is done.
func runStub(ctx context.Context, addr string, delay time.Duration) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	s := &stub{delay: delay}
	for {
		conn, err := ln.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("stub: %w", err)
		}
		go s.serve(conn)
	}
}

// serve answers one connection until the other side closes it.
func (s *stub) serve(conn net.Conn) {
	defer conn.Close()
	m := message{r: bufio.NewReaderSize(conn, 4<<10)}
	var body, out []byte
	for m.next() == nil {
		if s.delay > 0 {
			time.Sleep(s.delay)
		}
		body = append(body[:0], `{"ok":true,"data":{"results":[{"message_id":"msg_`...)
		body = strconv.AppendInt(body, s.sent.Add(1), 10)
		body = append(body, `"}]},"error":null,"metadata":{}}`...)
		out = append(out[:0], "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "...)
		out = strconv.AppendInt(out, int64(len(body)), 10)
		out = append(append(out, "\r\n\r\n"...), body...)
		if _, err := conn.Write(out); err != nil || m.last {
			return
		}
	}
}
