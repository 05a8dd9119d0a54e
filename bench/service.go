//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// instance is a running service under test.
type instance struct {
	addr     string
	process  *process
	pids     []int  // roots of the process trees whose CPU time counts
	dir      string // its own, gone when it ends; "": none
	database string
}

// end stops the instance and removes what it wrote, so that no later measurement shares the disk with it.
func (in *instance) end() {
	if in.process != nil {
		in.process.stop()
	}
	if in.dir != "" {
		os.RemoveAll(in.dir)
	}
}

// buildService builds the released form of the service: static, without symbols.
func buildService(ctx context.Context, root, dir string) (string, error) {
	bin := filepath.Join(dir, "sendonce")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	return bin, run(cmd)
}

// serviceConfig is the configuration file. Everything that is not named keeps its default.
const serviceConfig = `listen: %s
database: %s
providers:
  infrai_main: {type: infrai, api_key: test, base_url: "http://%s", from: AcmeShip, workers: 512}
channels:
  sms: {providers: [infrai_main]}
`

// startService starts the service on a ledger of its own, so that every measurement begins with an empty one.
// It returns once the service is ready to claim. provider is the stub's address.
func (b *bench) startService(ctx context.Context, provider string) (*instance, error) {
	in, err := b.house(provider)
	if err != nil {
		return nil, err
	}
	if err := b.initLedger(ctx, in); err != nil {
		return nil, err
	}
	return in, b.serve(ctx, in)
}

// house makes a folder with the configuration of a service that has no ledger yet.
func (b *bench) house(provider string) (*instance, error) {
	dir, err := os.MkdirTemp(b.dir, "ledger")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	in := &instance{addr: addr, dir: dir, database: filepath.Join(dir, "sendonce.db")}
	text := fmt.Sprintf(serviceConfig, addr, in.database, provider)
	return in, os.WriteFile(in.config(), []byte(text), 0o600)
}

func (in *instance) config() string { return filepath.Join(in.dir, "sendonce.yaml") }

// initLedger makes an empty ledger.
func (b *bench) initLedger(ctx context.Context, in *instance) error {
	init := exec.CommandContext(ctx, b.service, "init", "--config", in.config())
	init.Dir, init.Env = in.dir, cleanEnv()
	return run(init)
}

// serve starts the service on the ledger that stands there, and returns once it is ready to claim.
func (b *bench) serve(ctx context.Context, in *instance) error {
	serve := exec.Command(b.service, "serve", "--config", in.config())
	serve.Dir, serve.Env = in.dir, append(cleanEnv(), "GODEBUG=gctrace=1"+b.debug) // see heapAllocated
	p, err := b.processes.start("sendonce", serve)
	if err != nil {
		return err
	}
	in.process, in.pids = p, []int{p.pid()}
	if err := p.listening(ctx, in.addr); err != nil {
		return err
	}
	return in.ready(ctx)
}

// lookEvery is how often a starting process is looked at: it bounds what a time to readiness can tell.
const lookEvery = 5 * time.Millisecond

// ready waits until /readyz says that a claim can be made durable.
func (in *instance) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+in.addr+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				http.DefaultClient.CloseIdleConnections()
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %s", in.process.name, context.Cause(ctx), in.process.tail())
		case <-time.After(lookEvery):
		}
	}
}

// cleanEnv is the environment without SENDONCE_ variables: a setting of the person's shell is no part of the measurement.
func cleanEnv() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SENDONCE_") {
			env = append(env, v)
		}
	}
	return env
}

// startStub starts the provider as a process of its own.
func (b *bench) startStub(ctx context.Context, delay time.Duration) (*instance, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p, err := b.processes.start("stub", onOneProcessor(exec.Command(self, "stub", "-addr", addr, "-delay", delay.String())))
	if err != nil {
		return nil, err
	}
	return &instance{addr: addr, process: p, pids: []int{p.pid()}}, p.listening(ctx, addr)
}

// onOneProcessor keeps the stub on one: it only waits and answers, and on both its timers and sockets would wake threads beside those
// of what is measured.
func onOneProcessor(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	return cmd
}
