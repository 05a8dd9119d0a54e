//go:build linux

package main

import (
	"context"
	_ "embed"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

//go:embed node/worker.mjs
var workerScript []byte

//go:embed node/package.json
var workerPackage []byte

// workerTable is the table of everything on PostgreSQL but River.
//
//go:embed sql/table.sql
var workerTable []byte

// installWorker puts the worker and its one package into the user's cache folder, so that only the first run needs the network.
func installWorker(ctx context.Context, install bool) (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "sendonce-bench")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{"worker.mjs": workerScript, "package.json": workerPackage, "table.sql": workerTable} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return "", err
		}
	}
	how := "--prefer-offline"
	if !install {
		how = "--offline"
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", how)
	cmd.Dir = dir
	return dir, run(cmd)
}

// startWorker starts the worker on an empty table with a pool of so many database connections.
func (b *bench) startWorker(ctx context.Context, provider string, pool int) (*instance, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command("node", "worker.mjs")
	cmd.Dir = b.peers.worker
	cmd.Env = append(os.Environ(), "DATABASE_URL="+b.peers.postgres.url, "PROVIDER=http://"+provider, "PORT="+port, "POOL="+strconv.Itoa(pool))
	p, err := b.processes.start("node", cmd)
	if err != nil {
		return nil, err
	}
	if err := p.listening(ctx, addr); err != nil {
		return nil, err
	}
	return &instance{addr: addr, process: p, pids: []int{p.pid(), b.peers.postgres.process.pid()}}, nil
}
