package demo

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	startTime = 30 * time.Second
	stopTime  = 20 * time.Second
	callTime  = 5 * time.Second
)

// service is sendonce as a process of its own.
type service struct {
	binary string
	dir    string
	config string
	url    string
	key    string // the API key of the day; "": none is needed

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process is gone
}

// newKey makes an API key for one run.
func newKey() string {
	key := make([]byte, 8)
	_, _ = rand.Read(key) // never fails
	return "demo-" + hex.EncodeToString(key)
}

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// freeAddress finds where the service will listen. The ports are below those that the system gives to connections: the address has to
// be free again after each crash.
func freeAddress(listen string) (string, error) {
	candidates := []string{listen}
	host, port, err := net.SplitHostPort(listen)
	switch {
	case listen == "":
		host, candidates = "127.0.0.1", []string{"127.0.0.1:8484"}
	case err != nil:
		return "", fmt.Errorf("--listen must be host:port: %w", err)
	case host != "localhost" && !net.ParseIP(host).IsLoopback():
		return "", fmt.Errorf("--listen must be an address of this machine alone, such as 127.0.0.1:8484: what is played needs no more")
	case port == "0":
		candidates = nil
	}
	if listen == "" || port == "0" {
		var b [64]byte
		_, _ = rand.Read(b[:])
		for i := 0; i < len(b); i += 2 {
			candidates = append(candidates, net.JoinHostPort(host, fmt.Sprint(20000+(int(b[i])<<8|int(b[i+1]))%12000)))
		}
	}
	for _, address := range candidates {
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", err
}

// command is a run of the program. What the shell sets for another sendonce is not meant for this one.
func (s *service) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.binary, append(args, "--config", s.config)...)
	cmd.Dir = s.dir
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "SENDONCE_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	alone(cmd)
	return cmd
}

// run runs a command to its end. Its error has what the command said.
func (s *service) run(args ...string) ([]byte, error) {
	cmd := s.command(args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("sendonce %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return out, err
}

// start starts the service and waits until it can make a claim durable.
func (s *service) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "sendonce.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.command("serve")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // a kill is an error, and meant
		close(ended)
	}()
	s.mu.Lock()
	s.cmd, s.ended = cmd, ended
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if status, err := s.call(ctx, http.MethodGet, "/readyz", "", nil); err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), s.stop())
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the service does not start: %s", text)
		case <-look.C:
		}
	}
}

// kill ends the service as a crash does, and returns when it is gone.
func (s *service) kill() error { return s.end(os.Kill) }

// stop ends the service in order.
func (s *service) stop() error { return s.end(os.Interrupt) }

func (s *service) end(how os.Signal) error {
	s.mu.Lock()
	cmd, ended := s.cmd, s.ended
	s.cmd = nil
	s.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if cmd.Process.Signal(how) != nil {
		_ = cmd.Process.Kill() // where there are no signals; one that is gone is as good
	}
	select {
	case <-ended:
		return nil
	case <-time.After(stopTime):
		_ = cmd.Process.Kill()
		<-ended
		return fmt.Errorf("the service did not stop within %s and was killed", stopTime)
	}
}

// call asks the service once. A status comes with a whole answer, which is decoded into value unless that is nil.
func (s *service) call(ctx context.Context, method, path, body string, value any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if value != nil && res.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, value)
	}
	return res.StatusCode, err
}
