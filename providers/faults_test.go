package providers

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

var (
	unreached = map[string]expected{
		"":        {outcome: ledger.Deferred, fault: ledger.FaultUnreachable},
		"webhook": {outcome: ledger.Deferred},
	}
	noAnswer   = same(expected{reason: ledger.ReasonNoAnswer})
	noSense    = same(expected{reason: ledger.ReasonUnreadableAnswer})
	statusOnly = map[string]expected{ // a 200 with a lost body
		"infrai":          {reason: ledger.ReasonUnreadableAnswer},
		"vonage":          {reason: ledger.ReasonUnreadableAnswer},
		"twilio":          {reason: ledger.ReasonUnreadableAnswer}, // its yes is a 201
		"vonage_messages": {reason: ledger.ReasonUnreadableAnswer}, // its yes is a 202
		"":                {outcome: ledger.Accepted},
	}
	// noYes is a 200 with a whole body that is nobody's yes, emptyYes one without a body.
	noYes    = map[string]expected{"webhook": {outcome: ledger.Accepted}, "": {reason: ledger.ReasonUnreadableAnswer}}
	emptyYes = map[string]expected{
		"webhook": {outcome: ledger.Accepted}, "sendgrid": {outcome: ledger.Accepted}, "": {reason: ledger.ReasonUnreadableAnswer},
	}
)

// noHTTP is the error of bytes that net/http refuses; a time-out would say so.
const noHTTP = "no answer: connection broken or answer unreadable"

func same(e expected) map[string]expected {
	return map[string]expected{"": e}
}

// afterRequest reads a request, counts it, and goes on with the connection.
func afterRequest(seen chan<- served, then func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		req, err := readRequest(bufio.NewReader(conn))
		if err == nil {
			seen <- req
			then(conn)
		}
	}
}

func write(s string) func(net.Conn) {
	return func(conn net.Conn) { _, _ = io.WriteString(conn, s) }
}

// forever writes a start and then the same bytes until the client closes.
func forever(start, again string) func(net.Conn) {
	return func(conn net.Conn) {
		_, err := io.WriteString(conn, start)
		for err == nil {
			_, err = io.WriteString(conn, again)
		}
	}
}

func bomb() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(make([]byte, 8<<20))
	_ = z.Close()
	return "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + itoa(b.Len()) + "\r\n\r\n" + b.String()
}

