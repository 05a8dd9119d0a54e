package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What the API adds to a claim: reading the event.
func BenchmarkDecode_Event(b *testing.B) {
	body := []byte(bodies["POST /v1/notifications"])
	b.ReportAllocs()
	for b.Loop() {
		var e Event
		if err := decode(body, &e); err != nil {
			b.Fatal(err)
		}
	}
}

// The whole of a claim but for the ledger: routing, key, reading, rendering.
func BenchmarkClaim_Handler(b *testing.B) {
	s := newStub()
	h := New(s, Settings{Keys: testKeys}, quiet()).Handler()
	body := bodies["POST /v1/notifications"]
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/v1/notifications", strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer key-sender"}}
		w := discard{header: http.Header{}}
		if h.ServeHTTP(&w, r); w.status != 202 {
			b.Fatal(w.status)
		}
		s.events = s.events[:0]
	}
}

// A batch of 100 items.
func BenchmarkBatch_100(b *testing.B) {
	s := newStub()
	h := New(s, Settings{}, quiet()).Handler()
	body := batchOf(strings.Split(strings.Repeat(bodies["POST /v1/notifications"]+"|", 99)+bodies["POST /v1/notifications"], "|")...)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "http://localhost/v1/notifications/batch", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := discard{header: http.Header{}}
		if h.ServeHTTP(&w, r); w.status != 200 {
			b.Fatal(w.status)
		}
		s.events = s.events[:0]
	}
}

// discard is a response that nobody reads.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
