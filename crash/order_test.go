package crash

import (
	"context"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// Keeps out a ledger that calls first and writes later. Seen from outside: the syncs of claim and take, or the one that both
// share, come before the first byte to the provider, and the close's comes between the provider's answer and the caller's.
func TestOrder_WriteFirst(t *testing.T) {
	for name, c := range map[string]struct {
		main string // further settings of the provider
		want string
	}{
		"free provider":      {"", "asked sync sent answered sync told"},
		"provider with rate": {" rate: 1000/s,", "asked sync sync sent answered sync told"},
	} {
		t.Run(name, func(t *testing.T) { writesFirst(t, c.main, c.want) })
	}
}

func writesFirst(t *testing.T, main, want string) {
	needs(t, "strace")
	p := newPlace(t, fake.Options{WellBehaved: true}, setting{"key-of-main,", "key-of-main," + main})
	s := p.start()
	x := attach(s, "-yy", "-s", "64", "-e", "trace=fsync,fdatasync,read,write,recvfrom,sendto")
	a, err := s.api.post(context.Background(), smsBody("evt-1", "+14155550101", "tok_1"), 20*time.Second)
	if err != nil || a.State != "sent" {
		t.Fatalf("status %d %s, state %q: %v", a.Status, a.Code, a.State, err)
	}
	x.detach()
	s.stop(patience)

	provider, err := url.Parse(p.hook)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, line := range x.log() {
		if step := stepOf(line, provider.Host); step != "" && (len(steps) == 0 || steps[len(steps)-1] != step || step == "sync") {
			steps = append(steps, step)
		}
	}
	got := strings.Join(steps, " ")
	if got != want {
		t.Errorf("the order was\n  %s\nand should be\n  %s\n%s", got, want, strings.Join(x.log(), "\n"))
	}
	p.check()
}

// stepOf names what a system call means for one notification; empty: nothing.
func stepOf(line, provider string) string {
	_, port, err := net.SplitHostPort(provider)
	if err != nil {
		return ""
	}
	peer := "->127.0.0.1:" + port + "]"
	if strings.Contains(line, "resumed>") { // the call's beginning has its descriptor; its end has only the bytes
		switch {
		case strings.Contains(line, `"HTTP/1.1 200 OK`):
			return "answered"
		case strings.Contains(line, `"POST /v1/notifications `):
			return "asked"
		}
		return ""
	}
	switch {
	case strings.Contains(line, "sync(") && strings.Contains(line, "sendonce.db-wal>"):
		return "sync"
	case strings.Contains(line, `"POST /v1/sms/batch/send`):
		return "sent"
	case strings.Contains(line, peer) && strings.Contains(line, `"HTTP/1.1 200`):
		return "answered"
	case strings.Contains(line, `"POST /v1/notifications `):
		return "asked"
	case strings.Contains(line, `"HTTP/1.1 202`):
		return "told"
	}
	return ""
}
