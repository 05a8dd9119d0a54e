package providers

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sendonce/ledger"
)

// nameServer answers look-ups of this process with the addresses of a name; other names do not exist.
func nameServer(t *testing.T, names map[string][]string) {
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			for {
				var size [2]byte
				if _, err := io.ReadFull(server, size[:]); err != nil {
					return
				}
				query := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(server, query); err != nil {
					return
				}
				answer := resolve(query, names)
				if _, err := server.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
					return
				}
			}
		}()
		return client, nil
	}}
}

func resolve(query []byte, names map[string][]string) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	addresses, known := names[strings.TrimSuffix(q.Name.String(), ".")]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addresses {
		ip := netip.MustParseAddr(a)
		h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1}
		switch {
		case ip.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: ip.As4()}})
		case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return nil
	}
	return packed
}

// F33: of a name with several addresses only those are dialled that are allowed, in whatever order they come; with none
// allowed nothing is. 127.0.0.2 stands for a public address here.
func TestWebhook_F33_NamesWithSeveralAddresses(t *testing.T) {
	allowed, forbidden := make(chan served, 8), atomic.Int64{}
	address := listenAt(t, "127.0.0.2:0", afterRequest(allowed, write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")))
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	listenAt(t, "127.0.0.1:"+port, func(net.Conn) { forbidden.Add(1) })
	nameServer(t, map[string][]string{
		"both.example.test": {"127.0.0.1", "127.0.0.2"}, "other-order.example.test": {"127.0.0.2", "127.0.0.1"},
		"private.example.test": {"127.0.0.1", "10.0.0.1", "::1", "::ffff:127.0.0.1"}, "mixed.example.test": {"::1", "127.0.0.1", "127.0.0.2"},
	})
	p := newWebhook(t, WebhookSettings{URLs: []string{"http://"}, AllowPrivate: []string{"127.0.0.2/32"}})
	for name, want := range map[string]expected{
		"both": {outcome: ledger.Accepted}, "other-order": {outcome: ledger.Accepted}, "mixed": {outcome: ledger.Accepted},
		"private": {outcome: ledger.Rejected, code: "address_refused"}, "unknown": {outcome: ledger.Deferred},
	} {
		r, err := p.Build(ledger.Order{WireKey: testWire, Recipient: "http://" + name + ".example.test:" + port + "/", Message: []byte(`{"data":1}`), At: testTime})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		got := p.Send(ctx, r)
		cancel()
		check(t, got, want)
		if (want.outcome == ledger.Accepted) != (len(allowed) == 1) {
			t.Errorf("%s: %d requests at the allowed address, %+v", name, len(allowed), got)
		}
		for len(allowed) > 0 {
			<-allowed
		}
	}
	if n := forbidden.Load(); n != 0 {
		t.Errorf("%d connections to the forbidden address", n)
	}
}
