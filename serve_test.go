package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sendonce/ledger"
	"sendonce/store"
)

// Keeps out that repeats are not counted which were answered while the service stopped, after the loop had ended.
func TestServe_LastRepeatsAreCounted(t *testing.T) {
	c := benchConfig(t, "http://127.0.0.1:9")
	if err := initLedger(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	s, err := start(context.Background(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/notifications",
			strings.NewReader(`{"event_id":"e1","channel":"sms","recipient":"+14155550142","message":{"text":"hello"}}`))
		r.Header.Set("Content-Type", "application/json")
		s.api.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	looked, err := store.OpenReadOnly(storeOptions(c, slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = looked.Shutdown() }()
	page, err := looked.List(context.Background(), ledger.Filter{Limit: 1})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Duplicates != 2 {
		t.Errorf("rows %+v (%v)", page.Rows, err)
	}
}
