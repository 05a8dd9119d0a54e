package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/config"
	"sendonce/fake"
)

// bubbleWorld is a whole service in a bubble, with its providers; everything between them goes through memory.
type bubbleWorld struct {
	t      *testing.T
	fakes  map[string]*fake.Provider
	lines  map[string]*line
	config string
	dir    string
	places int
	book   *logBook

	mu    sync.Mutex
	down  map[string]bool // providers that nobody reaches now
	life  *life           // nil: no process runs
	end   context.CancelFunc
	ended chan error
}

const bubbleKey = "example-operator-key"

// newBubbleWorld starts a service and its providers, each as the options say, but for where its receipts go. No names: all.
func newBubbleWorld(t *testing.T, o fake.Options, names ...string) *bubbleWorld {
	w := &bubbleWorld{
		t: t, fakes: map[string]*fake.Provider{}, lines: map[string]*line{}, down: map[string]bool{},
		book: &logBook{}, dir: t.TempDir(),
	}
	w.config = strings.ReplaceAll(bubbleConfig, "SUM", sumOf(bubbleKey))
	channels := map[string][]string{}
	for n, kind := range bubbleKinds {
		if len(names) > 0 && !slices.Contains(names, kind.name) {
			continue
		}
		channels[kind.channel] = append(channels[kind.channel], kind.name)
		url := fmt.Sprintf("http://10.0.0.%d", n+1) // a private address needs no TLS; nobody dials it
		o.Seed++
		o.Receipts.Client, o.Receipts.Webhook = &http.Client{Transport: roadToUs{w}}, "https://notify.example.test/v1/receipts/"+kind.name
		o.Receipts.Keys = fake.Keys{TwilioKeyID: "example", TwilioSharedKey: "example-shared-key"}
		f := fake.New(o)
		t.Cleanup(func() { _ = f.Close() })
		w.fakes[kind.name], w.lines[kind.name] = f, newLine()
		if kind.name == "smtp" {
			f.ServeSMTP(w.lines[kind.name])
		} else {
			f.Serve(w.lines[kind.name])
		}
		w.config += "  " + kind.name + ": " + strings.NewReplacer("URL", url, "CREDENTIALS", serviceAccount(t, url+fake.TokenPath)).Replace(kind.settings) + "\n"
	}
	w.config += "channels:\n"
	for _, channel := range slices.Sorted(maps.Keys(channels)) {
		w.config += "  " + channel + ": {providers: [" + strings.Join(channels[channel], ", ") + "]}\n"
	}
	w.newPlace()
	if err := initLedger(context.Background(), w.load()); err != nil {
		t.Fatal(err)
	}
	w.start()
	t.Cleanup(w.stop)
	return w
}

// newPlace makes a new folder for the ledger.
func (w *bubbleWorld) newPlace() (dir string) {
	w.places++
	dir = filepath.Join(w.dir, fmt.Sprint(w.places))
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

func (w *bubbleWorld) place() string { return filepath.Join(w.dir, fmt.Sprint(w.places)) }

// load reads the configuration and puts the lines in the network's place.
func (w *bubbleWorld) load() config.Config {
	w.t.Helper()
	file := filepath.Join(w.place(), "sendonce.yaml")
	// The braces keep it apart from what a private key in base64 may hold by chance.
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(w.config, "{DIR}", w.place())), 0o600); err != nil {
		w.t.Fatal(err)
	}
	c, err := config.Load(config.Source{File: file, FileGiven: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// start starts the service.
func (w *bubbleWorld) start() {
	w.t.Helper()
	c := w.load()
	process := newLife()
	for name, p := range c.Providers {
		p.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			w.mu.Lock()
			off := w.down[name]
			w.mu.Unlock()
			if off {
				return nil, refused(syscall.ECONNREFUSED)
			}
			return process.dial(ctx, w.lines[name])
		}
		c.Providers[name] = p
	}
	ctx, cancel := context.WithCancel(context.Background())
	s, err := prepare(ctx, c, slog.New(slog.NewJSONHandler(w.book, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	s.ln = process.door
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life, w.end, w.ended = process, cancel, ended
}

// stop ends the service in order, if it runs.
func (w *bubbleWorld) stop() {
	w.t.Helper()
	w.mu.Lock()
	process, end, ended := w.life, w.end, w.ended
	w.life = nil
	w.mu.Unlock()
	if process == nil {
		return
	}
	defer process.cut()
	process.http.CloseIdleConnections()
	end()
	if err := <-ended; err != nil {
		w.t.Errorf("the service ended with %v", err)
	}
}

// check demands that the ledger's history and its rows agree. The service is stopped.
func (w *bubbleWorld) check() {
	w.t.Helper()
	d, err := check(context.Background(), w.load(), nobodyLooks)
	if err != nil || len(d.Found) > 0 {
		w.t.Errorf("check: %v %+v", err, d.Found[:min(len(d.Found), 5)])
	}
}

// crash drops the process as it is and, after a while, starts another on a copy of its files. Everybody waits when the files are
// copied, so the copy is of one moment; what the dropped process does from then on reaches nobody.
func (w *bubbleWorld) crash(pause time.Duration) {
	w.t.Helper()
	synctest.Wait()
	from := w.place()
	to := w.newPlace()
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		b, err := os.ReadFile(filepath.Join(from, "sendonce.db"+suffix))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, "sendonce.db"+suffix), b, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	w.mu.Lock()
	process, end, ended := w.life, w.end, w.ended
	w.life = nil
	w.mu.Unlock()
	process.cut()
	end()
	<-ended // what it says concerns nobody
	if err := os.RemoveAll(from); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(pause)
	w.start()
}

// do makes a request as an operator and reads the answer; header lines are "Name: value".
func (w *bubbleWorld) do(method, path, body string, into any, header ...string) {
	w.t.Helper()
	request, err := http.NewRequest(method, "http://notify.example.test"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+bubbleKey)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	answer, err := w.life.http.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || answer.StatusCode >= 300 {
		w.t.Fatalf("%s %s: %d %v %.500s", method, path, answer.StatusCode, err, text)
	}
}
