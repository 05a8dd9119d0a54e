package providers

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

var (
	notSent     = expected{outcome: ledger.Deferred}
	unreachable = expected{outcome: ledger.Deferred, fault: ledger.FaultUnreachable}
	strange     = expected{outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply}
)

// F25: the time-out bounds all that comes before the dot, whatever a server does; the reply to the dot has its ten minutes.
func TestSMTP_TimeOutBoundsAllButTheDot(t *testing.T) {
	slowly := func(step string, a act) *mailServer {
		s := secure()
		s.answer = at(step, a)
		return s
	}
	for name, c := range map[string]struct {
		server *mailServer
		want   expected
		took   time.Duration
	}{
		"banner":         {slowly("banner", silent), unreachable, 15 * time.Second},
		"EHLO":           {slowly("EHLO", silent), unreachable, 15 * time.Second},
		"STARTTLS":       {slowly("STARTTLS", silent), unreachable, 15 * time.Second},
		"handshake":      {slowly("STARTTLS", func(c net.Conn) bool { return says("220 Go\r\n")(c) && silent(c) }), unreachable, 15 * time.Second},
		"AUTH":           {slowly("AUTH", silent), unreachable, 15 * time.Second},
		"MAIL":           {slowly("MAIL", silent), notSent, 15 * time.Second},
		"RCPT":           {slowly("RCPT", silent), notSent, 15 * time.Second},
		"DATA":           {slowly("DATA", silent), notSent, 15 * time.Second},
		"body":           {slowly("DATA", func(c net.Conn) bool { says("354 Go\r\n")(c); time.Sleep(time.Minute); return false }), notSent, 15 * time.Second},
		"drips":          {slowly("EHLO", drips("250-mx.example.test\r\n250 HELP\r\n")), unreachable, 15 * time.Second},
		"dot":            {slowly("dot", silent), expected{reason: ledger.ReasonNoAnswer}, 10 * time.Minute},
		"dot, late":      {slowly("dot", after("250 2.0.0 Ok\r\n", 10*time.Minute-time.Second)), expected{outcome: ledger.Accepted, code: "2.0.0", id: testMailID}, 10*time.Minute - time.Second},
		"dot, too late":  {slowly("dot", after("250 2.0.0 Ok\r\n", 10*time.Minute+time.Second)), expected{reason: ledger.ReasonNoAnswer}, 10 * time.Minute},
		"dot, drips":     {slowly("dot", drips("250 2.0.0 Ok: queued\r\n")), expected{outcome: ledger.Accepted, code: "2.0.0", id: testMailID}, 220 * time.Second},
		"dot, a no late": {slowly("dot", after("554 5.7.1 Spam\r\n", 9*time.Minute)), expected{outcome: ledger.Rejected, code: "5.7.1"}, 9 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newSMTP(t, c.server, withLogin)
				began := time.Now()
				r := mailWith(t, p, 15*time.Second)
				check(t, r, c.want)
				checkTime(t, r, time.Since(began), c.took)
				c.server.running.Wait()
			})
		})
	}
}

func TestSMTP_NothingIsDialled(t *testing.T) {
	for name, c := range map[string]struct {
		dial DialFunc
		took time.Duration
	}{
		"black hole": {func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }, 30 * time.Second},
		"refused":    {func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newSMTP(t, secure())
				p.dial = c.dial
				began := time.Now()
				check(t, mailWith(t, p, time.Minute), unreachable)
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// F01: the reply to one message that comes late is never read as the reply to the next.
func TestSMTP_F01_LateReplyReachesNoOtherMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := secure()
		var second atomic.Bool
		s.answer = func(step, _ string) act {
			if step == "dot" && !second.Swap(true) {
				return after("250 2.0.0 Ok: the first\r\n", 11*time.Minute)
			}
			if step == "dot" {
				return after("554 5.7.1 No: the second\r\n", 2*time.Minute)
			}
			return nil
		}
		p := newSMTP(t, s)
		check(t, mailWith(t, p, 15*time.Second), expected{reason: ledger.ReasonNoAnswer})
		check(t, mailWith(t, p, 15*time.Second), expected{outcome: ledger.Rejected, code: "5.7.1"})
		if _, messages := s.received(); len(messages) != 2 || s.conns != 2 {
			t.Errorf("%d messages over %d connections", len(messages), s.conns)
		}
	})
}

