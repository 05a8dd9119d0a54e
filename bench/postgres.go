//go:build linux

package main

import (
	"context"
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

// postgres is a fresh cluster with the server's default settings, which all systems on PostgreSQL use in turn.
type postgres struct {
	bin     string // folder of its programs
	url     string // of the database
	address string
	process *process
}

// postgresBin returns the folder of PostgreSQL's programs. It installs Debian's package when there is none and it may.
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
		if err := installPackage(ctx, "postgresql", install); err != nil {
			return "", err
		}
		install = false
	}
	return "", errors.New("no initdb after the installation")
}

// installPackage installs a package of Debian, when that is allowed and this is root.
func installPackage(ctx context.Context, name string, install bool) error {
	if !install || os.Geteuid() != 0 {
		return errors.New(name + " is not here, and it may not be installed")
	}
	return run(exec.CommandContext(ctx, "apt-get", "install", "-y", "--no-install-recommends", name))
}

// startPostgres makes a cluster and starts it. PostgreSQL refuses to run as root, so root hands it to the user postgres.
func (b *bench) startPostgres(ctx context.Context, install bool) (*postgres, error) {
	bin, err := postgresBin(ctx, install)
	if err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp(b.dir, "postgres")
	if err != nil {
		return nil, err
	}
	attr := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		if attr.Credential, err = credential("postgres"); err != nil {
			return nil, err
		}
		if err := os.Chown(data, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			return nil, err
		}
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "bench")
	initdb.Dir, initdb.SysProcAttr = data, attr
	if err := run(initdb); err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addr)
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "max_connections=300")
	server.Dir, server.SysProcAttr = data, attr
	p := &postgres{bin: bin, address: addr, url: fmt.Sprintf("postgres://bench@%s/postgres?sslmode=disable", addr)}
	if p.process, err = b.processes.start("postgres", server); err != nil {
		return nil, err
	}
	return p, p.process.listening(ctx, addr)
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
