package providers

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// prismVersion is the last that runs on Node 20.
const prismVersion = "5.14.2"

// prismWait bounds what Prism takes to start and to write its log.
const prismWait = time.Minute

// prism is a mock server that holds requests against a provider's description.
type prism struct {
	url   string
	log   *prismLog
	asked int // requests that the log has
	found int // complaints in it
}

// startPrism starts Prism on a description and ends it with the test.
func startPrism(t *testing.T, d description) *prism {
	t.Helper()
	program := installPrism(t)
	_, port, _ := net.SplitHostPort(freeAddress(t))
	p := &prism{url: "http://127.0.0.1:" + port, log: &prismLog{wrote: make(chan struct{}, 1)}}
	// Without npx, which starts it as a child of its own and leaves that one behind.
	cmd := exec.Command("node", program, "mock", "-h", "127.0.0.1", "-p", port, d.write(t))
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Prism's log:\n%s", p.log.String())
		}
	})
	p.log.await(t, "start", func(text string) bool { return strings.Contains(text, "Prism is listening") })
	return p
}

var prismOnce struct {
	sync.Mutex
	program string
}

// installPrism puts Prism into the user's cache folder, so that only the first run needs the network, and returns its program.
func installPrism(t *testing.T) string {
	t.Helper()
	if !*wire {
		t.Skip("SKIPPED: needs -wire (make test-wire)")
	}
	prismOnce.Lock()
	defer prismOnce.Unlock()
	if prismOnce.program != "" {
		return prismOnce.program
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			unproven(t, "there is no %s", tool)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		unproven(t, "no cache folder: %v", err)
	}
	dir := filepath.Join(cache, "sendonce-wire", prismVersion)
	program, done := filepath.Join(dir, "node_modules", ".bin", "prism"), filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err != nil {
		if err := npmInstall(dir, "@stoplight/prism-cli", prismVersion); err != nil {
			unproven(t, "Prism cannot be installed: %v", err)
		}
		if err := os.WriteFile(done, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	prismOnce.program = program
	return program
}

// npmInstall installs one package with what it needs into a folder.
func npmInstall(dir, name, version string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text := fmt.Sprintf(`{"name": "sendonce-wire", "private": true, "dependencies": {%q: %q}}`, name, version)
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(text), 0o644); err != nil {
		return err
	}
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefer-offline")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, out)
	}
	return nil
}

// unproven skips a test that cannot run here, and fails it where everything has to be proven.
func unproven(t *testing.T, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	if os.Getenv("CI") == "true" {
		t.Fatalf("nothing was proven: %s", why)
	}
	t.Skipf("SKIPPED: nothing was proven: %s", why)
}

// prismLog keeps what Prism prints.
type prismLog struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{}
}

func (l *prismLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.wrote <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

func (l *prismLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits until a condition on the log's text holds.
func (l *prismLog) await(t *testing.T, what string, holds func(text string) bool) {
	t.Helper()
	late := time.After(prismWait)
	for !holds(l.String()) {
		select {
		case <-l.wrote:
		case <-late:
			t.Fatalf("Prism's log has no %s:\n%s", what, l.String())
		}
	}
}

// hold sends a request and returns what Prism finds wrong with it, in its answer and in its log.
func (p *prism) hold(t *testing.T, s *sender, r *request, logged bool) (answer, log []string) {
	t.Helper()
	x := s.post(t.Context(), r)
	if x.status < 200 || x.status > 299 {
		answer = append(answer, fmt.Sprintf("%d %s %v", x.status, x.body, x.err))
	}
	if v := x.header.Get("sl-violations"); strings.Contains(v, "request") { // a violation of the description's own example is not ours
		answer = append(answer, v)
	}
	if !logged {
		return answer, nil
	}
	p.asked++
	p.log.await(t, fmt.Sprintf("%d requests", p.asked), func(text string) bool {
		return strings.Count(text, "> Responding with")+strings.Count(text, "Request terminated with error") >= p.asked
	})
	for line := range strings.Lines(p.log.String()) {
		// The negotiator only misses a body for answers that have none.
		complains := strings.Contains(line, " warning ") || strings.Contains(line, " error ")
		if complains && !strings.Contains(line, "[NEGOTIATOR]") && !strings.Contains(line, "Violation: response") {
			log = append(log, strings.TrimSpace(line))
		}
	}
	log, p.found = log[p.found:], len(log)
	return answer, log
}
