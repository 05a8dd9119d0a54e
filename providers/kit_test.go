package providers

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"sendonce/ledger"
)

const (
	testKey    = "SECRETCANARY1"
	testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	testNumber = "+15550100009"
	testText   = "OTP 424242"
	testWire   = "6f1c9d2a4b8e0357af126f1c9d2a4b8e0357af12"
)

var testTime = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

// kit is what a case needs to run on any adapter. A new adapter is done when it stands in kits and every case passes.
type kit struct {
	name  string
	make  func(t *testing.T, c Common) ledger.Provider
	order func(base string) ledger.Order
	read  func(*exchange) ledger.Result
	base  string // for cases that use a pipe
}

// kits are the adapters over HTTP.
var kits = []kit{
	{
		name: "infrai", base: "https://api.example.test", read: readInfrai,
		make: func(t *testing.T, c Common) ledger.Provider {
			return build(t, &InfraiSettings{APIKey: testKey, From: "AcmeShip"}, c)
		},
		order: func(string) ledger.Order {
			return ledger.Order{Channel: ledger.SMS, Recipient: testNumber, Message: []byte(`{"text":"` + testText + `"}`)}
		},
	},
	{
		name: "webhook", base: "https://crm.example.test", read: readWebhook,
		make: func(t *testing.T, c Common) ledger.Provider {
			c.BaseURL = ""
			s := &WebhookSettings{
				Secret: testSecret, URLs: []string{"https://", "http://"}, AllowPrivate: []string{"127.0.0.0/8"}, Dedupes: c.RepeatWindow > 0,
			}
			return build(t, s, c)
		},
		order: func(base string) ledger.Order {
			return ledger.Order{Channel: ledger.Webhook, Recipient: base + "/hook/x", Message: []byte(`{"data":{"otp":"` + testText + `"}}`)}
		},
	},
}

// eachProvider runs a case on every adapter.
func eachProvider(t *testing.T, run func(t *testing.T, k kit)) {
	for _, k := range kits {
		t.Run(k.name, func(t *testing.T) { run(t, k) })
	}
}

func build(t *testing.T, s Settings, c Common) ledger.Provider {
	t.Helper()
	if faults := s.Validate(c); len(faults) > 0 {
		t.Fatalf("faults in the settings: %v", faults)
	}
	p, err := s.New("test", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIdle(p) })
	return p
}

func closeIdle(p ledger.Provider) {
	switch p := p.(type) {
	case *infrai:
		p.sender.transport.CloseIdleConnections()
	case *webhook:
		for _, s := range p.senders {
			s.transport.CloseIdleConnections()
		}
	}
}

// request builds the kit's order against a base URL.
func (k kit) request(t *testing.T, p ledger.Provider, base string) ledger.Request {
	t.Helper()
	o := k.order(base)
	o.ID, o.Number, o.Kind, o.WireKey = "01939c7e-0000-7000-8000-000000000001", 1, ledger.KindSend, testWire
	o.ClaimedAt, o.At = testTime, testTime
	r, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// send hands one message to a server at base.
func (k kit) send(t *testing.T, c Common, base string) ledger.Result {
	t.Helper()
	c.BaseURL = base
	p := k.make(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return p.Send(ctx, k.request(t, p, base))
}

// served is a request as a raw server read it.
type served struct {
	*http.Request
	body []byte
}

// readRequest reads one whole request from a connection.
func readRequest(r *bufio.Reader) (served, error) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return served{}, err
	}
	body, err := io.ReadAll(req.Body)
	return served{req, body}, err
}

// pipe is a dialer whose other end reads one request, writes the answer as it is, and closes. What it read goes
// to seen.
func pipe(seen chan<- served, answer []byte) DialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			req, err := readRequest(bufio.NewReader(server))
			if err != nil {
				return
			}
			seen <- req
			_, _ = server.Write(answer)
		}()
		return client, nil
	}
}

// listen serves connections on loopback, each by handle, which must end when its connection does.
func listen(t *testing.T, handle func(net.Conn)) (address string) {
	t.Helper()
	return listenAt(t, "127.0.0.1:0", handle)
}

// listenAt is listen on an address of the caller's own.
func listenAt(t *testing.T, at string, handle func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	open := make(chan net.Conn, 1024)
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open <- conn
			go func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			}()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		close(open)
		for conn := range open {
			_ = conn.Close()
		}
	})
	return l.Addr().String()
}
