package crash

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every single wait of these tests: what takes longer is broken.
const patience = 60 * time.Second

// service is a running `sendonce serve`.
type service struct {
	t     *testing.T
	cmd   *exec.Cmd
	api   *client
	log   *tail
	ended chan struct{} // closed when the process is gone
}

var address = regexp.MustCompile(`msg=listening address=(\S+)`)

// launch starts the service without waiting for it. env is added to the environment; with a wrapper the service runs
// under that command.
func (p *place) launch(wrapper []string, env ...string) (*service, <-chan string) {
	p.t.Helper()
	args := append(append([]string{}, wrapper...), program(p.t), "serve", "--config", p.config)
	s := &service{t: p.t, cmd: exec.Command(args[0], args[1:]...), log: &tail{}, ended: make(chan struct{})}
	s.cmd.Dir = p.dir
	s.cmd.Env = append(append(os.Environ(), "GORACE=halt_on_error=1"), env...) // with -racebinary a race ends the process
	r, w, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	s.cmd.Stderr = w
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	_ = w.Close()
	found := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.log.follow(r, found)
	}()
	go func() {
		<-read
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	p.started = append(p.started, s)
	p.t.Cleanup(func() {
		s.kill()
		if p.t.Failed() && slices.Index(p.started, s) >= len(p.started)-2 {
			p.t.Logf("the end of the service's log (pid %d):\n%s", s.cmd.Process.Pid, s.log)
		}
	})
	return s, found
}

// start starts the service and waits until it is ready.
func (p *place) start(env ...string) *service {
	p.t.Helper()
	s, found := p.launch(nil, env...)
	s.await(found)
	return s
}

// await waits until a launched service answers that it is ready.
func (s *service) await(found <-chan string) {
	s.t.Helper()
	if !s.ready(found) {
		s.t.Fatalf("the service ended at its start: %v\n%s", s.cmd.ProcessState, s.log)
	}
}

// ready waits until a launched service answers that it is ready; false: it ended before it listened.
func (s *service) ready(found <-chan string) bool {
	s.t.Helper()
	select {
	case at := <-found:
		s.api = newClient("http://" + at)
	case <-s.ended:
		return false
	case <-time.After(patience):
		s.t.Fatalf("the service does not listen after %v\n%s", patience, s.log)
	}
	eventually(s.t, "the service is ready", func() bool { return s.gone() || s.api.ready(context.Background()) })
	return true
}

// gone reports whether the process has ended.
func (s *service) gone() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// kill ends the process as kill -9 does and waits for its end. A process that is gone is left alone.
func (s *service) kill() {
	if !s.gone() {
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	if s.api != nil {
		s.api.http.CloseIdleConnections()
	}
}

// killed waits for the end of a process and demands that SIGKILL was its cause.
func (s *service) killed() {
	s.t.Helper()
	<-s.ended
	if w, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || w.Signal() != syscall.SIGKILL {
		s.t.Fatalf("the service was to be killed and ended by itself: %v\n%s", s.cmd.ProcessState, s.log)
	}
}

// stop asks the process to end and demands that it does so within a time, with exit code 0.
func (s *service) stop(within time.Duration) {
	s.t.Helper()
	s.api.http.CloseIdleConnections() // net/http waits up to 5 s for one that has not brought a request yet
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(within):
		s.t.Errorf("the service has not stopped after %v", within)
		s.kill()
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Fatalf("stopped with exit code %d\n%s", code, s.log)
	}
}

// tail keeps the last lines of a log.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (l *tail) follow(r io.ReadCloser, found chan<- string) {
	defer func() { _ = r.Close() }()
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if m := address.FindSubmatch(bytes.TrimSpace(sc.Bytes())); m != nil {
			found <- string(m[1])
		}
		l.mu.Lock()
		l.lines = append(l.lines, sc.Text())
		if len(l.lines) > 400 {
			l.lines = l.lines[200:]
		}
		l.mu.Unlock()
	}
}

// has reports whether one of the last lines contains a text.
func (l *tail) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, func(line string) bool { return strings.Contains(line, text) })
}

// String is the last lines; those of attempts that went as told are left out.
func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, line := range l.lines {
		if !strings.Contains(line, "msg=attempt") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// idle waits until nothing is left to send.
func (s *service) idle() {
	s.t.Helper()
	end := time.Now().Add(patience)
	for !s.api.none(context.Background(), "claimed", "sending") {
		if time.Now().After(end) {
			for _, state := range []string{"claimed", "sending"} {
				_ = s.api.list(context.Background(), url.Values{"state": {state}}, func(n row) bool {
					full, err := s.api.get(context.Background(), n.ID)
					s.t.Logf("left behind: %+v %v", full, err)
					return err == nil
				})
			}
			s.t.Fatalf("after %v there is still something to send", patience)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// eventually asks until the answer is yes.
func eventually(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !yes(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}
