package main

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/fake"
)

// mailRelay is a mail server whose reply hangs on who the mail is for.
type mailRelay struct {
	mu   sync.Mutex
	seen map[string]int // handings by the name before the @, whatever became of them
	took map[string]int // mails that it keeps
}

func (m *mailRelay) serve(c net.Conn) {
	say := func(s string) { _, _ = io.WriteString(c, s+"\r\n") }
	say("220 mx.example.test")
	name := ""
	for r := bufio.NewScanner(c); r.Scan(); {
		verb, rest, _ := strings.Cut(r.Text(), " ")
		switch verb {
		case "RCPT":
			name, _, _ = strings.Cut(strings.TrimPrefix(rest, "TO:<"), "@")
			say(m.recipient(name))
		case "DATA":
			say("354 Go on")
			for r.Scan() && r.Text() != "." {
			}
			if !m.dot(c, name) {
				return
			}
			say("250 2.0.0 Ok")
		case "QUIT":
			return
		default:
			say("250 Ok")
		}
	}
}

func (m *mailRelay) recipient(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[name]++
	switch {
	case name == "gone":
		return "550 5.1.1 No such user"
	case name == "greylisted" && m.seen[name] == 1:
		return "451 4.7.1 Come back"
	}
	return "250 2.1.5 Ok"
}

// dot is what happens after the end of a mail, which is kept; false: no reply comes.
func (m *mailRelay) dot(c net.Conn, name string) bool {
	m.mu.Lock()
	m.took[name]++
	m.mu.Unlock()
	switch name {
	case "late":
		time.Sleep(time.Second)
	case "dropped":
		return false
	case "stuck":
		_, _ = io.Copy(io.Discard, c) // until the client is gone
		return false
	}
	return true
}

// F01, F14: mails through the whole service. A reply behind the time-out still counts, a lost one is no failure, a refusal is
// final, and a greylisted mail goes out later.
func TestSend_F01_MailsAndTheirLateReplies(t *testing.T) {
	t.Parallel()
	relay := &mailRelay{seen: map[string]int{}, took: map[string]int{}}
	p := newPlace(t, fake.Options{WellBehaved: true}, "  hooks: {", `  relay: {type: smtp, address: "`+accept(t, relay.serve)+`", tls: none, from: "Shop <shop@example.test>"}
  hooks: {`, "  webhook: {", "  email: {providers: [relay], timeout: 300ms, retry: [50ms, 100ms]}\n  webhook: {", "storage:", "shutdown: {drain: 100ms}\nstorage:")
	r := p.start()
	mail := func(name string) string {
		return event(`"event_id":"` + name + `","channel":"email","recipient":"` + name + `@customer.example.test","message":{"subject":"Grüße","text":"."}`)
	}
	stuck := r.post(mail("stuck"))
	for name, state := range map[string]string{"ada": "sent", "late": "sent", "gone": "failed", "dropped": "ambiguous", "greylisted": "sent"} {
		a := r.until(r.settled(mail(name)).ID, state)
		if name == "ada" && (!strings.HasSuffix(a.MessageID, "@example.test") || !strings.Contains(r.get(a.ID).Attempts[0].Answer, "2.0.0 Ok")) {
			t.Errorf("message id %q, answer %q", a.MessageID, r.get(a.ID).Attempts[0].Answer)
		}
	}
	r.until(stuck.ID, "sending")
	began := time.Now()
	r.stop() // long before the ten minutes are over
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the stop took %v with a drain of 100ms", took)
	}
	r = p.start()
	if a := r.get(stuck.ID); a.State != "ambiguous" || a.Reason != "no_answer" || len(r.get(stuck.ID).Attempts) != 1 {
		t.Errorf("the mail that a stop cut is %s (%s)", a.State, a.Reason)
	}
	r.stop()
	p.check()
	relay.mu.Lock()
	defer relay.mu.Unlock()
	for name, want := range map[string][2]int{"ada": {1, 1}, "late": {1, 1}, "gone": {1, 0}, "dropped": {1, 1}, "stuck": {1, 1}, "greylisted": {2, 1}} {
		if got := [2]int{relay.seen[name], relay.took[name]}; got != want {
			t.Errorf("%s: handed over %d times, taken %d times, want %v", name, got[0], got[1], want)
		}
	}
}
