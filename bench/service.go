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
	in.process.stop()
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
	dir, err := os.MkdirTemp(b.dir, "ledger")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "sendonce.yaml")
	database := filepath.Join(dir, "sendonce.db")
	text := fmt.Sprintf(serviceConfig, addr, database, provider)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	init := exec.CommandContext(ctx, b.service, "init", "--config", config)
	init.Dir, init.Env = dir, cleanEnv()
	if err := run(init); err != nil {
		return nil, err
	}
	serve := exec.Command(b.service, "serve", "--config", config)
	serve.Dir, serve.Env = dir, append(cleanEnv(), "GODEBUG=gctrace=1") // see heapAllocated
	p, err := b.processes.start("sendonce", serve)
	if err != nil {
		return nil, err
	}
	if err := p.listening(ctx, addr); err != nil {
		return nil, err
	}
	in := &instance{addr: addr, process: p, pids: []int{p.pid()}, dir: dir, database: database}
	return in, in.ready(ctx)
}

// ready waits until /readyz says that a claim can be made durable.
func (in *instance) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
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
		case <-time.After(20 * time.Millisecond):
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
	p, err := b.processes.start("stub", exec.Command(self, "stub", "-addr", addr, "-delay", delay.String()))
	if err != nil {
		return nil, err
	}
	return &instance{addr: addr, process: p, pids: []int{p.pid()}}, p.listening(ctx, addr)
}
