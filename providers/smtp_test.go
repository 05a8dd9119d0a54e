package providers

import (
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

func secure() *mailServer {
	config, _ := testTLS()
	return &mailServer{tls: config, offers: []string{"SIZE 10240000", "AUTH PLAIN LOGIN"}}
}

func TestSMTP_HandsOverOneMessage(t *testing.T) {
	const plain, user, password = "AHNob3AtdXNlcgBTRUNSRVRDQU5BUlkx", "c2hvcC11c2Vy", "U0VDUkVUQ0FOQVJZMQ=="
	login := func(s *mailServer) *mailServer {
		s.offers = []string{"AUTH LOGIN"}
		turn := 0
		s.answer = func(step, _ string) act {
			if step == "response" {
				if turn++; turn == 1 {
					return says("334 UGFzc3dvcmQ6\r\n")
				}
			}
			return nil
		}
		return s
	}
	implicit := secure()
	implicit.implicit = true
	envelope := []string{"MAIL FROM:<shop@example.test>", "RCPT TO:<" + testMailTo + ">", "DATA", "QUIT"}
	sized := "MAIL FROM:<shop@example.test> SIZE=317"
	for name, c := range map[string]struct {
		server *mailServer
		login  bool
		want   []string
	}{
		"plain text":  {&mailServer{}, false, append([]string{"EHLO [127.0.0.1]"}, envelope...)},
		"starttls":    {secure(), true, append([]string{"EHLO [127.0.0.1]", "STARTTLS", "EHLO [127.0.0.1]", "AUTH PLAIN " + plain, sized}, envelope[1:]...)},
		"implicit":    {implicit, true, append([]string{"EHLO [127.0.0.1]", "AUTH PLAIN " + plain, sized}, envelope[1:]...)},
		"no log-in":   {secure(), false, append([]string{"EHLO [127.0.0.1]", "STARTTLS", "EHLO [127.0.0.1]", sized}, envelope[1:]...)},
		"login":       {login(secure()), true, append([]string{"EHLO [127.0.0.1]", "STARTTLS", "EHLO [127.0.0.1]", "AUTH LOGIN", user, password}, envelope...)},
		"auth equals": {&mailServer{tls: secure().tls, offers: []string{"AUTH=PLAIN"}}, true, append([]string{"EHLO [127.0.0.1]", "STARTTLS", "EHLO [127.0.0.1]", "AUTH PLAIN " + plain}, envelope...)},
		"no initial response": {&mailServer{tls: secure().tls, offers: []string{"auth plain"}, answer: at("AUTH", says("334 \r\n"))}, true,
			append([]string{"EHLO [127.0.0.1]", "STARTTLS", "EHLO [127.0.0.1]", "AUTH PLAIN " + plain, plain}, envelope...)},
		"helo":       {&mailServer{answer: only("EHLO", says("502 What?\r\n"))}, false, append([]string{"EHLO [127.0.0.1]", "HELO [127.0.0.1]"}, envelope...)},
		"code alone": {&mailServer{answer: at("MAIL", says("250\r\n"))}, false, append([]string{"EHLO [127.0.0.1]"}, envelope...)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				change := func(*SMTPSettings) {}
				if c.login {
					change = withLogin
				}
				r := mailWith(t, newSMTP(t, c.server, change), 15*time.Second)
				check(t, r, expected{outcome: ledger.Accepted, code: "2.0.0", id: testMailID})
				if string(r.Answer) != "250 2.0.0 Ok: queued as 4XyZ\r\n" {
					t.Errorf("answer %q", r.Answer)
				}
				lines, messages := c.server.received()
				if !slices.Equal(lines, c.want) || len(messages) != 1 {
					t.Errorf("%d messages, commands\n%s\nwant\n%s", len(messages), strings.Join(lines, "\n"), strings.Join(c.want, "\n"))
				}
			})
		})
	}
}

// stepCase is what failures at one step of a delivery mean.
type stepCase struct {
	step          string
	broken        ledger.Fault // of a server that drops the connection or is silent
	fourth, fifth expected     // of 4xx and 5xx
	longest       time.Duration
}

