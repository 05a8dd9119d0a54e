//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// load is a closed loop: on each connection one request is in flight, and the next one leaves when its answer is there.
type load struct {
	addr   string
	conns  int
	warm   time.Duration // not measured
	length time.Duration // measured
	from   int64         // number of the first request
	limit  int64         // end before this number; 0: by time only
	rate   float64       // requests a second on all connections together; 0: as fast as answers come
	// request appends request number n, head and body.
	request func(b []byte, n int64) []byte
	// good says whether an answer is the wanted one.
	good func(status int, body []byte) bool
	// next reads an answer; nil: as HTTP.
	next func(*message) error
	// edge is called when the measured time begins (0) and when it ends (1).
	edge func(int)
}

// measured is what a load saw between its two edges.
type measured struct {
	Requests  int64   `json:"requests"`
	PerSecond float64 `json:"requests_per_s"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Errors    int64   `json:"errors"` // warm-up included: an error there is as telling
	Sample    string  `json:"error_sample,omitempty"`
	next      int64   // number of the first request that was not made
}

// maxErrors ends a run that shows nothing but errors.
const maxErrors = 1000

// loop is the shared state of the connections of one load.
type loop struct {
	load
	start      time.Time // of the warm-up
	begin, end time.Time
	number     atomic.Int64 // of the next request
	errors     atomic.Int64
	sample     atomic.Pointer[string]
}

// run drives the load until its time or limit is over. The error is ctx's or says that nothing could be measured.
func (l load) run(ctx context.Context) (measured, error) {
	lp := &loop{load: l, start: time.Now()}
	lp.begin = lp.start.Add(l.warm)
	lp.end = lp.begin.Add(l.length)
	if lp.load.next == nil {
		lp.load.next = (*message).next
	}
	lp.number.Store(l.from)
	parts := make([]latencies, l.conns)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { parts[i] = lp.connection(ctx) })
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	if l.edge != nil {
		lp.edges(ctx, done)
	}
	<-done
	m := measured{Errors: lp.errors.Load(), next: lp.number.Load()}
	if s := lp.sample.Load(); s != nil {
		m.Sample = *s
	}
	all := sorted(parts)
	m.Requests, m.P50, m.P99 = int64(len(all)), all.percentile(.5), all.percentile(.99)
	m.PerSecond = float64(len(all)) / l.length.Seconds()
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	if len(all) == 0 {
		return m, fmt.Errorf("no answer was measured (%d errors, first: %s)", m.Errors, m.Sample)
	}
	return m, nil
}

// edges calls edge on time; when the connections end early, or just before the last edge, what is left at once.
func (l *loop) edges(ctx context.Context, done <-chan struct{}) {
	for i, at := range []time.Time{l.begin, l.end} {
		select {
		case <-time.After(time.Until(at)):
		case <-done:
		case <-ctx.Done():
			return
		}
		l.edge(i)
	}
}

// connection works one connection and opens it again after an error. It returns the latencies of the good
// answers that came in measured time: counting by the answer's time neither favours nor harms slow requests.
func (l *loop) connection(ctx context.Context) (lat latencies) {
	var conn net.Conn
	var m message
	var out []byte
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for ctx.Err() == nil && l.errors.Load() < maxErrors && time.Now().Before(l.end) {
		n := l.number.Add(1) - 1
		if l.limit > 0 && n >= l.limit {
			return lat
		}
		var err error
		if conn == nil {
			if conn, err = l.dial(); err != nil {
				l.failed(err)
				continue
			}
			m.r = bufio.NewReaderSize(conn, 8<<10)
		}
		out = l.request(out[:0], n)
		start := l.due(ctx, n)
		if _, err = conn.Write(out); err == nil {
			err = l.next(&m)
		}
		if err != nil {
			l.failed(err)
			conn.Close()
			conn = nil
			continue
		}
		now := time.Now()
		if m.last {
			conn.Close()
			conn = nil
		}
		switch {
		case !l.good(m.status(), m.body):
			l.failed(fmt.Errorf("%s %.300s", m.first, m.body))
		case !now.Before(l.begin) && now.Before(l.end):
			lat.add(now.Sub(start))
		}
	}
	return lat
}

// due waits until request n may leave and returns when that was. A request that is late counts from when it was due: a service
// that stands still is charged for those who would have come meanwhile.
func (l *loop) due(ctx context.Context, n int64) time.Time {
	if l.rate == 0 {
		return time.Now()
	}
	at := l.start.Add(time.Duration(float64(n-l.from) / l.rate * float64(time.Second)))
	if wait := time.Until(at); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return at
}

// dial opens a connection that cannot outlive the run by more than the longest wait of an answer.
func (l *loop) dial() (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", l.addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(l.end.Add(35 * time.Second))
}

// failed counts an error and keeps the first one for the reader.
func (l *loop) failed(err error) {
	l.errors.Add(1)
	s := err.Error()
	l.sample.CompareAndSwap(nil, &s)
}
