//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// result is one measurement of one system in one cell.
type result struct {
	Cell   string `json:"cell"`
	System string `json:"system"`
	measured
	Notifications float64 `json:"notifications_per_s"`
	CPU           float64 `json:"cpu_s_per_1000"`          // of the system's processes, for 1,000 notifications
	LoadCPU       float64 `json:"load_cpu_s_per_1000"`     // of the client, which shares the machine
	StubCPU       float64 `json:"stub_cpu_s_per_1000"`     // of the provider, which shares it too
	Memory        memory  `json:"memory"`                  // of the service or of Node, after the load
	HeapKiB       float64 `json:"heap_kib_each,omitempty"` // the service's Go heap: allocated for one notification
	Others        float64 `json:"others"`                  // share of the machine's CPU time that went to strangers
}

// bench is one run of this command.
type bench struct {
	dir       string // everything that it writes
	ledgers   string // made ledgers, which it leaves
	root      string // of the module
	service   string // path of the binary
	debug     string // what else Go's runtime prints about the service; begins with a comma
	schema    string // text of schema.sql
	processes *processes
	stubs     map[time.Duration]*instance
	peers     *peers
	warm      time.Duration
	length    time.Duration
}

// maxPool is the largest number of database connections that the worker and the Go service get. Between 10 and 64 its rate hardly moves;
// from 64 on its tail grows to seconds when 256 callers wait.
const maxPool = 32

// measure runs one cell on one system, which is started for it on an empty ledger and ended after it.
func (b *bench) measure(ctx context.Context, c cell, system string) (result, error) {
	switch system {
	case bare:
		return b.ceiling(ctx, c)
	case disk:
		return b.disk(ctx, c)
	case pgbench:
		return b.pgbench(ctx, c)
	case redis:
		return b.redis(ctx, c)
	case river:
		return b.river(ctx, c)
	}
	in, err := b.start(ctx, c, system)
	if err != nil {
		return result{}, err
	}
	defer in.end()
	e := newEvents(in.addr, c.mode)
	if c.mode == repeats && system != echoHTTP && system != bareHTTP {
		if err := b.sendKnown(ctx, e, system); err != nil {
			return result{}, fmt.Errorf("%s %s: events to repeat: %w", system, c.name, err)
		}
	}
	res, err := b.observe(ctx, in, b.load(e, c, system), c)
	res.System = system
	if system != sendonce {
		res.HeapKiB = 0 // only ours is Go under gctrace
	}
	return res, err
}

// observe loads a running system and reads its counters at both edges of the measured time.
func (b *bench) observe(ctx context.Context, in *instance, l load, c cell) (result, error) {
	var at [2]reading
	l.edge = func(i int) { at[i] = read(in, b.stubs[c.delay]) }
	res := result{Cell: c.name, System: sendonce}
	var err error
	if res.measured, err = l.run(ctx); err != nil {
		return res, fmt.Errorf("%s %s: %w", in.process.name, c.name, err)
	}
	n := float64(res.Requests) * float64(c.notifications())
	res.Notifications = n / l.length.Seconds()
	used := at[1].minus(at[0])
	res.CPU, res.StubCPU, res.LoadCPU = 1000*used.service/n, 1000*used.stub/n, 1000*used.self/n
	res.Others = used.others(l.length)
	if used.log > 0 {
		res.HeapKiB = 1024 * heapAllocated(in.process.log, at[0].log, at[1].log) / n
	}
	res.Memory, err = readMemory(in.process.pid())
	return res, err
}

// reading is what the counters say at one edge of the measured time: CPU seconds, and the length of the service's log.
type reading struct {
	service, stub, self, machine float64
	log                          int64
}

func read(in, stub *instance) reading {
	return reading{treeCPU(in.pids...), treeCPU(stub.pids...), selfCPU(), machineCPU(), fileSize(in.process.log)}
}

func (r reading) minus(o reading) reading {
	return reading{r.service - o.service, r.stub - o.stub, r.self - o.self, r.machine - o.machine, r.log - o.log}
}

// others returns the share of all cores that went to processes that are no part of the measurement.
func (r reading) others(length time.Duration) float64 {
	return max(0, (r.machine-r.service-r.stub-r.self)/(length.Seconds()*float64(runtime.NumCPU())))
}

// start starts the system that the cell is to measure.
func (b *bench) start(ctx context.Context, c cell, system string) (*instance, error) {
	provider := b.stubs[c.delay].addr
	switch system {
	case worker:
		return b.startWorker(ctx, provider, min(c.conns, maxPool))
	case goService:
		return b.startGoService(ctx, provider, min(c.conns, maxPool))
	case echoHTTP, bareHTTP:
		return b.startEcho(ctx, system == bareHTTP)
	}
	return b.startService(ctx, provider)
}

// load words the cell for the system.
func (b *bench) load(e events, c cell, system string) load {
	word := e.service
	if system == worker {
		word = e.worker
	}
	return load{
		addr: e.addr, conns: c.conns, warm: b.warm, length: b.length,
		request: func(out []byte, n int64) []byte { return word(out, c.mode, n) },
		good:    func(status int, body []byte) bool { return good(system, c.mode, status, body) },
	}
}

// sendKnown sends the events that are going to be repeated and waits for each outcome.
func (b *bench) sendKnown(ctx context.Context, e events, system string) error {
	l := b.load(e, cell{mode: sends, conns: 16}, system)
	l.warm, l.length, l.limit = 0, time.Minute, knownEvents
	m, err := l.run(ctx)
	if err == nil && m.Errors > 0 {
		err = fmt.Errorf("%d errors, first: %s", m.Errors, m.Sample)
	}
	return err
}

// idle returns the resident memory of a service that has been up for two seconds and was asked for nothing.
func (b *bench) idle(ctx context.Context) (float64, error) {
	in, err := b.startService(ctx, b.stubs[0].addr)
	if err != nil {
		return 0, err
	}
	defer in.end()
	select {
	case <-time.After(2 * time.Second):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	m, err := readMemory(in.process.pid())
	return m.Now, err
}

// childCPU returns the CPU seconds of the children that this process has waited for.
func childCPU() float64 { return usage(syscall.RUSAGE_CHILDREN) }

// selfCPU returns the CPU seconds of this process, its client and its ceiling.
func selfCPU() float64 { return usage(syscall.RUSAGE_SELF) }

func usage(who int) float64 {
	var r syscall.Rusage
	if syscall.Getrusage(who, &r) != nil {
		return 0 // cannot happen: the arguments are valid
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}
