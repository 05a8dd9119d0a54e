package providers

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// transport carries requests over HTTP/1.1 on connections of its own, each request once. The standard library's has two goroutines
// for each connection, whose hand-overs are a third of the cost of a request, and it repeats requests by rules of its own. It uses
// no proxy.
type transport struct {
	dial            DialFunc
	TLSClientConfig *tls.Config
	keep            int // idle connections to one origin; 0: none

	mu    sync.Mutex
	idle  map[origin][]*link // the one that was used last is taken first
	sweep *time.Timer        // set while there are any
}

// origin is where a connection leads to.
type origin struct {
	secure  bool
	address string
}

func originOf(u *url.URL) (origin, error) {
	host, err := httpguts.PunycodeHostPort(u.Host)
	o := origin{secure: u.Scheme == "https", address: host}
	switch {
	case err != nil, u.Hostname() == "", !o.secure && u.Scheme != "http":
		return o, errBadURL
	case u.Port() != "":
	case o.secure:
		o.address = strings.TrimSuffix(host, ":") + ":443"
	default:
		o.address = strings.TrimSuffix(host, ":") + ":80"
	}
	return o, nil
}

// take returns a connection for a request: an idle one on which nothing has come, not even its end, else a new one.
func (t *transport) take(ctx context.Context, to origin) (*link, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for l := t.rested(to); l != nil; l = t.rested(to) {
		if time.Since(l.rested) < idleLife && l.quiet() {
			l.room, l.body, l.begun, l.wrote = maxHeaderBytes, false, false, false
			return l, nil
		}
		_ = l.raw.Close()
	}
	raw, err := t.dial(ctx, "tcp", to.address)
	if err != nil {
		return nil, err
	}
	l := &link{Conn: raw, raw: raw, to: to, room: maxHeaderBytes}
	if to.secure {
		c := t.TLSClientConfig.Clone()
		if c.ServerName == "" {
			c.ServerName, _, _ = net.SplitHostPort(to.address)
		}
		l.records = &records{Conn: raw, in: bufio.NewReader(raw)}
		secured := tls.Client(l.records, c)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, err
		}
		l.Conn = secured
	}
	l.in, l.out = bufio.NewReader(l), bufio.NewWriter(l)
	return l, nil
}

// rested takes an idle connection from the list, or nil.
func (t *transport) rested(to origin) *link {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.idle[to]
	if len(list) == 0 {
		return nil
	}
	l := list[len(list)-1]
	list[len(list)-1] = nil
	t.idle[to] = list[:len(list)-1]
	return l
}

// rest keeps a connection for a further request.
func (t *transport) rest(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.idle[l.to]) >= t.keep {
		_ = l.Close()
		return
	}
	if t.idle == nil {
		t.idle = map[origin][]*link{}
	}
	l.rested = time.Now()
	t.idle[l.to] = append(t.idle[l.to], l)
	if t.sweep == nil {
		t.sweep = time.AfterFunc(idleLife, func() { t.closeIdle(idleLife) })
	}
}

// CloseIdleConnections closes the connections that no request has.
func (t *transport) CloseIdleConnections() { t.closeIdle(0) }

// closeIdle closes connections that have been idle for so long, and comes again for the others.
func (t *transport) closeIdle(life time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next time.Duration // zero: none is left
	for to, list := range t.idle {
		for len(list) > 0 {
			if left := life - time.Since(list[0].rested); left > 0 { // the others rest for less long
				if next <= 0 || left < next {
					next = left
				}
				break
			}
			_ = list[0].Close()
			list = list[1:]
		}
		if t.idle[to] = list; len(list) == 0 {
			delete(t.idle, to)
		}
	}
	if t.sweep != nil && next > 0 {
		t.sweep.Reset(next)
	} else if t.sweep != nil {
		t.sweep.Stop()
		t.sweep = nil
	}
}
