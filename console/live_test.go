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
