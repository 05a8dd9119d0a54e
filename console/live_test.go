package console

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// response is what came back.
type response = httptest.ResponseRecorder

// listen opens a stream over real HTTP and returns what it is told; the channel closes with the stream. It returns once the
// stream has begun.
func (v *visitor) listen(t *testing.T, path string) <-chan string {
	t.Helper()
	srv := httptest.NewServer(v.rig.console)
	req, err := http.NewRequest(http.MethodGet, srv.URL+Path+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(v.cookie)
	res, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	t.Cleanup(func() {
		_ = res.Body.Close()
		srv.Close()
	})
	lines := bufio.NewScanner(res.Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "retry: ") {
		t.Fatalf("it begins with %q", lines.Text())
	}
	events := make(chan string, 16)
	go func() {
		defer close(events)
		for lines.Scan() {
			if mark, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- mark
			}
		}
	}()
	return events
}

// now is how many are open.
func (s *shares) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// So many streams are open at a time, and neither a login nor a key has them all.
func TestStreams_NobodyHasAll(t *testing.T) {
	s := newShares(maxStreams, keyStreams, loginStreams)
	var leave []func()
	enter := func(login, key string) (n int) {
		for ; n <= maxStreams; n++ {
			l, ok := s.enter(login, key)
			if !ok {
				break
			}
			leave = append(leave, l)
		}
		return n
	}
	for _, c := range []struct {
		login, key string
		want       int
	}{
		{"a", "shared", loginStreams}, {"b", "shared", loginStreams}, {"c", "shared", keyStreams - 2*loginStreams}, {"d", "shared", 0},
		{"e", "other", loginStreams}, {"f", "other", loginStreams}, {"g", "third", maxStreams - keyStreams - 2*loginStreams},
	} {
		if got := enter(c.login, c.key); got != c.want {
			t.Errorf("login %s of %s has %d streams, want %d", c.login, c.key, got, c.want)
		}
	}
	for _, l := range leave {
		l()
	}
	if s.all != 0 || len(s.open) != 0 {
		t.Errorf("after all have left: %d, %v", s.all, s.open)
	}
	if got := enter("", ""); got != maxStreams {
		t.Errorf("without keys %d streams are open, want %d", got, maxStreams)
	}
}

// A login's own streams are refused beyond its share, and come back when one ends.
func TestLive_ShareOfALogin(t *testing.T) {
	r := newRig(t)
	v := r.as("operator")
	for range loginStreams {
		v.listen(t, "/live/providers?mark=x")
	}
	if w := v.get("/live/providers?mark=x"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one stream too many: %d", w.Code)
	}
	r.as("operator").listen(t, "/live/providers?mark=x")
}
