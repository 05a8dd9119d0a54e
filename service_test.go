package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	if err := initLedger(context.Background(), p.load()); err != nil {
		t.Fatal(err)
	}
	return p
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
	d, err := check(context.Background(), p.load())
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

// answer is what came back, read as a row and as a problem; the structs are the test's own, so that they cannot share
// a mistake with the service.
type answer struct {
	status int
	header http.Header
	body   string
	row
	problem
}

type row struct {
	ID           string       `json:"id"`
	EventID      string       `json:"event_id"`
	DedupeKey    string       `json:"dedupe_key"`
	Duplicate    bool         `json:"duplicate"`
	State        string       `json:"state"`
	Reason       string       `json:"reason"`
	NextAction   string       `json:"next_action"`
	MaybeSent    bool         `json:"maybe_sent"`
	Recipient    string       `json:"recipient"`
	MessageID    string       `json:"message_id"`
	AttemptCount int          `json:"attempt_count"`
	ResendOf     string       `json:"resend_of"`
	Attempts     []attempt    `json:"attempts"`
	Settlements  []settlement `json:"settlements"`
	Resends      []string     `json:"resends"`
}

type attempt struct {
	Number  int    `json:"number"`
	Outcome string `json:"outcome"`
	Phase   string `json:"phase"`
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Error   string `json:"error"`
	Answer  string `json:"answer"`
}

type settlement struct {
	Action string `json:"action"`
	From   string `json:"from_state"`
	To     string `json:"to_state"`
	Actor  string `json:"actor"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

type problem struct {
	Code         string  `json:"code"`
	Errors       []fault `json:"errors"`
	Notification row     `json:"notification"`
}

type fault struct {
	Field string `json:"field"`
}

// field is the first field that a problem names.
func (a *answer) field() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Field
}

// ask makes one request; header lines are "Name: value". Only a lost answer is an error.
func (r *running) ask(ctx context.Context, method, path, body string, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	res, err := r.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, header: res.Header, body: string(raw)}
	if !strings.HasPrefix(path, "/v1/notifications") {
		return a, nil
	}
	if err := errors.Join(json.Unmarshal(raw, &a.row), json.Unmarshal(raw, &a.problem)); err != nil {
		return a, fmt.Errorf("status %d: %w: %s", a.status, err, raw)
	}
	return a, nil
}

func (r *running) do(method, path, body string, header ...string) answer {
	r.t.Helper()
	a, err := r.ask(context.Background(), method, path, body, header...)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// post claims an event.
func (r *running) post(body string, header ...string) answer {
	r.t.Helper()
	return r.do(http.MethodPost, "/v1/notifications", body, header...)
}

// settled claims an event, or meets it again, and returns when its first attempt, or the running one, has ended.
func (r *running) settled(body string, header ...string) answer {
	r.t.Helper()
	return r.post(body, append(header, "Prefer: wait=30")...)
}

// get reads a row in full.
func (r *running) get(id string) answer {
	r.t.Helper()
	return r.do(http.MethodGet, "/v1/notifications/"+id, "")
}

// until waits for a state of a row.
func (r *running) until(id, state string) answer {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		a := r.get(id)
		if a.State == state {
			return a
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s is %s (%s) after %v, want %s", a.EventID, a.State, a.Reason, patience, state)
		}
	}
}

// rows demands how many rows the ledger has.
func (r *running) rows(want int) {
	r.t.Helper()
	var got struct {
		Notifications int `json:"notifications"`
	}
	a := r.do(http.MethodGet, "/v1/stats", "")
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Notifications != want {
		r.t.Errorf("%d rows (%v), want %d", got.Notifications, err, want)
	}
}

// event is the JSON of a claim: members of its own before the usual ones of an SMS.
func event(members string) string {
	body := "{" + members
	for name, value := range map[string]string{
		"channel": `"sms"`, "recipient": `"+15550100001"`, "message": `{"text":"Order tok_a shipped."}`,
	} {
		if !strings.Contains(members, `"`+name+`":`) {
			body += `,"` + name + `":` + value
		}
	}
	return body + "}"
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
