package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// An export has every row of the filter once, and nothing that a table program would compute.
func TestExport_WholeAndSafe(t *testing.T) {
	r := newRig(t)
	for i := range ledger.MaxList + 20 {
		r.claim(ledger.Event{EventID: fmt.Sprintf("evt_%d", i), SendAt: time.Now().Add(time.Hour)})
	}
	for _, evil := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "＝1"} {
		r.claim(ledger.Event{EventID: evil, EventType: evil, UserID: evil, Source: evil, SendAt: time.Now().Add(time.Hour)})
	}
	r.claim(ledger.Event{EventID: `a";"=1+1`, SendAt: time.Now().Add(time.Hour)})
	w := r.as("operator").get("/notifications/export?format=csv&state=claimed")
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Disposition"), "attachment; filename=") {
		t.Fatal(w.Code, w.Header())
	}
	table, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range table {
		seen[line[0]] = true
		for _, cell := range line {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
				t.Errorf("a cell begins as a formula: %q", cell)
			}
		}
	}
	if want := ledger.MaxList + 20 + 6 + 1; len(table) != want || len(seen) != want {
		t.Errorf("%d lines of %d rows, want %d", len(table), len(seen), want)
	}
	has(t, w, `"'=1+1"`, `"'+14155550142"`, `"a"";""'=1+1"`)
	lines := strings.Split(strings.TrimSpace(r.as("reader").get("/notifications/export?format=ndjson").Body.String()), "\n")
	for _, line := range lines {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil || len(row) != len(columns) || row["recipient"] != "+14•••42" {
			t.Fatalf("%v: %s", err, line)
		}
	}
	if len(lines) != len(table)-1 {
		t.Errorf("%d lines of JSON", len(lines))
	}
	csvText := r.as("sender").get("/notifications/export?format=csv")
	hasNot(t, csvText, "4155550142")
}

