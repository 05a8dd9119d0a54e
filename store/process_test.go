package store

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sendonce/ledger"
)

// TestMain lets the test binary be a second process that opens a ledger.
func TestMain(m *testing.M) {
	if path := os.Getenv("SENDONCE_TEST_OPEN"); path != "" {
		s, err := Open(Options{Path: path})
		if err == nil {
			err = s.Shutdown()
		}
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(4)
		}
		os.Exit(0)
	}
	if path := os.Getenv("SENDONCE_TEST_PANIC"); path != "" {
		s, err := Open(Options{Path: path})
		must(err)
		_, err = s.Settle(priorOf(&testing.T{}, s, claimOf(1)).ID, func(ledger.Notification) (ledger.Change, error) { panic("the decision panics") })
		must(err)
	}
	setProcess(slog.New(slog.DiscardHandler)) // some tests open a file past Open, and whichever runs first decides for the process
	os.Exit(m.Run())
}

func TestOpen_ASecondProcessDoesNotStart(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	link := filepath.Join(t.TempDir(), "link.db") // by another name it is the same ledger
	if err := os.Symlink(o.Path, link); err != nil {
		t.Fatal(err)
	}
	second := func(path string) (string, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SENDONCE_TEST_OPEN="+path)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, path := range []string{o.Path, link} {
		if out, err := second(path); err == nil || !strings.Contains(out, ErrLocked.Error()) {
			t.Fatalf("a second process: %v, %s", err, out)
		}
	}
	_, err := Open(o)
	wantErr(t, err, ErrLocked)
	wantErr(t, Create(o), ErrLocked)
	wantErr(t, AcceptRestored(o), ErrLocked)
	if err := s.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if out, err := second(link); err != nil {
		t.Fatalf("after the end of the first: %v, %s", err, out)
	}
}

// What panics in the writer ends the process: the next start knows what is open.
func TestWriter_APanicEndsTheProcess(t *testing.T) {
	o := created(t)
	served(t, o, func(s *Store) { claimed(t, s, claimOf(1)) })
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SENDONCE_TEST_PANIC="+o.Path)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: the decision panics") {
		t.Fatalf("%v: %s", err, out)
	}
	wantState(t, priorOf(t, opened(t, o), claimOf(1)), ledger.StateClaimed, "")
}
