package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sendonce/config"
)

func problem(status int, code string, more string) answer {
	return answer{status, fmt.Sprintf(`{"type":"/problems/%s","title":"A title","status":%d,"detail":"A detail.","code":%q%s}`, code, status, code, more)}
}

func TestRun_ExitCodeOfAnswers(t *testing.T) {
	for _, tc := range []struct {
		answer answer
		want   int
	}{
		{answer{200, notification()}, ExitDone},
		{problem(400, "invalid_request", ""), ExitNo},
		{problem(401, "unauthorized", ""), ExitUsage},
		{problem(403, "role_missing", ""), ExitNo},
		{problem(404, "notification_not_found", ""), ExitNo},
		{problem(409, "wrong_state", `,"state":"sent","allowed":[]`), ExitNo},
		{problem(412, "version_differs", ""), ExitNo},
		{problem(422, "dedupe_key_reused", ""), ExitNo},
		{problem(429, "overload", ""), ExitUnreachable},
		{problem(500, "internal", ""), ExitUnreachable},
		{problem(503, "storage_unknown", ""), ExitUnreachable},
		{answer{502, "<html>Bad gateway</html>"}, ExitUnreachable},
		{answer{200, "<html>Welcome</html>"}, ExitUnreachable},
		{answer{307, ""}, ExitUnreachable},
		{answer{200, `{"id":5}`}, ExitUnreachable},
	} {
		s := answers(t, tc.answer)
		if r := run(t, s, "", "confirm", id, "--reason", "seen"); r.code != tc.want {
			t.Errorf("%d %.40s: exit %d, want %d\n%s", tc.answer.status, tc.answer.body, r.code, tc.want, r.err)
		}
		s.only(t) // nothing is repeated, whatever the answer
	}
}

func TestRun_ExitCodeOfUsage(t *testing.T) {
	for _, args := range [][]string{
		{"sned"},
		{"send", "--nonsense"},
		{"send"},
		{"send", "--event-id", "e", "--channel", "sms", "--recipient", "r"},
		{"send", "--event-id", "e", "--channel", "sms", "--recipient", "r", "--text", "a", "--message", "{}"},
		{"send", "--event-id", "e", "--channel", "sms", "--recipient", "r", "--message", "{"},
		{"send", "--event-id", "e", "--channel", "sms", "--recipient", "r", "--data", "{"},
		{"send", "--event-id", "e", "--channel", "sms", "--recipient", "r", "--text", "a", "--metadata", "{"},
		{"send", "--event-id", "e", "--channel", "sms", "--recipient", "r", "--text", "a", "--send-at", "soon"},
		{"send", "--event-id", "e", "--channel", "sms", "--recipient", "r", "--text", "a", "--wait", "31s"},
		{"send", "--file", "-"},
		{"send", "--file", "/nowhere/event.json"},
		{"send", "--file", "-", "--text", "a"},
		{"send", "--database", "x.db", "--file", "-"},
		{"get"},
		{"get", "1"},
		{"get", "../providers"},
		{"get", "{" + id + "}"},
		{"get", id, id},
		{"list", "--limit", "many"},
		{"list", "--state", ""},
		{"list", "--claimed-after", "yesterday"},
		{"confirm", id},
		{"confirm", id, "--reason", " "},
		{"confirm", id, "--reason", "r", "--if-match", "0"},
		{"cancel", id, "--reason", "r", "--message-id", "m"},
		{"resend", id},
		{"settle", "--state", "ambiguous", "--reason", "r", "--dry-run"},
		{"settle", "--action", "release", "--reason", "r", "--dry-run"},
		{"settle", "--action", "release", "--state", "ambiguous", "--dry-run"},
		{"settle", "--action", "release", "--state", "ambiguous", "--reason", "r"},
		{"providers", "stop", "x"},
		{"providers", "pause", "x"},
		{"providers", "pause", "a/b", "--reason", "r"},
		{"providers", "resume"},
		{"providers", "pause", "x", "--reason", "r", "--config", "c"},
		{"key"},
		{"stats", "now"},
		{"stats", "--url", "127.0.0.1:8484"},
		{"stats", "--url", "http://u:SECRETCANARY1@127.0.0.1"},
		{"stats", "--key", "SECRET CANARY1"},
		{"serve", "--url", "http://127.0.0.1"},
		{"serve", "--config", ""},
		{"serve", "now"},
		{"config", "--json"},
		{"restore"},
		{"version", "1"},
		{"demo", "now"},
		{"demo", "--events", "1"},
		{"demo", "--speed", "0"},
		{"demo", "--speed", "NaN"},
		{"demo", "--database", "x.db"},
		{"demo", "--url", "http://127.0.0.1"},
	} {
		r := run(t, nil, "", args...)
		if r.code != ExitUsage || r.err == "" || r.out != "" {
			t.Errorf("%q: exit %d, out %q, err %q", args, r.code, r.out, r.err)
		}
		if strings.Contains(r.err, "CANARY") {
			t.Errorf("%q: a secret shows: %s", args, r.err)
		}
	}
}

