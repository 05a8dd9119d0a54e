//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peers is what stands ready beside the service. What could not be had is empty, and left says why.
type peers struct {
	postgres *postgres
	worker   string // folder of the Node worker
	module   string // path of the built module bench/peers: the Go service and River
	redis    string // path of redis-server
	left     map[string]string
}

// preparePeers installs and builds what the wanted systems need, where it may. The run goes on without what is missing; the
// error is ctx's.
func (b *bench) preparePeers(ctx context.Context, o options, cells []cell) error {
	b.peers = &peers{left: map[string]string{}}
	wanted := map[string]bool{}
	for _, c := range cells {
		for _, system := range c.beside {
			wanted[system] = true
		}
	}
	p := b.peers
	prepare := func(systems []string, what func() error) {
		for _, system := range systems {
			if !wanted[system] || p.left[system] != "" || ctx.Err() != nil {
				continue
			}
			progress("prepare %s", system)
			if err := what(); err != nil {
				for _, system := range systems {
					p.left[system] = err.Error()
				}
				progress("  left out: %v", err)
			}
			return
		}
	}
	if !o.peer {
		for _, system := range []string{worker, goService, river, pgbench, redis} {
			p.left[system] = "-peer=false"
		}
	}
	prepare([]string{worker, goService, river, pgbench}, func() (err error) {
		p.postgres, err = b.startPostgres(ctx, o.install)
		return err
	})
	prepare([]string{worker}, func() (err error) { p.worker, err = installWorker(ctx, o.install); return err })
	prepare([]string{goService, river}, func() (err error) { p.module, err = buildPeers(ctx, b.root, b.dir, o.install); return err })
	prepare([]string{redis}, func() (err error) { p.redis, err = redisServer(ctx, o.install); return err })
	return context.Cause(ctx)
}

// buildPeers builds the module of the peers; its dependencies come from the Go proxy where that is allowed.
func buildPeers(ctx context.Context, root, dir string, install bool) (string, error) {
	bin := filepath.Join(dir, "peers")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	cmd.Dir, cmd.Env = filepath.Join(root, "bench", "peers"), append(os.Environ(), "CGO_ENABLED=0")
	if !install {
		cmd.Env = append(cmd.Env, "GOPROXY=off")
	}
	return bin, run(cmd)
}

// redisServer finds redis-server, or installs it where it may.
func redisServer(ctx context.Context, install bool) (string, error) {
	if path, err := exec.LookPath("redis-server"); err == nil {
		return path, nil
	}
	if err := installPackage(ctx, "redis-server", install); err != nil {
		return "", err
	}
	return exec.LookPath("redis-server")
}

// leftOut is one sentence for the report; "" when nothing was.
func (p *peers) leftOut() string {
	var all []string
	for _, system := range []string{worker, goService, river, pgbench, redis} {
		if why := p.left[system]; why != "" {
			all = append(all, fmt.Sprintf("%s (%s)", system, why))
		}
	}
	return strings.Join(all, "; ")
}

// startGoService starts the Go service on an empty table.
func (b *bench) startGoService(ctx context.Context, provider string, pool int) (*instance, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p, err := b.processes.start("go-service", exec.Command(b.peers.module, "service", "-database", b.peers.postgres.url,
		"-provider", "http://"+provider, "-addr", addr, "-conns", fmt.Sprint(pool), "-table", filepath.Join(b.root, "bench", "sql", "table.sql")))
	if err != nil {
		return nil, err
	}
	return &instance{addr: addr, process: p, pids: []int{p.pid(), b.peers.postgres.process.pid()}}, p.listening(ctx, addr)
}
