package cli

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// requestCase is the request that a command line makes.
type requestCase struct {
	args  []string
	stdin string
	line  string
	body  string
}

func requestCases(file string) []requestCase {
	event := []string{"--event-id", "evt_1", "--channel", "sms", "--recipient", "+14155550142"}
	return []requestCase{
		{append([]string{"send", "--text", "1 < 2 & ü"}, event...), "",
			"POST /v1/notifications", `{"event_id":"evt_1","channel":"sms","recipient":"+14155550142","message":{"text":"1 < 2 & ü"}}`},
		{append([]string{"send", "--text", "t", "--subject", "s", "--event-type", "a.b", "--user-id", "u", "--source", "", "--provider", "p",
			"--lane", "urgent", "--send-at", "2026-11-30T09:30:00Z", "--expires-at", "2026-11-30T10:30:00+01:00", "--occurred-at", "2026-11-30T09:00:00Z",
			"--dedupe-key", "k", "--metadata", `{"a":1.10}`}, event...), "",
			"POST /v1/notifications", `{"event_id":"evt_1","event_type":"a.b","source":"","user_id":"u","occurred_at":"2026-11-30T09:00:00Z","channel":"sms","recipient":"+14155550142",` +
				`"message":{"subject":"s","text":"t"},"provider":"p","lane":"urgent","send_at":"2026-11-30T09:30:00Z","expires_at":"2026-11-30T10:30:00+01:00","metadata":{"a":1.10},"dedupe_key":"k"}`},
		{append([]string{"send", "--data", `{"n": 9007199254740993}`}, event...), "",
			"POST /v1/notifications", `{"event_id":"evt_1","channel":"sms","recipient":"+14155550142","message":{"data":{"n":9007199254740993}}}`},
		{append([]string{"send", "--message", `{"template":{"id":"x","variables":{}}}`}, event...), "",
			"POST /v1/notifications", `{"event_id":"evt_1","channel":"sms","recipient":"+14155550142","message":{"template":{"id":"x","variables":{}}}}`},
		{[]string{"send", "--file", "-"}, `{"event_id":"a","event_id":"b"}`, "POST /v1/notifications", `{"event_id":"a","event_id":"b"}`},
		{[]string{"send", "--file", file}, "", "POST /v1/notifications", ` {"event_id":1} `},
		{[]string{"get", id}, "", "GET /v1/notifications/" + id, ""},
		{[]string{"list"}, "", "GET /v1/notifications", ""},
		{[]string{"list", "--state", "failed,ambiguous", "--recipient", "+1 415", "--source", "", "--sort", "oldest", "--limit", "5", "--cursor", "c"}, "",
			"GET /v1/notifications?cursor=c&limit=5&recipient=%2B1+415&sort=oldest&source=&state=failed%2Cambiguous", ""},
		{[]string{"list", "--event-id", "e", "--message-id", "m", "--dedupe-key", "k", "--channel", "sms", "--provider", "p", "--event-type", "t",
			"--user-id", "u", "--delivery", "delivered", "--claimed-after", "2026-11-30T00:00:00Z", "--claimed-before", "2026-12-01T00:00:00Z"}, "",
			"GET /v1/notifications?channel=sms&claimed_after=2026-11-30T00%3A00%3A00Z&claimed_before=2026-12-01T00%3A00%3A00Z&dedupe_key=k&delivery=delivered" +
				"&event_id=e&event_type=t&message_id=m&provider=p&user_id=u", ""},
		{append([]string{"key", "--event-type", "t", "--user-id", "u", "--source", "s"}, event...), "",
			"GET /v1/keys?channel=sms&event_id=evt_1&event_type=t&recipient=%2B14155550142&source=s&user_id=u", ""},
		{[]string{"confirm", id, "--reason", "r", "--by", "Ada", "--message-id", "m"}, "",
			"POST /v1/notifications/" + id + "/confirm", `{"reason":"r","by":"Ada","message_id":"m"}`},
		{[]string{"release", id, "--reason", "r", "--expires-at", "2026-12-01T00:00:00Z"}, "",
			"POST /v1/notifications/" + id + "/release", `{"reason":"r","expires_at":"2026-12-01T00:00:00Z"}`},
		{[]string{"abandon", id, "--reason", "r"}, "", "POST /v1/notifications/" + id + "/abandon", `{"reason":"r"}`},
		{[]string{"hold", id, "--reason", "r"}, "", "POST /v1/notifications/" + id + "/hold", `{"reason":"r"}`},
		{[]string{"unhold", id, "--reason", "r"}, "", "POST /v1/notifications/" + id + "/unhold", `{"reason":"r"}`},
		{[]string{"cancel", id, "--reason", "r"}, "", "POST /v1/notifications/" + id + "/cancel", `{"reason":"r"}`},
		{[]string{"resend", id, "--reason", "r", "--if-match", "3", "--accept-duplicate"}, "",
			"POST /v1/notifications/" + id + "/resend", `{"reason":"r","accept_duplicate":true}`},
		{[]string{"settle", "--action", "release", "--state", "ambiguous", "--source", "", "--reason", "r", "--by", "Ada", "--expect", "2"}, "",
			"POST /v1/settlements", `{"action":"release","filter":{"state":"ambiguous","source":""},"reason":"r","by":"Ada","expected_count":2}`},
		{[]string{"settle", "--action", "cancel", "--provider", "p", "--reason", "r", "--dry-run"}, "",
			"POST /v1/settlements", `{"action":"cancel","filter":{"provider":"p"},"reason":"r","dry_run":true}`},
		{[]string{"providers"}, "", "GET /v1/providers", ""},
		{[]string{"providers", "pause", "infrai_main", "--reason", "r"}, "", "POST /v1/providers/infrai_main/pause", `{"reason":"r"}`},
		{[]string{"providers", "resume", "infrai_main"}, "", "POST /v1/providers/infrai_main/resume", `{"reason":""}`},
		{[]string{"stats"}, "", "GET /v1/stats", ""},
	}
}

