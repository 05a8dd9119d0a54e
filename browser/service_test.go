package browser

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/fake"
)

// settings are those of every service here. A key is "key-" and its name. SMS go to the fake, everything else into the mailbox.
const settings = `
listen: 127.0.0.1:0
database: DIR/sendonce.db
auth:
  keys:
    - {name: operator, sha256: HASH(operator), roles: [operate]}
    - {name: reader, sha256: HASH(reader), roles: [read]}
    - {name: app, sha256: HASH(app), roles: [send]}
    - {name: shop, sha256: HASH(shop), roles: [send, operate], source: shop}
providers:
  sms_main: {type: infrai, api_key: SECRETCANARY1, base_url: URL, price: 0.0079 USD, look_up: "off"}
  outbox: {type: log}
channels:
  sms: {providers: [sms_main], timeout: 10s, retry: [1h], region: US}
  email: {providers: [outbox]}
  push: {providers: [outbox]}
  webhook: {providers: [outbox]}
near_duplicate: {action: "off"}
storage: {reserve: 1MiB}
`

// service is a running `sendonce serve` and the provider that it sends to.
type service struct {
	t    *testing.T
	fake *fake.Provider
	base string // URL
	log  *book
	wait string // what a claim prefers

	process *os.Process
}

// book keeps what the service logs and tells its address.
type book struct {
	mu    sync.Mutex
	text  bytes.Buffer
	found chan string
}

var address = regexp.MustCompile(`msg=listening address=(\S+)`)

func (b *book) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := address.Match(b.text.Bytes())
	n, err := b.text.Write(p)
	if m := address.FindSubmatch(b.text.Bytes()); m != nil && !before && bytes.HasSuffix(p, []byte("\n")) {
		b.found <- string(m[1])
	}
	return n, err
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// serve starts a service on a new ledger; it ends with the test. changes are pairs of an old text of the settings and a new one.
func serve(t *testing.T, changes ...string) *service {
	t.Helper()
	browser(t) // before anything is built for nothing
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, fake: fake.New(fake.Options{WellBehaved: true}), log: &book{found: make(chan string, 1)}, wait: "wait=30"}
	t.Cleanup(func() { _ = s.fake.Close() })
	url, err := s.fake.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := regexp.MustCompile(`HASH\((\w+)\)`).ReplaceAllStringFunc(settings, func(m string) string {
		sum := sha256.Sum256([]byte("key-" + m[5:len(m)-1]))
		return `"` + hex.EncodeToString(sum[:]) + `"`
	})
	config = strings.NewReplacer(append(changes, "DIR", dir, "URL", url)...).Replace(config)
	file := filepath.Join(dir, "sendonce.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(bin, "init", "--config", file).CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, "serve", "--config", file)
	cmd.Dir, cmd.Stderr, cmd.Stdout = dir, s.log, io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = cmd.Process
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if strings.Contains(s.log.String(), "breach of the console's policy") {
			t.Error("a browser reported that a page broke its policy")
		}
		if t.Failed() {
			t.Logf("the service's log:\n%s", s.log)
		}
	})
	select {
	case at := <-s.log.found:
		s.base = "http://" + at
	case <-ended:
		t.Fatalf("the service ended at its start:\n%s", s.log)
	case <-time.After(patience):
		t.Fatalf("the service does not listen:\n%s", s.log)
	}
	until(t, "the service is ready", func() bool {
		res, err := http.Get(s.base + "/readyz")
		return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
	})
	return s
}

// row is what these tests read of a notification.
type row struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Version int    `json:"version"`
	Resends []string
}

// call is a request to the API with the key of a name.
func (s *service) call(key, method, path string, body any) (out row) {
	s.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequest(method, s.base+path, bytes.NewReader(b))
	if err != nil {
		s.t.Fatal(err)
	}
	if body == nil {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer key-"+key)
	req.Header.Set("Prefer", s.wait)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	return out
}

// fields are those of a claim.
type fields = map[string]any

// claim claims an SMS, with other fields than these where some are given, and waits for its first attempt.
func (s *service) claim(f fields) row {
	s.t.Helper()
	claim := fields{"event_id": "evt_1", "event_type": "order.shipped", "source": "shop", "channel": "sms", "recipient": "+14155550142", "message": fields{"text": "tok_order Your order has left."}}
	for name, value := range f {
		claim[name] = value
	}
	return s.call("app", http.MethodPost, "/v1/notifications", claim)
}

// lose claims an SMS whose answer gets lost: the fake sends it out and nobody hears of it.
func (s *service) lose(f fields) row {
	s.t.Helper()
	s.fake.Force(fake.AcceptReset)
	n := s.claim(f)
	if n.State != "ambiguous" {
		s.t.Fatalf("the row whose answer was lost is %s", n.State)
	}
	return n
}

// get is a row as it is now.
func (s *service) get(id string) row {
	s.t.Helper()
	return s.call("operator", http.MethodGet, "/v1/notifications/"+id, nil)
}

// until asks until the answer is yes; context says more where it never comes.
func until(t *testing.T, what string, yes func() bool, context ...func() string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !yes(); <-tick.C {
		if time.Now().After(end) {
			for _, say := range context {
				what += "\n" + say()
			}
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}
