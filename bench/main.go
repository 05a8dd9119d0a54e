//go:build linux

// Bench measures sendonce beside what it replaces and below what it stands on, in one run on one machine.
//
// Sendonce, built as it is released, meets the same client and the same stub of a provider as its peers: what a team would
// write for Node or Go on PostgreSQL, River, PostgreSQL and Redis by themselves; and it stands below its ceilings: bare
// inserts, bare HTTP, the disk's sync. Figures of two runs, or of two machines, say little beside one another; the ratios in
// one run do. Everything is on loopback and in a folder of its own, which goes away at the end.
//
//	go run ./bench                     all of it, about eight minutes
//	go run ./bench -only 'sends.*64'   some cells
//	go run ./bench -soak 10m           memory and disk over a longer load, instead of the cells
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func init() {
	// See processes.start: a child lives as long as the thread that started it.
	runtime.LockOSThread()
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch what := append(os.Args, "", "")[1]; what {
	case "stub":
		err = stubCommand(ctx, os.Args[2:])
	case "echo":
		err = echoCommand(ctx, os.Args[2:])
	default:
		err = command(ctx, os.Args[1:])
		if ctx.Err() != nil {
			err = errors.New("interrupted; nothing is left running")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// stubCommand is the provider's process; the benchmark starts it from its own binary.
func stubCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench stub", flag.ExitOnError)
	addr := flags.String("addr", "127.0.0.1:9100", "where to listen")
	delay := flags.Duration("delay", 0, "how long an answer takes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return runStub(ctx, *addr, *delay)
}

// options are the flags.
type options struct {
	secs    float64
	runs    int
	only    *regexp.Regexp
	json    bool
	peer    bool
	install bool
	soak    time.Duration
	growth  []size
	plot    string
	ledgers string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.Float64Var(&o.secs, "secs", 4, "measured seconds of a cell; as many of warm-up come before, at most a second and a half")
	flags.IntVar(&o.runs, "runs", 2, "rounds; figures are the medians over them")
	only := flags.String("only", "", "measure only cells whose name matches this expression, such as 'sends/0ms'")
	flags.BoolVar(&o.json, "json", false, "print JSON: medians, targets and every single measurement")
	flags.BoolVar(&o.peer, "peer", true, "measure what needs PostgreSQL, Node or Redis too")
	flags.BoolVar(&o.install, "install", true, "install what is missing: Debian's postgresql and redis-server as root, npm's pg, modules of bench/peers")
	flags.DurationVar(&o.soak, "soak", 0, "load the service for so long at half of its top rate, and show what grows")
	growth := flags.String("growth", "", "measure on ledgers of these sizes instead of the cells, such as 1M,10M,30M-erased")
	flags.StringVar(&o.plot, "plot", "", "with -growth, draw cost against rows into this SVG file")
	flags.StringVar(&o.ledgers, "ledgers", filepath.Join(os.TempDir(), "sendonce-ledgers"), "where ledgers for -growth are kept for the next run")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for text := range strings.FieldsFuncSeq(*growth, func(r rune) bool { return r == ',' }) {
		s, err := parseSize(text)
		if err != nil {
			return o, err
		}
		o.growth = append(o.growth, s)
	}
	if o.secs <= 0 || o.runs < 1 || o.soak < 0 || flags.NArg() > 0 {
		return o, errors.New("-secs must be above 0, -runs at least 1, -soak not negative, and nothing may follow the flags")
	}
	o.only, err = regexp.Compile(*only)
	return o, err
}

// command prepares everything, measures, and clears away whatever happens.
func command(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	cells := pick(plan(), o.only)
	if len(cells) == 0 {
		return fmt.Errorf("no cell matches %q", o.only)
	}
	dir, err := os.MkdirTemp("", "sendonce-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil { // PostgreSQL's user passes through
		return err
	}
	length := time.Duration(o.secs * float64(time.Second))
	b := &bench{dir: dir, ledgers: o.ledgers, processes: &processes{dir: dir}, stubs: map[time.Duration]*instance{},
		warm: min(length, 1500*time.Millisecond), length: length}
	defer b.processes.stopAll()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if o.soak > 0 {
		return b.soak(ctx, o, os.Stdout)
	}
	if len(o.growth) > 0 {
		return b.growth(ctx, o, os.Stdout)
	}
	s, err := b.all(ctx, o, cells)
	if err != nil {
		return err
	}
	if o.json {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(s)
	}
	s.write(os.Stdout)
	return nil
}

// prepare builds the service, reads the schema and starts the two providers.
func (b *bench) prepare(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env GOMOD: %w", err)
	}
	b.root = filepath.Dir(strings.TrimSpace(string(out)))
	schema, err := os.ReadFile(filepath.Join(b.root, "schema.sql"))
	if err != nil {
		return fmt.Errorf("run me inside the module: %w", err)
	}
	b.schema = string(schema)
	progress("build the service")
	if b.service, err = buildService(ctx, b.root, b.dir); err != nil {
		return err
	}
	for _, delay := range []time.Duration{0, slow} {
		if b.stubs[delay], err = b.startStub(ctx, delay); err != nil {
			return err
		}
	}
	return nil
}

// progress says on stderr what is being done; stdout is for the result.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
