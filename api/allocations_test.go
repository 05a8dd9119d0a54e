package api

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sendonce/ledger"
)

// What a request costs in memory is counted, since it costs time twice: when it is taken and when it is collected. Whoever needs
// more raises the number here, and says why.
func TestAllocations_Claim(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too; make test runs this without it")
	}
	body := bodies["POST /v1/notifications"]
	for _, c := range []struct {
		name string
		set  func(*stub)
		most float64
	}{
		{"new", func(s *stub) { s.parts = ledger.Segments{Encoding: "GSM-7", Count: 1} }, 19},
		{"known by its words", func(s *stub) { s.known = eventHash(&local, nil, []byte(body)) }, 19},
	} {
		s := newStub()
		c.set(s)
		door := New(s, Settings{}, quiet()).Handler()
		in := strings.NewReader(body)
		r := &http.Request{
			Method: "POST", URL: &url.URL{Path: "/v1/notifications"}, Host: "localhost", Body: io.NopCloser(in), ContentLength: in.Size(),
			Header: http.Header{"Content-Type": {"application/json"}},
		}
		w := discard{header: http.Header{}}
		got := testing.AllocsPerRun(500, func() {
			in.Reset(body)
			clear(w.header)
			s.events = s.events[:0]
			door.ServeHTTP(&w, r)
		})
		if w.status/100 != 2 || got > c.most {
			t.Errorf("%s: status %d, %.0f allocations, want at most %.0f", c.name, w.status, got, c.most)
		}
	}
}