// F14, F25: what a server does at each step, and what it means.
func TestSMTP_EachStep(t *testing.T) {
	no := func(f ledger.Fault) expected { return expected{outcome: ledger.Deferred, fault: f} }
	final := expected{outcome: ledger.Rejected}
	throttled, account := no(ledger.FaultThrottled), no(ledger.FaultAccount)
	for _, c := range []stepCase{
		{"banner", ledger.FaultUnreachable, throttled, account, 5 * time.Minute},
		{"EHLO", ledger.FaultUnreachable, throttled, account, 5 * time.Minute},
		{"STARTTLS", ledger.FaultUnreachable, throttled, strange, 5 * time.Minute},
		{"AUTH", ledger.FaultUnreachable, throttled, no(ledger.FaultCredentials), 5 * time.Minute},
		{"MAIL", ledger.NoFault, notSent, account, 5 * time.Minute},
		{"RCPT", ledger.NoFault, notSent, final, 5 * time.Minute},
		{"DATA", ledger.NoFault, notSent, final, 2 * time.Minute},
		{"dot", ledger.NoFault, notSent, final, 10 * time.Minute},
	} {
		for name, m := range c.misdeeds() {
			t.Run(c.step+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { c.run(t, m) })
			})
		}
	}
}

// misdeed is something that a server does in place of a reply.
type misdeed struct {
	act  act
	want expected
	took time.Duration // 0: at once
}

func (c stepCase) misdeeds() map[string]misdeed {
	lost, odd, unlisted := expected{outcome: ledger.Deferred, fault: c.broken}, strange, strange
	cut := lost
	if c.step == "dot" {
		lost, odd = expected{reason: ledger.ReasonNoAnswer}, expected{reason: ledger.ReasonUnreadableAnswer}
		cut, unlisted = odd, expected{reason: ledger.ReasonUnlistedAnswer}
	}
	closing := expected{outcome: ledger.Deferred, fault: ledger.FaultThrottled, code: "4.3.2"}
	logIn := expected{outcome: ledger.Deferred, fault: ledger.FaultCredentials, code: "5.7.0"}
	m := map[string]misdeed{
		"drops":          {drops, lost, 0},
		"is silent":      {silent, lost, c.longest},
		"cuts a line":    {func(n net.Conn) bool { says("250 O")(n); return false }, cut, 0},
		"drips":          {drips(strings.Repeat("2", 100)), lost, c.longest},
		"never ends":     {endless("250-more\r\n"), odd, 0},
		"one long line":  {endless("250 more and more "), odd, 0},
		"no code":        {says("Welcome!\r\n"), odd, 0},
		"HTTP":           {says("HTTP/1.1 400 Bad Request\r\n"), odd, 0},
		"bare LF":        {says("250 ok\n550 no\r\n"), odd, 0},
		"bare CR":        {says("250 ok\r550 no\r\n"), odd, 0},
		"two codes":      {says("250-ok\r\n550 no\r\n"), odd, 0},
		"a code too big": {says("650 ok\r\n"), odd, 0},
		"421":            {says("421 4.3.2 Closing\r\n"), closing, 0},
		"450":            {says("450 Not now\r\n"), c.fourth, 0},
		"several lines":  {says("550-No\r\n550 way\r\n"), c.fifth, 0},
		"530":            {says("530 5.7.0 Log in first\r\n"), logIn, 0},
		"330":            {says("330 Hm\r\n"), unlisted, 0},
	}
	if c.step == "DATA" { // any 3xx goes on
		delete(m, "330")
	}
	return m
}

func (c stepCase) run(t *testing.T, m misdeed) {
	s := secure()
	s.answer = at(c.step, m.act)
	p := newSMTP(t, s, withLogin)
	began := time.Now()
	r := mailWith(t, p, time.Hour)
	check(t, r, m.want)
	checkTime(t, r, time.Since(began), m.took)
	if _, messages := s.received(); len(messages) > 1 || s.conns != 1 || (len(messages) == 1) != (c.step == "dot") {
		t.Errorf("%d messages over %d connections", len(messages), s.conns)
	}
	if !strings.Contains(r.Error, c.step) && c.step != "dot" {
		t.Errorf("the error %q does not name the step", r.Error)
	}
}

// checkTime wants a delivery to end when it should. A connection that a reply is owed on is closed at once. On another one QUIT
// is said, and a pipe has no buffer: TLS waits 5 s for somebody to read its last word.
func checkTime(t *testing.T, r ledger.Result, took, want time.Duration) {
	t.Helper()
	slack := lookTime
	if r.Phase == ledger.Answered {
		slack = 6 * time.Second
	}
	if took < want || took > want+slack {
		t.Errorf("it took %v, want %v", took, want)
	}
}
