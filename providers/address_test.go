package providers

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestAddressGuard(t *testing.T) {
	guard := func(only bool, private ...string) addressGuard { return addressGuard{prefixes(private...), only} }
	closed, open := guard(false), guard(false, "10.1.0.0/16", "127.0.0.0/8", "fd00::/8", "::1/128")
	for _, c := range []struct {
		ip            string
		closed, opens bool
	}{
		{"93.184.216.34", true, true}, {"8.8.8.8", true, true}, {"2606:4700::1111", true, true},
		{"172.15.0.1", true, true}, {"172.32.0.1", true, true}, {"100.63.0.1", true, true}, {"192.169.0.1", true, true},
		{"127.0.0.1", false, true}, {"127.255.0.1", false, true}, {"10.1.2.3", false, true}, {"10.2.0.1", false, false},
		{"172.16.0.1", false, false}, {"172.31.255.255", false, false}, {"192.168.1.1", false, false},
		{"169.254.169.254", false, false}, {"100.64.0.1", false, false}, {"100.100.100.200", false, false}, {"0.0.0.0", false, false},
		{"0.1.2.3", false, false}, {"192.0.0.8", false, false}, {"192.0.2.1", false, false}, {"198.18.0.1", false, false},
		{"198.51.100.1", false, false}, {"203.0.113.1", false, false}, {"224.0.0.1", false, false}, {"240.0.0.1", false, false},
		{"255.255.255.255", false, false}, {"192.88.99.1", false, false},
		{"::1", false, true}, {"::", false, false}, {"fd00::1", false, true}, {"fc00::1", false, false},
		{"fe80::1", false, false}, {"fe80::1%lo", false, false}, {"fd00::1%eth0", false, false}, {"ff02::1", false, false},
		{"::ffff:127.0.0.1", false, true}, {"::ffff:a9fe:a9fe", false, false}, {"::ffff:8.8.8.8", true, true},
		{"::127.0.0.1", false, false}, {"::8.8.8.8", false, false},
		{"64:ff9b::7f00:1", false, false}, {"64:ff9b::808:808", true, true}, {"64:ff9b:1::808:808", false, false},
		{"2002:7f00:1::", false, false}, {"2002:a01:203::1", false, false}, {"2002:808:808::1", true, true},
		{"2001::1", false, false}, {"2001:db8::1", false, false}, {"2001:20::1", false, false}, {"3fff::1", false, false},
		{"fec0::1", false, false}, {"100::1", false, false}, {"5f00::1", false, false}, {"4000::1", false, false},
	} {
		ip := netip.MustParseAddr(c.ip)
		if closed.allows(ip) != c.closed || open.allows(ip) != c.opens {
			t.Errorf("%s: %v and with private blocks %v, want %v and %v", c.ip, closed.allows(ip), open.allows(ip), c.closed, c.opens)
		}
	}
	if plain := guard(true, "10.1.0.0/16"); plain.allows(netip.MustParseAddr("8.8.8.8")) || !plain.allows(netip.MustParseAddr("10.1.0.1")) {
		t.Error("plain http is for private blocks only")
	}
	if everything := guard(false, "0.0.0.0/0", "::/0"); everything.allows(netip.MustParseAddr("0.0.0.0")) || everything.allows(netip.MustParseAddr("::")) ||
		everything.allows(netip.MustParseAddr("ff02::1")) || everything.allows(netip.MustParseAddr("255.255.255.255")) || everything.allows(netip.Addr{}) {
		t.Error("no address at all, or one of many hosts, was opened")
	}
}

