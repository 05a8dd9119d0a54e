//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// river lets River insert jobs and work them against the same provider, from one process without HTTP in front: as many callers
// and workers as the cell has connections.
func (b *bench) river(ctx context.Context, c cell) (result, error) {
	res := result{Cell: c.name, System: river}
	out, in, err := os.Pipe()
	if err != nil {
		return res, err
	}
	defer out.Close()
	cmd := exec.Command(b.peers.module, "river", "-database", b.peers.postgres.url, "-provider", "http://"+b.stubs[c.delay].addr,
		"-conns", strconv.Itoa(c.conns), "-warm", b.warm.String(), "-length", b.length.String())
	cmd.Stdout = in
	p, err := b.processes.start("river", cmd)
	in.Close() // the child has its own
	if err != nil {
		return res, err
	}
	stop := context.AfterFunc(ctx, func() { out.Close() })
	defer stop()
	defer p.stop()
	system := &instance{process: p, pids: []int{p.pid(), b.peers.postgres.process.pid()}}
	var at [2]reading
	jobs, err := edgesOf(out, func(i int) { at[i] = read(system, b.stubs[c.delay]) })
	if err != nil {
		<-p.done
		return res, fmt.Errorf("river: %w: %s", err, p.tail())
	}
	used := at[1].minus(at[0])
	res.Requests = jobs
	res.Notifications = float64(jobs) / b.length.Seconds()
	res.PerSecond, res.CPU, res.Others = res.Notifications, 1000*used.service/float64(jobs), used.others(b.length)
	return res, nil
}

// edgesOf reads the lines "begin" and "end N" of a child that measures itself, and calls edge at each.
func edgesOf(r io.Reader, edge func(int)) (n int64, err error) {
	begun := false
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if lines.Text() == "begin" {
			edge(0)
			begun = true
		} else if text, ok := strings.CutPrefix(lines.Text(), "end "); ok && begun {
			edge(1)
			if n, err = strconv.ParseInt(text, 10, 64); err == nil && n < 1 {
				err = fmt.Errorf("%d jobs were done", n)
			}
			return n, err
		}
	}
	return 0, errEnded
}
