//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/labstack/echo/v4"
)

// echoCommand is the ceiling of HTTP: a server that reads a body and answers it, and does nothing else. It runs as a process of
// its own, which the benchmark starts from its own binary.
func echoCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench echo", flag.ExitOnError)
	addr := flags.String("addr", "127.0.0.1:9200", "where to listen")
	bare := flags.Bool("bare", false, "net/http alone, without the framework that the service uses")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server := &http.Server{Addr: *addr, Handler: echoHandler(*bare), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func echoHandler(bare bool) http.Handler {
	const kind = "application/json"
	if bare {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(body) // the caller has gone
		})
	}
	e := echo.New()
	e.POST("/v1/notifications", func(c echo.Context) error {
		body, err := io.ReadAll(c.Request().Body)
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, kind, body)
	})
	return e
}

// startEcho starts the ceiling of HTTP.
func (b *bench) startEcho(ctx context.Context, bare bool) (*instance, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	args := []string{"echo", "-addr", addr}
	if bare {
		args = append(args, "-bare")
	}
	p, err := b.processes.start("echo", exec.Command(self, args...))
	if err != nil {
		return nil, err
	}
	return &instance{addr: addr, process: p, pids: []int{p.pid()}}, p.listening(ctx, addr)
}
