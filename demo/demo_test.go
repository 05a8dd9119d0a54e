package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"sendonce/api"
	"sendonce/fake"
	"sendonce/terminal"
)

// program is the real binary, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sendonce-demo-test-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "sendonce")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", binary, "sendonce")
	cmd.Stderr = os.Stderr
	return binary, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if binary, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(code)
}

// page is a writer that tells when a text has been written to it.
type page struct {
	mu    sync.Mutex
	text  bytes.Buffer
	until string
	seen  chan struct{}
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := strings.Contains(p.text.String(), p.until)
	n, err := p.text.Write(b)
	if !before && strings.Contains(p.text.String(), p.until) {
		close(p.seen)
	}
	return n, err
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func options(t *testing.T, out, errs *page) Options {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	screen := func(p *page) *terminal.Screen {
		return terminal.Open(p, terminal.Auto, func(string) string { return "" })
	}
	return Options{Events: 60, Speed: 6, Seed: 7, Listen: "127.0.0.1:0", Binary: binary, Out: screen(out), Err: screen(errs)}
}

// The real service, killed twice in a day of faults: nobody receives a message twice and none is lost, while the loop beside it
// sends copies. Every message is accounted for on both sides.
func TestRun_NobodyReceivesTwice(t *testing.T) {
	out, errs := &page{until: "never"}, &page{until: "never"}
	o := options(t, out, errs)
	o.Once, o.JSON = true, true
	if err := Run(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s\n%s", err, errs, out)
	}
	var r Result
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	ours, theirs := r.Sendonce, r.Naive
	switch {
	case !r.Kept || ours.Twice != 0 || r.Lost != 0 || len(r.Check.Found) != 0 || r.Check.Rows != int64(o.Events) || r.Crashes != 2:
		t.Error("the promise is broken")
	case theirs.Twice == 0 || r.Copies.Retry == 0 || r.Copies.Asked == 0:
		t.Error("the loop without a ledger sends nothing twice: the day has no faults")
	case ours.Once-ours.WaitsOut+ours.Refused+ours.GaveUp+ours.Waits != o.Events || ours.Waits != len(r.Waiting):
		t.Error("messages of the service are not accounted for")
	case theirs.Once+theirs.Twice+theirs.Refused+theirs.GaveUp != o.Events || theirs.Out-theirs.Once-theirs.Twice != r.Copies.Retry+r.Copies.Asked+r.Copies.Crash:
		t.Error("messages of the loop are not accounted for")
	case ours.Out >= theirs.Out || r.Known == 0 || r.Settled.Repeat == 0 || r.Settled.Lost == 0:
		t.Error("nothing was suppressed or settled")
	}
	if t.Failed() {
		t.Logf("%s\n%s", errs, out)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Without Once the service stays, open to this machine, until it is told to go.
func TestRun_LeavesTheConsoleOpen(t *testing.T) {
	out := &page{until: "Ctrl-C ends", seen: make(chan struct{})}
	o := options(t, out, &page{until: "never"})
	o.Events, o.Speed = MinEvents, MaxSpeed
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o) }()
	select {
	case err := <-ended:
		t.Fatalf("it ended: %v\n%s", err, out)
	case <-out.seen:
	}
	found := regexp.MustCompile(`(?s)received twice or more +0 .*sendonce check: 0 differences in 20 rows.*The console: (http://\S+)/console`).FindStringSubmatch(out.String())
	if found == nil {
		t.Fatalf("got\n%s", out)
	}
	for _, path := range []string{"/console", "/v1/stats"} {
		res, err := http.Get(found[1] + path)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %+v", path, err, res)
			continue
		}
		_ = res.Body.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
	if _, err := http.Get(found[1]); err == nil {
		t.Error("the service is still there")
	}
}

// Who ends the demo in the middle of its day leaves nothing behind, and gets no error.
func TestRun_EndsInTheMiddle(t *testing.T) {
	out := &page{until: "kill -9", seen: make(chan struct{})}
	o := options(t, out, &page{until: "never"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-out.seen
		cancel()
	}()
	if err := Run(ctx, o); err != nil || strings.Contains(out.String(), "WHAT PEOPLE GOT") {
		t.Errorf("%v\n%s", err, out)
	}
	address := regexp.MustCompile(`http://[0-9.:]+`).FindString(out.String())
	if _, err := http.Get(address); err == nil || address == "" {
		t.Errorf("the service at %q is still there", address)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestFreeAddress_OfThisMachine(t *testing.T) {
	for _, listen := range []string{"", "127.0.0.1:0", "[::1]:0", "localhost:0"} {
		if address, err := freeAddress(listen); err != nil && listen != "[::1]:0" || err == nil && strings.HasSuffix(address, ":0") {
			t.Errorf("%q: %q, %v", listen, address, err)
		}
	}
	for _, listen := range []string{"0.0.0.0:0", ":0", "example.com:80", "8484", "192.0.2.1:0"} {
		if address, err := freeAddress(listen); err == nil {
			t.Errorf("%q: %s", listen, address)
		}
	}
}

// A loss shows: a row that claims to be sent while nobody received it, and a message without a row.
func TestCount_SeesLosses(t *testing.T) {
	d := &day{script: write(1, MinEvents), ours: map[string]*provider{}, theirs: map[string]*provider{}}
	d.shop, d.naive = newShop(nil), newNaive(nil)
	for _, k := range kinds {
		d.ours[k.provider], d.theirs[k.provider] = &provider{Provider: fake.New(fake.Options{})}, &provider{Provider: fake.New(fake.Options{})}
	}
	rejected := "rejected"
	rows := map[string]*api.Record{
		d.script[0].token: {Notification: api.Notification{State: "sent"}},
		d.script[1].token: {Notification: api.Notification{State: "failed", Reason: &rejected}},
		d.script[2].token: {Notification: api.Notification{State: "ambiguous"}},
	}
	r := d.count(rows)
	if r.Lost != MinEvents-2 || r.Sendonce.Refused != 1 || r.Sendonce.Waits != 1 || r.Sendonce.WaitsOut != 0 || r.Naive.GaveUp != MinEvents {
		t.Errorf("got %+v", r)
	}
}

func TestWrite_TheSameSeedTheSameDay(t *testing.T) {
	a, b := write(3, 200), write(3, 200)
	crashes, faulty, again, tokens := 0, 0, 0, map[string]bool{}
	for i, n := range a {
		if n.token != b[i].token || n.at != b[i].at || n.text != b[i].text || n.event() != b[i].event() {
			t.Fatalf("%+v and %+v", n, b[i])
		}
		if tokens[n.token] || token.FindString(n.text) != n.token || n.at > openFor {
			t.Errorf("%+v", n)
		}
		tokens[n.token] = true
		if n.crash {
			crashes++
		}
		faulty += len(n.faults)
		again += len(n.again)
	}
	if crashes != 2 || faulty < 40 || faulty > 100 || again < 15 {
		t.Errorf("%d crashes, %d faults, asked for again %d times", crashes, faulty, again)
	}
}
