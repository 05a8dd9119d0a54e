package api

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// listen serves a on a free port until the test ends or stop is called; stop returns what Serve returned.
func listen(t *testing.T, a *API) (base string, stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, ln) }()
	stopped := false
	stop = func() error {
		cancel()
		if stopped {
			return nil
		}
		stopped = true
		return <-ended
	}
	t.Cleanup(func() { _ = stop() })
	return "http://" + ln.Addr().String(), stop
}

// Prefer: wait=N waits for the first attempt, at most 30 s; what can't be read is no reason to refuse a message.
func TestWait_Preferences(t *testing.T) {
	for _, c := range []struct {
		lines   []string
		applied string
		wait    time.Duration // that the ledger was given; 0: not asked
	}{
		{nil, "", 0}, {[]string{"Prefer: wait=10"}, "wait=10", 10 * time.Second}, {[]string{"Prefer: WAIT = 10 ; x=1"}, "wait=10", 10 * time.Second},
		{[]string{`Prefer: respond-async, wait="7"`}, "wait=7", 7 * time.Second}, {[]string{"Prefer: return=minimal", "Prefer: wait=3"}, "wait=3", 3 * time.Second},
		{[]string{"Prefer: wait=31"}, "wait=30", 30 * time.Second}, {[]string{"Prefer: wait=65535"}, "wait=30", 30 * time.Second},
		{[]string{"Prefer: wait=1, wait=9"}, "wait=1", time.Second}, {[]string{"Prefer: wait=0"}, "wait=0", 0},
		{[]string{"Prefer: wait=99999999999999999999"}, "", 0}, {[]string{"Prefer: wait=-1"}, "", 0}, {[]string{"Prefer: wait"}, "", 0},
		{[]string{"Prefer: wait=soon"}, "", 0}, {[]string{"Prefer: waiting=3"}, "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStub()
			var got time.Duration
			s.wait = func(_ context.Context, n ledger.Notification, longest time.Duration, _ <-chan struct{}) ledger.Notification {
				got = longest
				n.State, n.Version = ledger.StateSent, n.Version+2
				return n
			}
			res := answerOf(t, New(s, Settings{}, quiet()), "POST", "/v1/notifications", bodies["POST /v1/notifications"], c.lines...)
			if got != c.wait || res.status != 202 || res.header.Get("Preference-Applied") != c.applied {
				t.Errorf("%q: waited %v, %d, applied %q", c.lines, got, res.status, res.header.Get("Preference-Applied"))
			}
			if s.events[0].Wait != (c.wait > 0) {
				t.Errorf("%q: the ledger was told that Wait is called: %v", c.lines, s.events[0].Wait)
			}
			if waited := c.wait > 0; waited != strings.Contains(string(res.body), `"state":"sent"`) || waited != (res.header.Get("ETag") == `"5"`) {
				t.Errorf("%q: %s, %v", c.lines, res.body, res.header)
			}
		})
	}
}

// The read deadline of the server lies far before the end of a wait; it must not end the wait. The server lifts
// it once the body has been read, which nothing documents.
func TestWait_LongerThanTheReadTimeout(t *testing.T) {
	s := newStub()
	passed := make(chan struct{})
	s.wait = func(ctx context.Context, n ledger.Notification, _ time.Duration, _ <-chan struct{}) ledger.Notification {
		select {
		case <-ctx.Done():
		case <-passed:
			n.State = ledger.StateSent
		}
		return n
	}
	base, _ := listen(t, New(s, Settings{Limits: Limits{Header: 50 * time.Millisecond, Read: 50 * time.Millisecond}}, quiet()))
	time.AfterFunc(300*time.Millisecond, func() { close(passed) })
	if got := do(t, "POST", base+"/v1/notifications", bodies["POST /v1/notifications"], "Prefer: wait=5"); !strings.Contains(string(got.body), `"state":"sent"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A caller that goes away ends its own wait and nothing else: the claim is made under a context that lives on. (F04)
func TestWait_CallerGoesAway(t *testing.T) {
	s := newStub()
	claiming, gone, waited := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s.claim = func(ctx context.Context) {
		close(claiming)
		<-gone
		if ctx.Err() != nil || ctx.Done() != nil {
			t.Errorf("the claim's context ends with its caller: %v", ctx.Err())
		}
	}
	s.wait = func(ctx context.Context, n ledger.Notification, _ time.Duration, _ <-chan struct{}) ledger.Notification {
		<-ctx.Done()
		waited <- ctx.Err()
		return n
	}
	base, _ := listen(t, New(s, Settings{}, quiet()))
	ctx, leave := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", base+"/v1/notifications", strings.NewReader(bodies["POST /v1/notifications"]))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Prefer", "wait=30")
	left := make(chan error, 1)
	go func() {
		_, err := (&http.Transport{}).RoundTrip(req)
		left <- err
	}()
	<-claiming
	leave()
	if err := <-left; err == nil {
		t.Fatal("the caller got an answer")
	}
	close(gone)
	if err := <-waited; err != context.Canceled {
		t.Errorf("the wait ended with %v", err)
	}
	if s.seen() != 1 {
		t.Errorf("%d claims", s.seen())
	}
}
