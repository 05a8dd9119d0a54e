package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// tty is a terminal of 80 columns.
type tty struct{ bytes.Buffer }

func (*tty) Size() (columns, rows int) { return 80, 24 }

// look runs a command line whose output somebody looks at.
func look(t *testing.T, s *service, env []string, args ...string) (out, errs string) {
	t.Helper()
	var o, e tty
	if code := Run(context.Background(), args, append(env, "SENDONCE_URL="+s.URL), Streams{In: strings.NewReader(""), Out: &o, Err: &e}, Service{}); code != ExitDone {
		t.Fatalf("%q: exit %d, %s", args, code, e.String())
	}
	return o.String(), e.String()
}

// Lists fit an old terminal, colours come only where nobody said no, and ids stay whole: they are there to be copied.
func TestList_OnATerminal(t *testing.T) {
	page := answer{200, `{"notifications":[` + notification() + "," + lost(`"event_id":"evt_1"`, `"event_id":"漢字\u202e\u001b[31m"`) + `],"next_cursor":null}`}
	out, errs := look(t, answers(t, page), nil, "list")
	want := "\x1b[1mID\x1b[0m                                    \x1b[1mSTATE\x1b[0m                         \x1b[1mRECIPIENT\x1b[0m\n" +
		id + "  \x1b[36mclaimed\x1b[0m                       +14155550142\n" +
		id + "  \x1b[33mambiguous (no_answer), mayb…\x1b[0m  +14155550142\n"
	if out != want || !strings.Contains(errs, "No room for ATTEMPTS, PROVIDER, CHANNEL, CLAIMED, EVENT") {
		t.Errorf("got\n%q\nwant\n%q\n%s", out, want, errs)
	}
	for _, no := range [][]string{{"list", "--color", "never"}, {"--color=never", "list"}} {
		if out, _ := look(t, answers(t, page), nil, no...); strings.Contains(out, "\x1b") {
			t.Errorf("%q: %q", no, out)
		}
	}
	if out, _ := look(t, answers(t, page), []string{"NO_COLOR=1"}, "list"); strings.Contains(out, "\x1b") {
		t.Errorf("NO_COLOR: %q", out)
	}
	if r := run(t, answers(t, page), "", "list", "--color", "always"); !strings.Contains(r.out, "\x1b[33mambiguous (no_answer), maybe sent\x1b[0m  sms") ||
		!strings.Contains(r.out, "漢字··[31m") {
		t.Errorf("always: %q", r.out)
	}
	if r := run(t, nil, "", "list", "--color", "sometimes"); r.code != ExitUsage || !strings.Contains(r.err, "auto, always or never") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
}

// JSON that somebody looks at steers no terminal; a pipe gets it as it came.
func TestList_JSONOnATerminal(t *testing.T) {
	page := answer{200, `{"notifications":[` + lost(`"event_id":"evt_1"`, "\"event_id\":\"evt\u009b31m\"") + `],"next_cursor":null}`}
	if out, _ := look(t, answers(t, page), nil, "list", "--json"); !strings.Contains(out, `"evt\u009b31m"`) || strings.Contains(out, "\u009b") {
		t.Errorf("%q", out)
	}
	if r := run(t, answers(t, page), "", "list", "--json"); !strings.Contains(r.out, "\"evt\u009b31m\"") {
		t.Errorf("%q", r.out)
	}
}

// The history of a row is what a person decides by: a narrow terminal leaves nothing out of it.
func TestGet_OnATerminal(t *testing.T) {
	record := strings.TrimSuffix(lost(), "}") + `,"message":{"text":"t"},"metadata":null,"attempts":[
 {"number":1,"kind":"send","provider":"infrai_main","started_at":"2026-11-30T09:30:00.000Z","ended_at":"2026-11-30T09:30:15.000Z","outcome":"ambiguous",
  "phase":"written","status":null,"code":null,"message_id":null,"error":"no answer in 15 s","answer":null}],"receipts":[],"settlements":[],"duplicates":[],"resends":[]}`
	out, _ := look(t, answers(t, answer{200, record}), []string{"NO_COLOR=1"}, "get", id)
	want := `
attempts
  no          1
  kind        send
  provider    infrai_main
  started     2026-11-30 09:30:00 UTC
  ended       2026-11-30 09:30:15 UTC
  outcome     ambiguous
  phase       written
  error       no answer in 15 s
`
	if !strings.HasSuffix(out, want) {
		t.Errorf("got\n%s", out)
	}
}
