//go:build linux

package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
)

// redis measures SET NX on an append-only file that is synced before each answer: a claim as durable as ours that holds a key
// and nothing else.
func (b *bench) redis(ctx context.Context, c cell) (result, error) {
	dir, err := os.MkdirTemp(b.dir, "redis")
	if err != nil {
		return result{}, err
	}
	addr, err := freeAddr()
	if err != nil {
		return result{}, err
	}
	_, port, _ := net.SplitHostPort(addr)
	p, err := b.processes.start("redis", exec.Command(b.peers.redis, "--port", port, "--bind", "127.0.0.1", "--dir", dir,
		"--appendonly", "yes", "--appendfsync", "always", "--save", "", "--daemonize", "no"))
	if err != nil {
		return result{}, err
	}
	in := &instance{addr: addr, process: p, pids: []int{p.pid()}, dir: dir}
	defer in.end()
	if err := p.listening(ctx, addr); err != nil {
		return result{}, err
	}
	run := rand.Uint64()
	l := load{
		addr: addr, conns: c.conns, warm: b.warm, length: b.length, next: (*message).nextLine,
		request: func(out []byte, n int64) []byte { return setNX(out, run, n) },
		good:    func(_ int, body []byte) bool { return bytes.Equal(body, []byte("+OK")) },
	}
	res, err := b.observe(ctx, in, l, c)
	res.System, res.HeapKiB = redis, 0
	return res, err
}

// setNX appends SET key claimed NX in Redis's protocol; the key has 40 characters, as ours.
func setNX(b []byte, run uint64, n int64) []byte {
	b = append(b, "*4\r\n$3\r\nSET\r\n$40\r\n"...)
	start := len(b)
	b = strconv.AppendUint(b, run, 16)
	b = append(strconv.AppendInt(append(b, '_'), n, 10), "________________________________________"...)
	return append(b[:start+40], "\r\n$7\r\nclaimed\r\n$2\r\nNX\r\n"...)
}
