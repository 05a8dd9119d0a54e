package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sendonce/config"
)

// BenchmarkNotification runs whole notifications through the real wiring: 64 callers each wait for their message to be
// recorded as sent. CPU and allocations include the provider's side of the connection, which is in the same process.
func BenchmarkNotification(b *testing.B) {
	benchmark(b, "Prefer", "wait=30", http.StatusAccepted, false)
}

// BenchmarkRepeat asks again and again for one event that was sent.
func BenchmarkRepeat(b *testing.B) { benchmark(b, "X-Nothing", "", http.StatusOK, true) }

func benchmark(b *testing.B, header, value string, want int, repeat bool) {
	var n atomic.Int64
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"ok":true,"data":{"results":[{"message_id":"msg_%d"}]},"error":null,"metadata":{}}`, n.Add(1))
	}))
	defer provider.Close()
	c := benchConfig(b, provider.URL)
	if err := initLedger(context.Background(), c); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s, err := start(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	door := s.api.Handler()
	post := func(event string) int {
		body := `{"event_id":"` + event + `","channel":"sms","recipient":"+14155550142","message":{"text":"Order A-2291 shipped."}}`
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/notifications", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(header, value)
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		return w.Code
	}
	if repeat {
		post("evt_0")
	}
	var events atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			event := "evt_0"
			if !repeat {
				event = fmt.Sprintf("evt_%d", events.Add(1))
			}
			if code := post(event); code != want {
				b.Errorf("%s: %d, want %d", event, code, want)
			}
		}
	})
	b.StopTimer()
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

func benchConfig(b testing.TB, url string) config.Config {
	b.Helper()
	dir := b.TempDir()
	c, err := config.Load(config.Source{Env: []string{
		"SENDONCE_LISTEN=127.0.0.1:0",
		"SENDONCE_DATABASE=" + filepath.Join(dir, "sendonce.db"),
		"SENDONCE_PROVIDERS__MAIN__TYPE=infrai",
		"SENDONCE_PROVIDERS__MAIN__API_KEY=test",
		"SENDONCE_PROVIDERS__MAIN__BASE_URL=" + url,
		"SENDONCE_PROVIDERS__MAIN__WORKERS=256",
		"SENDONCE_CHANNELS__SMS__PROVIDERS=main",
	}})
	if err != nil {
		b.Fatal(err)
	}
	return c
}
