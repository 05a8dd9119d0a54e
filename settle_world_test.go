package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/config"
	"sendonce/fake"
)

// settleKinds are the providers of the settle run: how a lost answer of each is settled, and the share of them that has to be
// settled without a person.
var settleKinds = []struct {
	name, channel, settings string
	share                   int // per cent
}{
	{"infrai", "sms", `{type: infrai, api_key: example-key, repeat_window: 24h, base_url: "URL"}`, 95},
	{"twilio", "sms", `{type: twilio, account_sid: AC00000000000000000000000000000000, auth_token: example-token, from: "+15005550006", ` +
		`shared_keys: {example: example-shared-key}, base_url: "URL"}`, 90},
	{"vonage", "sms", `{type: vonage, api_key: abcd1234, api_secret: example-secret, from: AcmeShip, signature_secret: ` + fake.VonageSecret +
		`, base_url: "URL"}`, 95},
	{"vonage_messages", "sms", `{type: vonage, api: messages, api_key: abcd1234, api_secret: example-secret, from: AcmeShip, signature_secret: ` +
		fake.VonageSecret + `, base_url: "URL"}`, 95},
	{"sendgrid", "email", `{type: sendgrid, api_key: example-key, from: "Shop <shop@example.test>", webhook_public_key: "` + fake.EventKey() +
		`", base_url: "URL"}`, 95},
	{"resend", "email", `{type: resend, api_key: example-key, from: "Shop <shop@example.test>", webhook_secret: ` + fake.SvixSecret +
		`, base_url: "URL"}`, 95},
	{"smtp", "email", `{type: smtp, address: "127.0.0.1:25", tls: none, from: "Shop <shop@example.test>"}`, 0},
	{"fcm", "push", `{type: fcm, credentials: CREDENTIALS, base_url: "URL"}`, 0},
}

// settleConfig is everything but the providers. Rows of the type again.* may be sent once more, which their owner accepts.
const settleConfig = `
listen: 127.0.0.1:0
database: DIR/sendonce.db
public_url: https://notify.example.test
auth:
  keys: [{name: shop, sha256: "SUM", roles: [send, read, operate]}]
channels:
  sms: {providers: [infrai, twilio, vonage, vonage_messages]}
  email: {providers: [sendgrid, resend, smtp]}
  push: {providers: [fcm]}
policies:
  - {event_type: "again.*", on_ambiguous: send_again, after: 10m}
near_duplicate: {action: "off"}
storage: {reserve: 1MiB}
providers:
`

// settleWeights lose the answer of every tenth request. In two of a hundred of these nobody took the message either, which no
// receipt and no look-up ever tells.
var settleWeights = map[fake.Behaviour]int{
	fake.Accept: 8700, fake.AcceptSlow: 100, fake.AcceptReset: 400, fake.AcceptError: 300, fake.AcceptHang: 280, fake.Lose: 10, fake.Unavailable: 10,
	fake.Throttle: 50, fake.Refuse: 100, fake.Unauthorized: 5, fake.Defer: 45,
}

// settleWorld is a whole service in a bubble, with its providers; everything between them goes through memory.
type settleWorld struct {
	t      *testing.T
	random *rand.Rand
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

	crashes, outages int
	ids              []string // of the rows, in the order of the events
}

const settleKey = "example-operator-key"

func newSettleWorld(t *testing.T, seed uint64) *settleWorld {
	w := &settleWorld{
		t: t, random: rand.New(rand.NewPCG(seed, seed)), fakes: map[string]*fake.Provider{}, lines: map[string]*line{}, down: map[string]bool{},
		book: &logBook{}, dir: t.TempDir(),
	}
	w.config = strings.ReplaceAll(settleConfig, "SUM", sumOf(settleKey))
	for n, kind := range settleKinds {
		url := fmt.Sprintf("http://10.0.0.%d", n+1) // a private address needs no TLS; nobody dials it
		f := fake.New(fake.Options{
			Seed: seed + uint64(n), Weights: settleWeights, HonourKeys: true, Delay: 300 * time.Millisecond,
			Receipts: fake.Receipts{
				Client: &http.Client{Transport: roadToUs{w}}, Webhook: "https://notify.example.test/v1/receipts/" + kind.name, After: 30 * time.Minute,
				Keys: fake.Keys{TwilioKeyID: "example", TwilioSharedKey: "example-shared-key"},
			},
			LookUps: fake.LookUps{Lag: 3 * time.Minute, Hidden: 1},
		})
		t.Cleanup(func() { _ = f.Close() })
		w.fakes[kind.name], w.lines[kind.name] = f, newLine()
		if kind.name == "smtp" {
			f.ServeSMTP(w.lines[kind.name])
		} else {
			f.Serve(w.lines[kind.name])
		}
		w.config += "  " + kind.name + ": " + strings.NewReplacer("URL", url, "CREDENTIALS", serviceAccount(t, url+fake.TokenPath)).Replace(kind.settings) + "\n"
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
func (w *settleWorld) newPlace() (dir string) {
	w.places++
	dir = filepath.Join(w.dir, fmt.Sprint(w.places))
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

func (w *settleWorld) place() string { return filepath.Join(w.dir, fmt.Sprint(w.places)) }

// load reads the configuration and puts the lines in the network's place.
func (w *settleWorld) load() config.Config {
	w.t.Helper()
	file := filepath.Join(w.place(), "sendonce.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(w.config, "DIR", w.place())), 0o600); err != nil {
		w.t.Fatal(err)
	}
	c, err := config.Load(config.Source{File: file, FileGiven: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// start starts the service.
func (w *settleWorld) start() {
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
func (w *settleWorld) stop() {
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

// crash drops the process as it is and, after a while, starts another on a copy of its files. Everybody waits when the files are
// copied, so the copy is of one moment; what the dropped process does from then on reaches nobody.
func (w *settleWorld) crash(pause time.Duration) {
	w.t.Helper()
	w.crashes++
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

// roadToUs is the way of receipts: it takes a while, ends where nobody is there, and loses the answer of a process that dies.
type roadToUs struct{ w *settleWorld }

// RoundTrip implements http.RoundTripper.
func (r roadToUs) RoundTrip(request *http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Millisecond))))
	w := r.w
	w.mu.Lock()
	process := w.life
	w.mu.Unlock()
	if process == nil {
		return nil, refused(syscall.ECONNREFUSED)
	}
	there := request.Clone(request.Context())
	there.URL.Scheme = "http" // whoever ends TLS before us passes the rest on as it is
	answer, err := process.http.Transport.RoundTrip(there)
	time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Millisecond))))
	if err == nil && !process.alive() {
		_ = answer.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return answer, err
}
