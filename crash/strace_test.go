package crash

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// strace is a running strace that looks at the service, or spoils its system calls.
type strace struct {
	t    *testing.T
	cmd  *exec.Cmd
	file string
}

// attach puts strace on all threads of the service and returns once it has them.
func attach(s *service, args ...string) *strace {
	s.t.Helper()
	x := &strace{t: s.t, file: filepath.Join(s.t.TempDir(), "strace.log")}
	x.cmd = exec.Command("strace", append([]string{"-f", "-p", strconv.Itoa(s.cmd.Process.Pid), "-o", x.file}, args...)...)
	said := &watch{}
	x.cmd.Stderr = said
	if err := x.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(x.detach)
	eventually(s.t, "strace is attached", func() bool {
		text := said.String()
		if strings.Contains(text, "not permitted") {
			s.t.Skipf("NOT TESTED: strace may not attach here; run the tests as root or allow ptrace: %s", text)
		}
		return strings.Contains(text, "attached")
	})
	return x
}

// detach takes strace off; the service goes on as before.
func (x *strace) detach() {
	if x.cmd.ProcessState == nil {
		_ = x.cmd.Process.Signal(os.Interrupt)
		_ = x.cmd.Wait()
	}
}

// log is what strace has written so far, line by line.
func (x *strace) log() []string {
	b, err := os.ReadFile(x.file)
	if err != nil {
		x.t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

// injected counts the system calls that were spoiled.
func (x *strace) injected() int {
	return strings.Count(strings.Join(x.log(), "\n"), "(INJECTED)")
}

// watch keeps what a process writes, for reading while it runs.
type watch struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *watch) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

func (w *watch) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}