// A message that did not get as far as its dot is none: the server throws it away.
func TestSMTP_BrokenOffInTheBody(t *testing.T) {
	long := `{"subject":"s","text":"` + strings.Repeat("0123456789abcdef", 8<<10) + `"}`
	reads := func(n int64, then act) act {
		return func(c net.Conn) bool {
			_, _ = io.WriteString(c, "354 Go on\r\n")
			_, _ = io.CopyN(io.Discard, c, n)
			return then(c)
		}
	}
	for name, c := range map[string]struct {
		act  act
		want expected
	}{
		"closes":             {reads(1000, drops), notSent},
		"closes late":        {reads(128<<10, drops), notSent},
		"stops to read":      {reads(1000, func(c net.Conn) bool { time.Sleep(time.Hour); return false }), notSent},
		"refuses and closes": {reads(1000, says("552 5.3.4 Too big\r\n")), expected{outcome: ledger.Rejected, code: "5.3.4"}},
		"closes with 421":    {reads(1000, says("421 4.4.2 Bye\r\n")), expected{outcome: ledger.Deferred, fault: ledger.FaultThrottled, code: "4.4.2"}},
		"accepts too early":  {reads(1000, says("250 2.0.0 Ok\r\n")), expected{outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply, code: "2.0.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &mailServer{}
				s.answer = at("DATA", func(conn net.Conn) bool { c.act(conn); return false })
				p := newSMTP(t, s)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				r, err := p.Build(smtpOrder(long))
				if err != nil {
					t.Fatal(err)
				}
				result := p.Send(ctx, r)
				check(t, result, c.want)
				if !strings.Contains(result.Error, "body") {
					t.Errorf("error %q", result.Error)
				}
				s.running.Wait()
			})
		})
	}
}

// Whoever speaks before he is asked would have his next words read as the reply to something else.
func TestSMTP_RepliesThatNobodyAskedFor(t *testing.T) {
	for _, c := range []struct{ step, text string }{
		{"banner", "220 mx ESMTP\r\n250 Ok\r\n250 Ok\r\n250 Ok\r\n354 Go\r\n250 Ok\r\n"},
		{"EHLO", "250 mx\r\n250 Ok\r\n"},
		{"MAIL", "250 Ok\r\n250 Ok\r\n"},
		{"RCPT", "250 Ok\r\n354 Go\r\n250 Ok\r\n"},
		{"DATA", "354 Go on\r\n250 Ok: queued\r\n"},
	} {
		t.Run(c.step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &mailServer{answer: at(c.step, says(c.text))}
				r := mailWith(t, newSMTP(t, s), 15*time.Second)
				check(t, r, strange)
				if _, messages := s.received(); len(messages) != 0 || !strings.HasSuffix(r.Error, string(errUnasked)) {
					t.Errorf("%d messages, error %q", len(messages), r.Error)
				}
			})
		})
	}
}

// A stop cuts at once: before the dot nothing was sent, behind it nobody knows.
func TestSMTP_Cancelled(t *testing.T) {
	for step, want := range map[string]expected{
		"banner": unreachable, "AUTH": unreachable, "RCPT": notSent, "DATA": notSent, "dot": {reason: ledger.ReasonNoAnswer},
	} {
		t.Run(step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				s := secure()
				s.answer = at(step, func(c net.Conn) bool { cancel(); return silent(c) })
				p := newSMTP(t, s, withLogin)
				r, err := p.Build(smtpOrder(testMail))
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				result := p.Send(ctx, r)
				check(t, result, want)
				if time.Since(began) > lookTime || !strings.HasSuffix(result.Error, "cancelled") {
					t.Errorf("error %q after %v", result.Error, time.Since(began))
				}
				s.running.Wait()
				if result = p.Send(ctx, r); result.Phase != ledger.NotWritten {
					t.Errorf("a send under a dead context: %+v", result)
				}
				s.running.Wait()
			})
		})
	}
}

// F25, over real connections: servers that say nothing, and what is left when they were given up.
func TestSMTP_ManyStuckLeaveNothingOpen(t *testing.T) {
	open := make(chan struct{}, 64)
	address := listen(t, func(c net.Conn) {
		open <- struct{}{}
		_, _ = io.Copy(io.Discard, bufio.NewReader(c))
	})
	p := build(t, &SMTPSettings{Address: address, TLS: tlsNone, From: "shop@example.test"}, Common{}).(*smtp)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), dotTime+200*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			r, err := p.Build(smtpOrder(testMail))
			if err != nil {
				t.Error(err)
				return
			}
			check(t, p.Send(ctx, r), unreachable)
		})
	}
	all.Wait()
	for range 100 { // the server's own goroutines see the end a little later
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > before || len(open) != 16 {
		t.Errorf("%d goroutines, %d before; %d connections", now, before, len(open))
	}
}
