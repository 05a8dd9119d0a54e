//go:build linux

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

//go:embed node/worker.mjs
var workerScript []byte

//go:embed node/package.json
var workerPackage []byte

// peer is the worker that a team would write by hand: Node with the pg package, on PostgreSQL.
type peer struct {
	dir      string // holds worker.mjs and node_modules
	url      string // of the database
	postgres *process
}

// errNoPeer says why the peer was left out; the rest of the run goes on without it.
var errNoPeer = errors.New("peer left out")

// startPeer installs what is missing, where it may, and starts a fresh PostgreSQL cluster with the server's
// default settings in the run's own folder. errNoPeer when something is missing.
func (b *bench) startPeer(ctx context.Context, install bool) (*peer, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%w: %w", errNoPeer, err)
		}
	}
	bin, err := postgresBin(ctx, install)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoPeer, err)
	}
	p := &peer{}
	if p.dir, err = installWorker(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoPeer, err)
	}
	if err := b.startPostgres(ctx, p, bin); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoPeer, err)
	}
	return p, nil
}

// postgresBin returns the folder of PostgreSQL's programs. It installs Debian's package when there is none, the
// caller allows it and this is root.
func postgresBin(ctx context.Context, install bool) (string, error) {
	for range 2 {
		dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // Debian's place, outside of PATH
		if path, err := exec.LookPath("initdb"); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
				return dir, nil
			}
		}
		if !install || os.Geteuid() != 0 {
			return "", errors.New("no PostgreSQL here, and it may not be installed")
		}
		install = false
		if err := run(exec.CommandContext(ctx, "apt-get", "install", "-y", "--no-install-recommends", "postgresql")); err != nil {
			return "", err
		}
	}
	return "", errors.New("no initdb after the installation")
}

// installWorker puts the worker and its one package into the user's cache folder, so that only the first run needs the network.
func installWorker(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "sendonce-bench")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{"worker.mjs": workerScript, "package.json": workerPackage} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline")
	cmd.Dir = dir
	return dir, run(cmd)
}

// startPostgres makes a cluster and starts it. PostgreSQL refuses to run as root, so root hands it to the user postgres.
func (b *bench) startPostgres(ctx context.Context, p *peer, bin string) error {
	data, err := os.MkdirTemp(b.dir, "postgres")
	if err != nil {
		return err
	}
	attr := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		if attr.Credential, err = credential("postgres"); err != nil {
			return err
		}
		if err := os.Chown(data, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			return err
		}
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "bench")
	initdb.Dir, initdb.SysProcAttr = data, attr
	if err := run(initdb); err != nil {
		return err
	}
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(addr)
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "max_connections=300")
	server.Dir, server.SysProcAttr = data, attr
	if p.postgres, err = b.processes.start("postgres", server); err != nil {
		return err
	}
	p.url = fmt.Sprintf("postgres://bench@%s/postgres?sslmode=disable", addr)
	return p.postgres.listening(ctx, addr)
}

// credential looks a user up, to run a child as that one.
func credential(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

// startWorker starts the worker on an empty table with a pool of so many database connections.
func (b *bench) startWorker(ctx context.Context, provider string, pool int) (*instance, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command("node", "worker.mjs")
	cmd.Dir = b.peer.dir
	cmd.Env = append(os.Environ(), "DATABASE_URL="+b.peer.url, "PROVIDER=http://"+provider, "PORT="+port, "POOL="+strconv.Itoa(pool))
	p, err := b.processes.start("node", cmd)
	if err != nil {
		return nil, err
	}
	if err := p.listening(ctx, addr); err != nil {
		return nil, err
	}
	return &instance{addr: addr, process: p, pids: []int{p.pid(), b.peer.postgres.pid()}}, nil
}