// F02, F26: whatever a server does after it read the request, it reads one, and nothing is called surely not sent.
func TestSend_FaultsAfterTheRequest(t *testing.T) {
	cases := map[string]struct {
		then func(net.Conn)
		want map[string]expected
		says string // in the error of infrai
	}{
		"closes":         {func(net.Conn) {}, noAnswer, "no answer: connection closed"},
		"resets":         {func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }, noAnswer, "no answer: connection reset by peer"},
		"500 empty":      {write("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), map[string]expected{"": {reason: ledger.ReasonUnlistedAnswer}, "webhook": {outcome: ledger.Deferred}}, ""},
		"cut between":    {write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"), statusOnly, "answer cut: connection closed"},
		"cut in a chunk": {write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"ok\":tr\r\n"), statusOnly, "answer cut: connection closed"},
		"bad chunk":      {write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), statusOnly, "answer cut: "},
		"endless header": {forever("HTTP/1.1 200 OK\r\n", "X-Filler: "+strings.Repeat("y", 1000)+"\r\n"), noSense, noHTTP},
		"endless 1xx":    {forever("", "HTTP/1.1 102 Processing\r\nX-A: b\r\n\r\n"), noSense, noHTTP},
		"endless body":   {forever("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("z", 4096)), statusOnly, ""},
		"endless chunks": {forever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nzzzz\r\n"), statusOnly, ""},
		"gzip bomb":      {write(bomb()), noYes, ""},
		"two answers":    {write(strings.Repeat("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 2)), emptyYes, ""},
		"length twice":   {write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), noSense, noHTTP},
		"switch and silence": {func(c net.Conn) {
			write("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")(c)
			_, _ = c.Read(make([]byte, 1))
		}, same(expected{reason: ledger.ReasonUnlistedAnswer}), ""},
		"endless 404 body": {forever("HTTP/1.1 404 No\r\n\r\n", strings.Repeat("z", 4096)), map[string]expected{"": {outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply}, "webhook": {outcome: ledger.Deferred}}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			eachProvider(t, func(t *testing.T, k kit) {
				seen := make(chan served, 8)
				address := listen(t, afterRequest(seen, c.then))
				r := k.send(t, Common{}, "http://"+address)
				check(t, r, k.wants(c.want))
				if len(seen) != 1 {
					t.Errorf("%d requests, want 1", len(seen))
				}
				if k.name == "infrai" && (!strings.HasPrefix(r.Error, c.says) || c.says == "" && r.Error != "") {
					t.Errorf("error %q, want %q", r.Error, c.says)
				}
			})
		})
	}
}

func TestSend_NothingLeft(t *testing.T) {
	plain := listen(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad\r\n\r\n") })
	silent := listen(t, func(c net.Conn) {})
	refused := httptest.NewServer(nil)
	refused.Close()
	handled := make(chan struct{}, 8)
	untrusted := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { handled <- struct{}{} }))
	untrusted.Config.ErrorLog = discard
	untrusted.StartTLS()
	defer untrusted.Close()

	for base, says := range map[string]string{
		refused.URL:                   "not sent: connection refused",
		untrusted.URL:                 "not sent: TLS: certificate of an unknown authority",
		"https://" + plain:            "not sent: TLS: the peer does not speak it",
		"https://" + silent:           "not sent: ",
		"https://nowhere.invalid:444": "not sent: ",
	} {
		eachProvider(t, func(t *testing.T, k kit) {
			r := k.send(t, Common{}, base)
			check(t, r, k.wants(unreached))
			if r.Phase != ledger.NotWritten || !strings.HasPrefix(r.Error, says) {
				t.Errorf("phase %s, error %q, want %q", r.Phase, r.Error, says)
			}
		})
	}
	if len(handled) != 0 {
		t.Error("a request went to a server with an untrusted certificate")
	}
}

func TestSend_CancelledWhileTheServerHoldsTheRequest(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		ctx, cancel := context.WithCancel(t.Context())
		seen := make(chan served, 8)
		address := listen(t, afterRequest(seen, func(c net.Conn) {
			cancel()
			_, _ = c.Read(make([]byte, 1)) // until the client closes
		}))
		c := Common{BaseURL: "http://" + address}
		p := k.make(t, c)
		r := p.Send(ctx, k.request(t, p, c.BaseURL))
		check(t, r, k.wants(noAnswer))
		if r.Error != "no answer: cancelled" || len(seen) != 1 {
			t.Errorf("error %q, %d requests", r.Error, len(seen))
		}
		if r = p.Send(ctx, k.request(t, p, c.BaseURL)); r.Phase != ledger.NotWritten || len(seen) != 1 {
			t.Errorf("a send under a dead context: phase %s, %d requests", r.Phase, len(seen))
		}
	})
}

// F24: Go's transport sends a POST that carries an Idempotency-Key again when a kept-alive connection drops.
func TestSend_KeptAliveConnectionDrops(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		seen := make(chan served, 8)
		address := listen(t, func(conn net.Conn) {
			reader := bufio.NewReader(conn)
			req, err := readRequest(reader)
			if err != nil {
				return
			}
			seen <- req
			_, _ = io.WriteString(conn, k.yes.raw())
			if req, err = readRequest(reader); err == nil {
				seen <- req
			}
		})
		c := Common{BaseURL: "http://" + address, RepeatWindow: time.Hour}
		p := k.make(t, c)
		first := p.Send(t.Context(), k.request(t, p, c.BaseURL))
		second := p.Send(t.Context(), k.request(t, p, c.BaseURL))
		if first.Outcome != ledger.Accepted || len(seen) != 2 {
			t.Errorf("first %s, %d requests in all, want accepted and 2", first.Outcome, len(seen))
		}
		if want := k.wants(noAnswer); k.shares() {
			check(t, second, want)
		} else if second.Outcome != ledger.Accepted { // on a connection of its own
			t.Errorf("second %+v", second)
		}
		if key := (<-seen).Header.Get("Idempotency-Key"); k.shares() && key != testWire {
			t.Errorf("without the header this case proves nothing: %q", key)
		}
	})
}

func TestSend_RedirectIsNotFollowed(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		portal := make(chan served, 8)
		elsewhere := listen(t, afterRequest(portal, write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")))
		for _, status := range []string{"301", "302", "303", "307", "308"} {
			seen := make(chan served, 8)
			address := listen(t, afterRequest(seen, write("HTTP/1.1 "+status+" Go\r\nLocation: http://"+elsewhere+"/\r\nContent-Length: 0\r\n\r\n")))
			r := k.send(t, Common{}, "http://"+address)
			check(t, r, k.wants(map[string]expected{
				"":        {outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply},
				"webhook": {outcome: ledger.Rejected},
			}))
			if len(seen) != 1 || len(portal) != 0 {
				t.Errorf("%s: %d requests, %d followed", status, len(seen), len(portal))
			}
		}
	})
}