// Each command makes one request, and this one.
func TestRun_Requests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(file, []byte(" {\"event_id\":1} "), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range requestCases(file) {
		s := answers(t, answer{200, "{}"})
		r := run(t, s, tc.stdin, tc.args...)
		if r.code != ExitDone {
			t.Errorf("%q: exit %d, %s", tc.args, r.code, r.err)
			continue
		}
		got := s.only(t)
		if got.line != tc.line || strings.TrimSuffix(got.body, "\n") != tc.body {
			t.Errorf("%q:\ngot  %s %s\nwant %s %s", tc.args, got.line, got.body, tc.line, tc.body)
		}
		if json := got.header.Get("Content-Type") == "application/json"; json != (tc.body != "") {
			t.Errorf("%q: content type %q", tc.args, got.header.Get("Content-Type"))
		}
		// Go's transport repeats requests by itself on a kept connection that breaks, those with such a header even when they are POSTs.
		if got.header.Get("Idempotency-Key") != "" || got.header.Get("Connection") != "close" {
			t.Errorf("%q: headers %v", tc.args, got.header)
		}
	}
}

func TestRun_Headers(t *testing.T) {
	s := answers(t, answer{200, notification()})
	env := []string{"SENDONCE_URL=" + s.URL + "/", "SENDONCE_KEY=old", "SENDONCE_KEY=secret-key"}
	runWith(t, env, Service{}, "", "release", id, "--reason", "r", "--if-match", "3")
	got := s.only(t)
	if got.header.Get("If-Match") != `"3"` || got.header.Get("Authorization") != "Bearer secret-key" || !strings.HasPrefix(got.line, "POST /v1/") {
		t.Errorf("got %s %v", got.line, got.header)
	}

	s = answers(t, answer{200, notification()})
	runWith(t, []string{"SENDONCE_KEY=env"}, Service{}, "", "send", "--file", "-", "--url", s.URL, "--key", "flag", "--wait", "2500ms")
	if len(s.seen) != 0 {
		t.Error("an empty event was sent")
	}
	runWith(t, []string{"SENDONCE_KEY=env"}, Service{}, "{}", "send", "--file", "-", "--url", s.URL, "--key", "flag", "--wait", "2500ms")
	got = s.only(t)
	if got.header.Get("Prefer") != "wait=3" || got.header.Get("Authorization") != "Bearer flag" || got.header.Get("If-Match") != "" {
		t.Errorf("got %v", got.header)
	}
}

