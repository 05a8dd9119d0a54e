package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/config"
	"sendonce/fake"
)

// patience bounds every single wait: what takes longer is broken.
const patience = 60 * time.Second

// place is a folder with the configuration of a whole service, and the provider that it sends to.
type place struct {
	t      *testing.T
	dir    string
	config string // YAML
	fake   *fake.Provider
	hook   string // URL below which the fake takes webhooks
	book   *logBook
}

const settings = `
listen: 127.0.0.1:0
database: DIR/sendonce.db
providers:
  sms_main: {type: infrai, api_key: example-key, base_url: URL}
  hooks: {type: webhook, secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, urls: ["URL/hook/"], allow_private: ["127.0.0.0/8"]}
channels:
  sms: {providers: [sms_main], timeout: 30s, retry: [50ms, 100ms, 200ms]}
  webhook: {providers: [hooks], timeout: 30s, retry: [50ms, 100ms, 200ms]}
near_duplicate: {action: "off"}
storage: {reserve: 1MiB}
`

// newPlace makes a folder with a new ledger. Changes are pairs of an old text of the settings and a new one.
func newPlace(t *testing.T, o fake.Options, changes ...string) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), fake: fake.New(o), book: &logBook{}}
	t.Cleanup(func() { _ = p.fake.Close() })
	url, err := p.fake.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.hook = url + "/hook/"
	p.config = settings
	p.change(changes...)
	p.change("DIR", p.dir, "URL", url)
	p.init()
	return p
}

// init makes a new ledger in the folder.
func (p *place) init() {
	p.t.Helper()
	if err := initLedger(context.Background(), p.load()); err != nil {
		p.t.Fatal(err)
	}
}

// change changes the settings for the next start.
func (p *place) change(pairs ...string) {
	p.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(p.config, pairs[i]) {
			p.t.Fatalf("the settings have no %q to change", pairs[i])
		}
		p.config = strings.ReplaceAll(p.config, pairs[i], pairs[i+1])
	}
}

func (p *place) load() config.Config {
	p.t.Helper()
	file := filepath.Join(p.dir, "sendonce.yaml")
	if err := os.WriteFile(file, []byte(p.config), 0o600); err != nil {
		p.t.Fatal(err)
	}
	c, err := config.Load(config.Source{File: file, FileGiven: true})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// running is the real wiring at work, on a port of its own.
type running struct {
	*place
	base  string
	http  *http.Client
	end   context.CancelFunc
	ended chan error
}

// start starts the service. It is stopped with the test, if not before.
func (p *place) start() *running {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := start(ctx, p.load(), slog.New(slog.NewJSONHandler(p.book, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		cancel()
		p.t.Fatal(err)
	}
	r := &running{place: p, base: "http://" + s.ln.Addr().String(), end: cancel, ended: make(chan error, 1)}
	r.http = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	go func() { r.ended <- s.run(ctx) }()
	p.t.Cleanup(r.stop)
	return r
}

// stop ends the service and waits until it has. A second call does nothing.
func (r *running) stop() {
	r.t.Helper()
	if r.end == nil {
		return
	}
	r.end()
	r.end = nil
	r.http.CloseIdleConnections()
	select {
	case err := <-r.ended:
		if err != nil {
			r.t.Errorf("the service ended with %v", err)
		}
	case <-time.After(patience):
		r.t.Fatalf("the service has not stopped after %v", patience)
	}
}

// check demands that the ledger's history and its rows agree. The service may run.
func (p *place) check() {
	p.t.Helper()
	d, err := check(context.Background(), p.load(), nobodyLooks)
	if err != nil || len(d.Found) > 0 {
		p.t.Errorf("check: %v %+v", err, d.Found)
	}
}

// calls demands how many requests the provider has read in all.
func (p *place) calls(want int) {
	p.t.Helper()
	if got := p.fake.Requests(); got != want {
		p.t.Errorf("the provider read %d requests, want %d", got, want)
	}
}

// logBook keeps every line of a log.
type logBook struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (b *logBook) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.Write(line)
}

func (b *logBook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.String()
}

// lines counts the lines that have a text.
func (b *logBook) lines(text string) (n int) {
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// sumOf is the hash under which the configuration knows a key.
func sumOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// recv takes from a channel what must come soon.
func recv[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("nothing came in %v", patience)
		panic("unreachable")
	}
}