func TestRun_ExitCodeOfHooks(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
	}{
		{nil, ExitDone},
		{errors.New("no"), ExitNo},
		{&ExitError{ExitLedger, errors.New("locked")}, ExitLedger},
		{fmt.Errorf("open: %w", &ExitError{ExitLedger, errors.New("locked")}), ExitLedger},
		{&ExitError{ExitUsage, errors.New("address in use")}, ExitUsage},
	} {
		hook := func(context.Context, config.Config) error { return tc.err }
		svc := Service{Serve: hook, Init: hook, RestoreAccept: hook, Check: func(context.Context, config.Config, Done) (Differences, error) {
			return Differences{}, tc.err
		}}
		t.Chdir(t.TempDir())
		for _, args := range [][]string{{"serve"}, {"init"}, {"check"}, {"restore", "--accept"}} {
			if r := runWith(t, nil, svc, "", args...); r.code != tc.want || (r.err == "") != (tc.err == nil) && args[0] != "restore" {
				t.Errorf("%q with %v: exit %d, want %d, err %q", args, tc.err, r.code, tc.want, r.err)
			}
		}
	}
}

func TestRun_NoService(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	r := run(t, nil, "", "stats", "--url", "http://"+address)
	if r.code != ExitUnreachable || !strings.Contains(r.err, "no service answers at "+address) {
		t.Errorf("exit %d, err %q", r.code, r.err)
	}
}

// A redirect is no answer of sendonce, and the key must not follow it to somebody else.
func TestRun_FollowsNoRedirect(t *testing.T) {
	other := answers(t, answer{200, notification()})
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	r := runWith(t, []string{"SENDONCE_URL=" + s.URL, "SENDONCE_KEY=k"}, Service{}, "", "cancel", id, "--reason", "r")
	if r.code != ExitUnreachable || len(other.seen) != 0 {
		t.Errorf("exit %d, %d requests at the other place, %s", r.code, len(other.seen), r.err)
	}
}

// A lost answer must not be taken for a no: send says that repeating is safe, actions say to look first.
func TestRun_LostAnswer(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"send", "--event-id", "e", "--channel", "sms", "--recipient", "+14155550142", "--text", "a"}, "repeat the same command: that is safe"},
		{[]string{"confirm", id, "--reason", "r"}, "look whether it happened"},
		{[]string{"list", "--recipient", "+14155550142"}, ""},
		{[]string{"resend", id, "--reason", "r", "--if-match", "1"}, "look whether it happened"},
		{[]string{"settle", "--action", "abandon", "--state", "ambiguous", "--reason", "r", "--expect", "2"}, "count again"},
	} {
		calls := 0
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			calls++
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}))
		r := runWith(t, []string{"SENDONCE_URL=" + s.URL}, Service{}, "", tc.args...)
		s.Close()
		if r.code != ExitUnreachable || !strings.Contains(r.err, tc.want) || strings.Contains(r.err, "4155550142") {
			t.Errorf("%q: exit %d, err %q", tc.args, r.code, r.err)
		}
		if calls != 1 {
			t.Errorf("%q: %d calls, want 1", tc.args, calls)
		}
		// A 503 says the same, in the service's words first.
		r = run(t, answers(t, problem(503, "storage_unknown", "")), "", tc.args...)
		if r.code != ExitUnreachable || !strings.Contains(strings.ToLower(r.err), tc.want) {
			t.Errorf("%q after a 503: exit %d, err %q", tc.args, r.code, r.err)
		}
	}
}
