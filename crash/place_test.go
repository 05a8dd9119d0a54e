package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sendonce/fake"
)

// place is a folder with a ledger and its configuration, and the provider that it sends to.
type place struct {
	t        *testing.T
	dir      string
	config   string
	database string
	fake     *fake.Provider
	hook     string // URL below which the provider takes webhooks
	started  []*service
}

// setting changes one value of the configuration.
type setting struct{ old, new string }

const configuration = `
listen: 127.0.0.1:0
database: DATABASE
providers:
  sms_main: {type: infrai, api_key: key-of-main, base_url: MAIN, workers: 64}
  sms_backup: {type: infrai, api_key: key-of-backup, base_url: BACKUP, workers: 64}
  hooks: {type: webhook, secret: whsec_bm90LWEtc2VjcmV0LW9ubHktYS10ZXN0LXNlY3JldA==, urls: ["MAIN/hook/"], allow_private: ["127.0.0.0/8"]}
channels:
  sms: {providers: [sms_main, sms_backup], timeout: 30s}
  webhook: {providers: [hooks], timeout: 30s, retry: [50ms, 100ms, 200ms]}
near_duplicate: {action: "off"}
shutdown: {drain: 20s}
storage: {reserve: 1MiB}
`

// newPlace makes a folder with a new ledger. The provider is closed with the test.
func newPlace(t *testing.T, o fake.Options, changes ...setting) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t: t, dir: dir, config: filepath.Join(dir, "sendonce.yaml"), database: filepath.Join(dir, "sendonce.db"), fake: fake.New(o)}
	t.Cleanup(func() { _ = p.fake.Close() })
	var urls [2]string
	for i := range urls {
		var err error
		if urls[i], err = p.fake.Listen("127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	p.hook = urls[0] + "/hook/"
	text := configuration
	for _, c := range changes {
		if c.old == "DATABASE" {
			p.database = c.new
		}
		if !strings.Contains(text, c.old) {
			t.Fatalf("the configuration has no %q to change", c.old)
		}
		text = strings.Replace(text, c.old, c.new, 1)
	}
	text = strings.NewReplacer("DATABASE", p.database, "MAIN", urls[0], "BACKUP", urls[1]).Replace(text)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := p.run("init"); code != 0 {
		t.Fatalf("init: exit code %d\n%s", code, out)
	}
	return p
}

// run runs a command of the binary to its end and returns its exit code and output.
func (p *place) run(command ...string) (int, string) {
	p.t.Helper()
	bin := program(p.t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, append(command, "--config", p.config)...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// check demands that the ledger's history and its rows agree.
func (p *place) check() {
	p.t.Helper()
	if code, out := p.run("check"); code != 0 {
		p.t.Errorf("check: exit code %d\n%s", code, out)
	}
}

// received demands how often the person behind a token got the message.
func (p *place) received(token string, want int) {
	p.t.Helper()
	if got := p.fake.Received(token); got != want {
		p.t.Errorf("%s was received %d times, want %d", token, got, want)
	}
}

// copyFiles copies the ledger's files, the lock file not among them, from one folder to another.
func (p *place) copyFiles(from, to string) {
	p.t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		name := filepath.Base(p.database) + suffix
		b, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(filepath.Join(to, name))
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			p.t.Fatal(fmt.Errorf("copy of %s: %w", name, err))
		}
	}
}