// A version is never fetched behind a person's back: who gives none is told to look at the row first.
func TestRun_IfMatchIsThePersons(t *testing.T) {
	s := answers(t, problem(428, "if_match_required", `,"notification":`+lost()))
	r := run(t, s, "", "release", id, "--reason", "r")
	if got := s.only(t); got.header.Get("If-Match") != "" {
		t.Errorf("If-Match %s was sent", got.header.Get("If-Match"))
	}
	for _, want := range []string{"ambiguous (no_answer), maybe sent", "sendonce get " + id, "--if-match 3"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("no %q in\n%s", want, r.err)
		}
	}
	if r.code != ExitNo || r.out != "" {
		t.Errorf("exit %d, out %q", r.code, r.out)
	}
}

func TestRun_RelativeTimes(t *testing.T) {
	before := time.Now().Add(-24*time.Hour - time.Minute)
	s := answers(t, answer{200, `{"notifications":[],"next_cursor":null}`})
	run(t, s, "", "list", "--claimed-after", "24h")
	u, err := url.Parse(strings.TrimPrefix(s.only(t).line, "GET "))
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, u.Query().Get("claimed_after"))
	if err != nil || at.Before(before) || at.After(before.Add(2*time.Minute)) {
		t.Errorf("claimed_after is %s (%v)", at, err)
	}
}

func TestList_All(t *testing.T) {
	page := func(next string) answer {
		return answer{200, `{"notifications":[` + notification() + `],"next_cursor":` + next + `}`}
	}
	s := answers(t, page(`"a"`), page(`"b"`), page("null"))
	r := run(t, s, "", "list", "--all")
	if r.code != ExitDone || strings.Count(r.out, id) != 3 || strings.Count(r.out, "RECIPIENT") != 1 || len(s.seen) != 3 {
		t.Errorf("exit %d, %d requests, out\n%s", r.code, len(s.seen), r.out)
	}
	if want := "GET /v1/notifications?cursor=b"; s.seen[2].line != want {
		t.Errorf("the last request was %s, want %s", s.seen[2].line, want)
	}
	if r := run(t, answers(t, page(`"a"`)), "", "list", "--all"); r.code != ExitUnreachable || strings.Count(r.out, id) != 2 {
		t.Errorf("a cursor that stands still: exit %d, out\n%s", r.code, r.out)
	}
	if r := run(t, answers(t, page(`"a"`)), "", "list"); r.code != ExitDone || !strings.Contains(r.err, "--cursor a") {
		t.Errorf("one page: exit %d, err %s", r.code, r.err)
	}
}

// With --json the service's bytes come out as they are, and nothing else does.
func TestRun_JSONAsItCame(t *testing.T) {
	const odd = `{"id": "x",  "new_field": 1.10, "state":"ambiguous"}`
	for _, args := range [][]string{
		{"get", id}, {"send", "--file", "-"}, {"confirm", id, "--reason", "r"}, {"resend", id, "--reason", "r", "--if-match", "1"},
		{"list"}, {"key", "--event-id", "e"}, {"providers"}, {"stats"}, {"providers", "pause", "p", "--reason", "r"},
		{"settle", "--action", "cancel", "--state", "held", "--reason", "r", "--dry-run"},
	} {
		r := run(t, answers(t, answer{200, odd + "\n"}), "{}", append(args, "--json")...)
		if r.code != ExitDone || r.out != odd+"\n" || r.err != "" {
			t.Errorf("%q: exit %d, out %q, err %q", args, r.code, r.out, r.err)
		}
		no := problem(404, "notification_not_found", `,"new_field":1.10`)
		r = run(t, answers(t, no), "{}", append(args, "--json")...)
		if r.code != ExitNo || r.out != no.body+"\n" {
			t.Errorf("%q: exit %d, out %q", args, r.code, r.out)
		}
	}
}
