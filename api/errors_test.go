package api

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sendonce/ledger"
)

// Each plain error of the ledger has its line in the table; one that was forgotten would be a 500.
func TestErrors_EverySentinelHasACode(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../ledger/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "Err") {
			return true
		}
		found++
		text, err := strconv.Unquote(v.Values[0].(*ast.CallExpr).Args[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sentinels {
			if s.err.Error() == text {
				return true
			}
		}
		t.Errorf("ledger.%s has no code", v.Names[0].Name)
		return true
	})
	if found < 10 {
		t.Errorf("only %d sentinels were found", found)
	}
}

// The status of each error, wrapped as the ledger wraps it; what can be repeated says when. (F34)
func TestErrors_StatusAndCode(t *testing.T) {
	const secret = "SECRETCANARY1 +15550100009 OTP 424242"
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{ledger.ErrNotFound, 404, "notification_not_found"}, {ledger.ErrNoProvider, 404, "provider_not_found"}, {ledger.ErrMayBeSent, 403, "role_missing"},
		{ledger.ErrNoReporter, 404, "receipts_not_taken"}, {ledger.ErrUnverified, 403, "receipts_unverified"}, {ledger.ErrUnsigned, 503, "receipts_unsigned"}, {ledger.ErrUnreadable, 400, "receipts_unreadable"},
		{ledger.ErrContentGone, 409, "content_gone"}, {ledger.ErrCountDiffers, 409, "count_differs"}, {ledger.ErrPast, 409, "expired_already"},
		{ledger.ErrNeedAccept, 409, "duplicate_not_accepted"}, {ledger.ErrIfMatch, 428, "if_match_required"}, {ledger.ErrOneState, 400, "invalid_request"},
		{ledger.ErrOverload, 429, "overload"}, {ledger.ErrUnavailable, 503, "storage_unavailable"}, {ledger.ErrUnknown, 503, "storage_unknown"},
		{ledger.ErrStorageLow, 503, "storage_low"}, {ledger.ErrClockBehind, 503, "clock_behind"}, {ledger.ErrNoChannel, 503, "channel_not_configured"}, {ledger.ErrDraining, 503, "draining"},
		{ledger.ErrMoved, 503, "row_moved"}, {&ledger.ReusedError{Existing: sample()}, 422, "dedupe_key_reused"}, {ledger.Invalid("event_id", "x"), 400, "invalid_request"},
		{&ledger.StateError{State: "sent"}, 409, "wrong_state"}, {&ledger.VersionError{Existing: sample()}, 412, "version_differs"}, {errors.New("surprise"), 500, "internal"},
	} {
		s := newStub()
		s.err = fmt.Errorf("%s: %w", secret, c.err)
		got := answerOf(t, New(s, Settings{}, quiet()), "GET", "/v1/notifications", "")
		p := got.problem(t)
		if got.status != c.status || p.Code != c.code || p.Type != "/problems/"+c.code || p.Title == "" || p.Detail == "" {
			t.Errorf("%v: %d %s", c.err, got.status, got.body)
		}
		if retry := got.header.Get("Retry-After"); (retry != "") != (c.status == 429 || c.status == 503) {
			t.Errorf("%v: Retry-After %q", c.err, retry)
		}
		if bytes.Contains(got.body, []byte("SECRET")) || bytes.Contains(got.body, []byte("surprise")) {
			t.Errorf("%v: an error's own text left: %s", c.err, got.body)
		}
	}
}

// What nobody planned for is one log line; what was planned for is none; panics don't end the process, and
// their text is not logged, since it may hold what a caller sent. (F34)
func TestErrors_Log(t *testing.T) {
	for _, c := range []struct {
		what  string
		set   func(*stub)
		lines int
	}{
		{"unknown", func(s *stub) { s.err = errors.New("surprise") }, 1},
		{"known", func(s *stub) { s.err = ledger.ErrUnavailable }, 0},
		{"panic", func(s *stub) { s.claim = panicking }, 1},
		{"runtime panic", func(s *stub) { s.claim = nilPanic }, 1},
	} {
		var log bytes.Buffer
		s := newStub()
		c.set(s)
		got := answerOf(t, New(s, Settings{}, slog.New(slog.NewTextHandler(&log, nil))), "POST", "/v1/notifications", bodies["POST /v1/notifications"])
		if got.status < 500 || strings.Count(log.String(), "level=ERROR") != c.lines {
			t.Errorf("%s: %d, log %s", c.what, got.status, log.String())
		}
		if strings.Contains(log.String(), "424242") || strings.Contains(string(got.body), "424242") || strings.Contains(log.String(), "Hello.") {
			t.Errorf("%s: content in %s %s", c.what, log.String(), got.body)
		}
	}
}

// docs/problems.md has a section for each code with its status and title, and no others.
func TestProblems_PageAndTable(t *testing.T) {
	page, err := os.ReadFile("../docs/problems.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := regexp.MustCompile("(?m)^## `([a-z_]+)`\n\n(.*)\n\n(.+)$").FindAllStringSubmatch(string(page), -1)
	if len(sections) != len(problemKinds) || strings.Count(string(page), "\n## `") != len(problemKinds) {
		t.Errorf("the page has %d sections, the table %d codes", len(sections), len(problemKinds))
	}
	for i, k := range problemKinds {
		if i >= len(sections) {
			break
		}
		head := fmt.Sprintf("Status %d. %s.", k.status, k.title)
		if k.retryAfter > 0 {
			head += fmt.Sprintf(" Retry-After: %d.", k.retryAfter)
		}
		if s := sections[i]; s[1] != k.code || s[2] != head {
			t.Errorf("section %d is %q %q, want %q %q", i, s[1], s[2], k.code, head)
		}
		if (k.retryAfter > 0) != (k.status == 429 || k.status == 503) {
			t.Errorf("%s: Retry-After %d with status %d", k.code, k.retryAfter, k.status)
		}
	}
}

// The type of a problem leads to a page that explains its code.
func TestProblems_TypeResolves(t *testing.T) {
	base := serve(t, newStub(), Settings{Keys: testKeys})
	for _, k := range problemKinds {
		got := do(t, "GET", base+refuse(k.code).problem.Type, "")
		if got.status != 200 || !strings.HasPrefix(string(got.body), k.code+"\n") || !strings.Contains(string(got.body), k.detail) {
			t.Errorf("%s: %d %s", k.code, got.status, got.body)
		}
	}
}

// A fault that every request meets, such as a file that cannot be read, is told, but not once for each request. (F39)
func TestErrors_F39_LogIsBounded(t *testing.T) {
	for what, set := range map[string]func(*stub){
		"unknown": func(s *stub) { s.err = errors.New("surprise") },
		"panic":   func(s *stub) { s.claim = panicking },
		"item":    func(s *stub) { s.itemErr = errors.New("surprise") },
	} {
		var log bytes.Buffer
		s := newStub()
		set(s)
		a := New(s, Settings{}, slog.New(slog.NewTextHandler(&log, nil)))
		path := "/v1/notifications"
		if what == "item" {
			path += "/batch"
		}
		for range 1000 {
			answerOf(t, a, "POST", path, bodies["POST "+path])
		}
		if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 50 {
			t.Errorf("%s: %d lines for 1000 requests", what, lines)
		}
	}
}
