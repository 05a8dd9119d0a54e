//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a child that this command started and will end.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string // path of what it printed
	done chan struct{}
	err  error // of Wait, once done is closed
}

// processes are the children of one run, in the order of their start.
type processes struct {
	dir string // for their logs
	mu  sync.Mutex
	all []*process
}

// start runs cmd in the background. The child has a process group of its own, so that Ctrl-C reaches this command
// alone and the children end in order; should this command be killed, the kernel ends the child. That signal comes
// when the starting thread ends, so start belongs to the main goroutine, which main ties to its thread.
func (ps *processes) start(name string, cmd *exec.Cmd) (*process, error) {
	ps.mu.Lock()
	n := len(ps.all)
	ps.mu.Unlock()
	p := &process{name: name, cmd: cmd, log: filepath.Join(ps.dir, fmt.Sprintf("%02d-%s.log", n, name)), done: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if cmd.Stderr = out; cmd.Stdout == nil {
		cmd.Stdout = out
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGTERM
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() { p.err = cmd.Wait(); close(p.done) }()
	ps.mu.Lock()
	ps.all = append(ps.all, p)
	ps.mu.Unlock()
	return p, nil
}

// stopAll ends whatever still runs, last started first.
func (ps *processes) stopAll() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for i := len(ps.all) - 1; i >= 0; i-- {
		ps.all[i].stop()
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop asks the process to end, and kills it when it has not after ten seconds. SIGINT is what both PostgreSQL
// ("fast shutdown": do not wait for clients) and the others understand.
func (p *process) stop() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGKILL} {
		select {
		case <-p.done:
			return
		default:
		}
		_ = p.cmd.Process.Signal(s) // an error means that it has just ended
		select {
		case <-p.done:
			return
		case <-time.After(10 * time.Second):
		}
	}
}

// errEnded is a child that ended before it was ready.
var errEnded = errors.New("ended early")

// startWait bounds the start of a process.
const startWait = 2 * time.Minute

// listening waits until addr takes connections, the process ends or startWait has passed.
func (p *process) listening(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s: %w: %v: %s", p.name, errEnded, p.err, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s does not listen on %s: %w: %s", p.name, addr, context.Cause(ctx), p.tail())
		case <-time.After(lookEvery):
		}
	}
}

// tail returns the end of what the process printed, for an error.
func (p *process) tail() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b[max(0, len(b)-2000):]))
}

// freeAddr returns a loopback address that nobody listens on. Somebody else could take it before the child does;
// the child then ends early and the run says so.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

// run waits for a command that has to succeed, such as a build; its output is part of the error.
func run(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
