//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pgbenchSeed fills the worker's table with the 10,000 rows that are repeated.
//
//go:embed sql/seed.sql
var pgbenchSeed []byte

// pgbenchScripts are what one transaction of pgbench does in a cell of that mode.
var (
	//go:embed sql/claim.sql
	pgbenchClaim []byte
	//go:embed sql/repeat.sql
	pgbenchRepeat []byte
	//go:embed sql/send.sql
	pgbenchSend []byte
)

func pgbenchScript(m mode) []byte {
	switch m {
	case repeats:
		return pgbenchRepeat
	case sends:
		return pgbenchSend
	}
	return pgbenchClaim
}

// pgbench measures bare PostgreSQL: the worker's statements from pgbench's own client, without HTTP and without a provider.
func (b *bench) pgbench(ctx context.Context, c cell) (result, error) {
	res := result{Cell: c.name, System: pgbench}
	dir, err := os.MkdirTemp(b.dir, "pgbench")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string][]byte{"table.sql": workerTable, "seed.sql": pgbenchSeed, "script.sql": pgbenchScript(c.mode)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return res, err
		}
	}
	p := b.peers.postgres
	host, port, _ := net.SplitHostPort(p.address)
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(p.bin, name), append([]string{"-h", host, "-p", port, "-U", "bench"}, args...)...)
		cmd.Dir = dir
		return cmd
	}
	if err := run(command("psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", "table.sql", "-f", "seed.sql", "postgres")); err != nil {
		return res, err
	}
	timed := func(length time.Duration, more ...string) *exec.Cmd {
		return command("pgbench", append([]string{"-n", "-M", "prepared", "-c", strconv.Itoa(c.conns), "-j", strconv.Itoa(min(c.conns, 2)),
			"-T", strconv.Itoa(max(1, int(length.Seconds()))), "-f", "script.sql"}, append(more, "postgres")...)...)
	}
	if err := run(timed(b.warm)); err != nil {
		return res, err
	}
	cmd := timed(b.length, "--log", "--log-prefix=transactions")
	before := reading{service: treeCPU(p.process.pid()), self: selfCPU() + childCPU(), machine: machineCPU()}
	start := time.Now()
	if err := run(cmd); err != nil {
		return res, err
	}
	took := time.Since(start)
	used := reading{service: treeCPU(p.process.pid()), self: selfCPU() + childCPU(), machine: machineCPU()}.minus(before)
	all, err := transactions(dir)
	if err != nil {
		return res, err
	}
	n := float64(len(all))
	res.Requests, res.P50, res.P99 = int64(len(all)), all.percentile(.5), all.percentile(.99)
	res.Notifications = n / float64(max(1, int(b.length.Seconds())))
	res.PerSecond, res.CPU, res.LoadCPU, res.Others = res.Notifications, 1000*used.service/n, 1000*used.self/n, used.others(took)
	return res, nil
}

// transactions reads pgbench's logs: the third field of a line is how many microseconds a transaction took.
func transactions(dir string) (all latencies, err error) {
	files, _ := filepath.Glob(filepath.Join(dir, "transactions.*"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			f := strings.Fields(lines.Text())
			if len(f) < 3 {
				return nil, fmt.Errorf("pgbench's log has the line %q", lines.Text())
			}
			took, err := strconv.ParseFloat(f[2], 64)
			if err != nil {
				return nil, fmt.Errorf("pgbench's log: %w", err)
			}
			all.add(time.Duration(took) * time.Microsecond)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("pgbench logged no transaction")
	}
	slices.Sort(all)
	return all, nil
}
