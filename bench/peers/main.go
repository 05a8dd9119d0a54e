// Peers are what sendonce is measured beside and what needs modules of its own: a service as a good Go team would write it on
// PostgreSQL, and River. It is a module of its own so that none of this comes near the product; bench builds and starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// options are the flags of both peers.
type options struct {
	database string
	provider string // base URL
	addr     string // where the service listens
	table    string // file with the service's table
	conns    int    // of the service's pool; callers and workers of River
	warm     time.Duration
	length   time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("peers service|river", flag.ExitOnError)
	flags.StringVar(&o.database, "database", "", "URL of an empty PostgreSQL database, which is overwritten")
	flags.StringVar(&o.provider, "provider", "", "base URL of the provider")
	flags.StringVar(&o.addr, "addr", "127.0.0.1:9300", "where the service listens")
	flags.StringVar(&o.table, "table", "../sql/table.sql", "file with the SQL that makes the service's table")
	flags.IntVar(&o.conns, "conns", 32, "database connections of the service; callers and workers of River")
	flags.DurationVar(&o.warm, "warm", time.Second, "River: not measured")
	flags.DurationVar(&o.length, "length", 4*time.Second, "River: measured")
	if len(args) == 0 {
		return fmt.Errorf("service or river?")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	config, err := pgxpool.ParseConfig(o.database)
	if err != nil {
		return err
	}
	config.MaxConns = int32(o.conns)
	switch args[0] {
	case "service":
		config.MinConns = config.MaxConns // all stand before the first request
	case "river":
		config.MaxConns += 8 // for its own work
	default:
		return fmt.Errorf("%q is neither service nor river", args[0])
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	client := &http.Client{
		Timeout:   15 * time.Second,
		Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024, IdleConnTimeout: time.Minute},
	}
	if args[0] == "river" {
		return runRiver(ctx, o, pool, client)
	}
	return runService(ctx, o, pool, client)
}