// F33: literal forms are refused before there is a row.
func TestWebhook_CheckRefusesPrivateAddressesInEveryForm(t *testing.T) {
	message := []byte(`{"data":1}`)
	closed := newWebhook(t, WebhookSettings{URLs: []string{"https://"}})
	open := newWebhook(t, WebhookSettings{URLs: []string{"https://", "http://"}, AllowPrivate: []string{"127.0.0.0/8", "10.0.0.0/8"}})
	for _, c := range []struct {
		host         string
		closed, open bool // https taken; http and https taken with loopback and 10/8 allowed
	}{
		{"[::ffff:127.0.0.1]", false, true}, {"[::ffff:a9fe:a9fe]", false, false}, {"[64:ff9b::7f00:1]", false, false},
		{"[2002:7f00:1::]", false, false}, {"2130706433", false, false}, {"0x7f.1", false, false}, {"0x7f000001", false, false},
		{"0177.0.0.1", false, false}, {"127.1", false, false}, {"127.0.0.1.", false, false}, {"0.0.0.0", false, false},
		{"[::]", false, false}, {"[fe80::1%25lo]", false, false}, {"localhost", false, true}, {"localhost.", false, true},
		{"a.localhost", false, true}, {"169.254.169.254", false, false}, {"100.64.0.1", false, false}, {"10.0.0.1", false, true},
		{"user:pw@crm.example.test", false, false}, {"user@127.0.0.1", false, false}, {"１２７.0.0.1", false, false},
		{"127。0。0。1", false, false}, {"%31%32%37.0.0.1", false, false}, {"crm.example.test:0", false, false}, {"crm.example.test:99999", false, false},
		{"", false, false}, {".", false, false}, {"a b", false, false}, {"crm.example.test\\x", false, false},
	} {
		for _, scheme := range []string{"http", "https"} {
			e := ledger.Event{Recipient: scheme + "://" + c.host + "/", Message: message}
			if got := closed.Check(e) == nil; got != c.closed {
				t.Errorf("%s: taken %v without private blocks", e.Recipient, got)
			}
			err := open.Check(e)
			field := "recipient"
			if c.open {
				field = ""
			}
			checkInvalid(t, e.Recipient, err, field)
		}
	}
	for _, u := range []string{"file:///etc/passwd", "gopher://crm.example.test/", "https:crm.example.test", "http://8.8.8.8/", "https://crm.example.test/#x", "http://crm.example.test:80x/", "javascript:1", "\x00"} {
		checkInvalid(t, u, open.Check(ledger.Event{Recipient: u, Message: message}), "recipient")
	}
	for _, u := range []string{"https://crm.example.test/", "https://8.8.8.8/", "https://[2606:4700::1111]:8443/x?y#"} {
		field := ""
		if u[len(u)-1] == '#' {
			field = "recipient"
		}
		checkInvalid(t, u, closed.Check(ledger.Event{Recipient: u, Message: message}), field)
	}
}

// F33: the guard sits where the connection is made, so it sees names that lead to private addresses, and names
// that did not at the claim.
func TestWebhook_DialerRefusesTheAddressReallyDialled(t *testing.T) {
	seen := make(chan served, 8)
	address := listen(t, afterRequest(seen, write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")))
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	send := func(p *webhook, u string) ledger.Result {
		r, err := p.Build(ledger.Order{WireKey: testWire, Recipient: u, Message: []byte(`{"data":1}`), At: testTime})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return p.Send(ctx, r)
	}
	closed := newWebhook(t, WebhookSettings{URLs: []string{"https://"}})
	elsewhere := newWebhook(t, WebhookSettings{URLs: []string{"https://", "http://"}, AllowPrivate: []string{"10.0.0.0/8"}})
	for _, p := range []*webhook{closed, elsewhere} {
		for _, host := range []string{"localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0"} {
			for _, scheme := range []string{"http://", "https://"} {
				r := send(p, scheme+host+":"+port+"/")
				check(t, r, expected{outcome: ledger.Rejected, code: "address_refused"})
				if r.Phase != ledger.NotWritten || r.Error != "not sent: address refused" {
					t.Errorf("%s: %+v", host, r)
				}
			}
		}
	}
	check(t, send(closed, "https://user:pw@127.0.0.1/"), expected{outcome: ledger.Rejected, code: "address_refused"})
	if len(seen) != 0 {
		t.Fatalf("%d requests got through", len(seen))
	}
	open := newWebhook(t, WebhookSettings{URLs: []string{"http://"}, AllowPrivate: []string{"127.0.0.0/8"}})
	if r := send(open, "http://localhost:"+port+"/"); r.Outcome != ledger.Accepted || len(seen) != 1 {
		t.Errorf("allowed, yet %+v", r)
	}
}

func TestAddressGuard_RefusesOtherNetworks(t *testing.T) {
	if _, err := (addressGuard{}).dialer()(t.Context(), "udp", "8.8.8.8:53"); !errors.Is(err, errAddressRefused) {
		t.Errorf("udp: %v", err)
	}
}