// In a program that divides cells by semicolons or tabs, too, nothing of a row is computed, and no byte stands before the first name.
func TestExport_CellsOfOtherTables(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain; text": "plain; text", "a-b=c": "a-b=c", "=1": "'=1", "a;=1": "a;'=1", `a;"=1`: `a;"'=1`, `a; " +1`: `a; " '+1`, "a\t@x": "a\t'@x", "a\n-1": "a\n'-1", "a;＝1": "a;'＝1",
		"\t=1": "'\t'=1", "a,=1": "a,=1", ";;=1;=2": ";;'=1;'=2", "a;b=1": "a;b=1", "\u00e4;=1": "\u00e4;'=1",
	} {
		if got := unformula(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	var b bytes.Buffer
	csvRow(&b, []any{"shop", `x;"=cmd|' /C calc'!A1`, "é"})
	for part := range strings.SplitSeq(b.String(), ";") { // as such a program reads it
		if cell := strings.TrimLeft(part, `" `); strings.ContainsAny(cell[:1], "=+-@") {
			t.Errorf("a cell begins as a formula: %q", cell)
		}
	}
	r := newRig(t)
	if text := r.as("operator").get("/notifications/export?format=csv").Body.String(); !strings.HasPrefix(text, `"id","dedupe_key",`) {
		t.Errorf("it begins with %.20q", text)
	}
}

// endless is a ledger whose list never ends.
type endless struct {
	Ledger
	asked func()
}

func (e endless) List(ctx context.Context, f ledger.Filter) (ledger.Page, error) {
	e.asked()
	n := ledger.Notification{EventID: strings.Repeat("e", 200), Channel: ledger.SMS, RecipientKey: "+14155550142"}
	return ledger.Page{Rows: []ledger.Notification{n, n, n}, Next: f.Cursor + 3}, ctx.Err()
}

func (endless) Providers() []ledger.ProviderStatus { return nil }

func (endless) Condition() ledger.Condition { return ledger.Condition{} }

// slowExport is what a reader has of an export, in a bubble in which time passes only when nobody does anything.
type slowExport struct {
	console *Console
	visitor *visitor
	body    *bufio.Reader
	lists   atomic.Int64
}

// slowly begins an export over a connection that holds nothing back, as the service serves it.
func slowly(t *testing.T) *slowExport {
	t.Helper()
	s := &slowExport{}
	s.console = New(endless{asked: func() { s.lists.Add(1) }}, Settings{Login: loginOf}, slog.New(slog.DiscardHandler))
	s.visitor = (&rig{t: t, console: s.console}).as("operator")
	ours, theirs := net.Pipe()
	srv := &http.Server{Handler: s.console, ReadTimeout: 15 * time.Second, WriteTimeout: 60 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() { _ = srv.Serve(&oneConn{conn: theirs}) }()
	t.Cleanup(func() { _ = ours.Close(); _ = srv.Close(); synctest.Wait() })
	req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1/console/notifications/export?format=ndjson", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(s.visitor.cookie)
	go func() { _ = req.Write(ours) }()
	res, err := http.ReadResponse(bufio.NewReader(ours), req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	s.body = bufio.NewReader(res.Body)
	return s
}

// oneConn is a listener with one connection.
type oneConn struct{ conn net.Conn }

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	return nil, errors.New("no more")
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// line reads a row.
func (s *slowExport) line(t *testing.T) {
	t.Helper()
	if _, err := s.body.ReadString('\n'); err != nil {
		t.Fatalf("the export ended after %d pages: %v", s.lists.Load(), err)
	}
}

// cut demands that the export ends, broken off.
func (s *slowExport) cut(t *testing.T) {
	t.Helper()
	before := s.lists.Load()
	if _, err := io.Copy(io.Discard, s.body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it ends with %v", err)
	}
	if s.lists.Load() > before+100 || s.console.exports.now() != 0 {
		t.Errorf("%d pages more; %d exports are still written", s.lists.Load()-before, s.console.exports.now())
	}
}

// A reader that is steady has an export for as long as it takes; one that stands still gives his place up. Two that stood still held
// both for ever.
func TestExport_ReaderThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowly(t)
		for range 400 {
			time.Sleep(time.Second)
			s.line(t)
			s.console.sessions.find(s.visitor.cookie.Value, time.Now(), true)
		}
		time.Sleep(exportWrite + time.Second)
		synctest.Wait()
		if n := s.console.exports.now(); n != 0 {
			t.Errorf("%d exports are still written", n)
		}
		s.cut(t)
	})
}

// Whoever reads as slowly as he may, with one key, leaves a place to others.
func TestExport_OneKeyHasNotAll(t *testing.T) {
	r := newRig(t)
	for range keyExports {
		r.console.exports.enter("of some login", "operator")
	}
	const path = "/notifications/export?format=csv"
	if w := r.as("operator").get(path); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one export too many: %d", w.Code)
	}
	if w := r.as("reader").get(path); w.Code != http.StatusOK || r.console.exports.now() != keyExports {
		t.Errorf("of another key: %d; then %d are still written", w.Code, r.console.exports.now())
	}
}

// An export ends with the login: by logging out, or an hour after its last use, which an export is none of.
func TestExport_EndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowly(t)
		s.line(t)
		if w := s.visitor.post("/logout", nil); w.Code != http.StatusSeeOther {
			t.Fatal(w.Code)
		}
		s.cut(t)
	})
	synctest.Test(t, func(t *testing.T) {
		s := slowly(t)
		for range 3599 {
			time.Sleep(time.Second)
			s.line(t)
		}
		time.Sleep(2 * time.Second)
		s.cut(t)
	})
}

// A stop of the service waits for no reader.
func TestExport_EndsWithTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowly(t)
		s.line(t)
		begin := time.Now()
		s.console.Stop()
		synctest.Wait()
		if n := s.console.exports.now(); n != 0 || time.Since(begin) != 0 {
			t.Errorf("%d exports are still written after %v", n, time.Since(begin))
		}
		s.cut(t)
	})
}
