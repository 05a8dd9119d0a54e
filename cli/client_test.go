package cli

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A call ends by itself, and not before the service has had the time to wait that it was asked to.
func TestClient_Deadline(t *testing.T) {
	c, err := (&app{}).client()
	if err != nil {
		t.Fatal(err)
	}
	for _, wait := range []time.Duration{0, maxWait} {
		var left time.Duration
		c.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			deadline, _ := r.Context().Deadline()
			left = time.Until(deadline)
			return nil, errors.New("no network here")
		})
		if _, err := c.do(context.Background(), call{method: http.MethodGet, path: path("stats"), wait: wait}); err == nil {
			t.Error("a call without a network succeeded")
		}
		if most := callTimeout + wait; left > most || left < most-10*time.Second {
			t.Errorf("wait %s: the deadline is %s away, want %s", wait, left, most)
		}
	}
}
