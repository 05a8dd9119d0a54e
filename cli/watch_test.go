package cli

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// watcher is an output that ends a watch once it has shown a text.
type watcher struct {
	mu    sync.Mutex
	text  bytes.Buffer
	until string
	end   context.CancelFunc
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.text.Write(p)
	if strings.Contains(w.text.String(), w.until) {
		w.end()
	}
	return n, err
}

// screen is a watcher on a terminal.
type screen struct{ *watcher }

func (screen) Size() (columns, rows int) { return 100, 24 }

func watch(t *testing.T, s *service, live bool, until string, args ...string) (out, errs string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := &watcher{until: until, end: cancel}
	var e bytes.Buffer
	streams := Streams{In: strings.NewReader(""), Out: w, Err: &e}
	if live {
		streams.Out = screen{w}
	}
	code = Run(ctx, args, []string{"SENDONCE_URL=" + s.URL, "NO_COLOR=1"}, streams, Service{})
	return w.text.String(), e.String(), code
}

func stats(sent string) answer {
	return answer{200, `{"notifications":7,"states":{"sent":` + sent + `},"maybe_sent":2,"duplicates_suppressed":3,"duplicates_proven":0,"message_ids_shared":0,"oldest_ambiguous_at":null}`}
}

// A pipe gets what is new, line by line, and a service that is away for a moment is asked again; a look is one request, and there is
// a second between two of them.
func TestWatch_Lines(t *testing.T) {
	s := answers(t, stats("5"), stats("5"), problem(503, "storage_unknown", ""), stats("6"))
	began := time.Now()
	out, errs, code := watch(t, s, false, "  6\n", "stats", "--watch=1s")
	took := time.Since(began)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != ExitDone || len(lines) != 7 || strings.Join(strings.Fields(lines[1]), " ") != "sent 5" || !strings.Contains(lines[6], " UTC    sent ") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if strings.Count(errs, "A title") != 1 || len(s.seen) != 4 || took < 3*time.Second {
		t.Errorf("%d requests in %v, %q", len(s.seen), took, errs)
	}
}

// On a terminal a look takes the place of the one before, and marks what it changed.
func TestWatch_Redraws(t *testing.T) {
	record := func(state string) answer {
		return answer{200, strings.TrimSuffix(notification(`"state":"claimed"`, `"state":"`+state+`"`), "}") +
			`,"message":{"text":"t"},"metadata":null,"attempts":[],"receipts":[],"settlements":[],"duplicates":[],"resends":[]}`}
	}
	s := answers(t, record("claimed"), record("sent"))
	out, _, code := watch(t, s, true, "▸ state        sent", "get", id, "--watch=1s")
	pages := strings.Split(out, "\x1b[H")
	if code != ExitDone || len(pages) != 3 || strings.Count(out, "▸") != 1 || !strings.Contains(pages[1], "\n  state        claimed") ||
		!strings.Contains(pages[1], "every 1s, Ctrl-C ends") {
		t.Errorf("exit %d, %q", code, out)
	}
}

// JSON comes again when anything in it is new; the first look decides as the command without --watch does.
func TestWatch_JSONAndRefusals(t *testing.T) {
	out, _, code := watch(t, answers(t, stats("5"), stats("6")), true, `"sent":6`, "stats", "--json", "--watch=1s")
	if want := stats("5").body + "\n" + stats("6").body + "\n"; code != ExitDone || out != want {
		t.Errorf("exit %d, %q", code, out)
	}
	if _, errs, code := watch(t, answers(t, problem(404, "notification_not_found", "")), false, "-", "get", id, "--watch"); code != ExitNo || !strings.Contains(errs, "not_found") {
		t.Errorf("exit %d, %s", code, errs)
	}
	for _, args := range [][]string{
		{"stats", "--watch=100ms"}, {"list", "--watch", "--all"}, {"providers", "--watch", "--codes"}, {"stats", "--watch=often"}, {"send", "--watch"},
	} {
		if r := run(t, nil, "", args...); r.code != ExitUsage || r.out != "" {
			t.Errorf("%q: exit %d, %s", args, r.code, r.err)
		}
	}
	row := lost(`"next_action":"send"`, `"next_action":"ask"`)
	s := answers(t, answer{200, `{"notifications":[` + row + "," + row + `],"next_cursor":null}`})
	if out, _, _ := watch(t, s, false, id, "list", "--state", "ambiguous", "--watch"); len(s.seen) != 1 || !strings.Contains(out, "ambiguous (no_answer)") {
		t.Errorf("%d requests, %s", len(s.seen), out)
	}
}
