package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"sendonce/fake"
)

// F07: two applications that use the same key have a row each, and neither learns of the other's; a new API key of one
// changes nothing about what it claimed.
func TestAccess_F07_KeysBelongToTheirSource(t *testing.T) {
	t.Parallel()
	keys := func(shop string) string {
		return `auth:
  keys:
    - {name: shop, sha256: "` + sumOf(shop) + `", roles: [send, operate], source: shop}
    - {name: billing, sha256: "` + sumOf("key-billing") + `", roles: [send, operate], source: billing}
    - {name: watch, sha256: "` + sumOf("key-watch") + `", roles: [read]}
providers:
`
	}
	p := newPlace(t, fake.Options{WellBehaved: true}, "providers:\n", keys("key-shop-1"))
	r := p.start()
	as := func(key string) string { return "Authorization: Bearer " + key }
	claim := func(key, text string) answer {
		return r.settled(event(`"event_id":"evt_1","dedupe_key":"k","message":{"text":"`+text+`"}`), as(key))
	}
	shop, billing := claim("key-shop-1", "for the shop"), claim("key-billing", "for billing")
	if shop.status != 202 || billing.status != 202 || shop.State != "sent" || billing.State != "sent" || shop.ID == billing.ID {
		t.Fatalf("shop %d %s, billing %d %s", shop.status, shop.State, billing.status, billing.State)
	}
	p.calls(2)
	if sent := p.fake.Accepted(); sent[0].Key == sent[1].Key {
		t.Error("both went out under one wire key: the provider may drop the second")
	}

	unknown := r.do(http.MethodGet, "/v1/notifications/0199b3a0-0000-7000-8000-0000000000ff", "", as("key-billing"))
	for _, action := range []string{"", "/cancel", "/resend", "/confirm"} {
		method, body := http.MethodGet, ""
		if action != "" {
			method, body = http.MethodPost, `{"reason":"x"}`
		}
		a := r.do(method, "/v1/notifications/"+shop.ID+action, body, as("key-billing"), `If-Match: "3"`)
		if a.status != 404 || a.body != unknown.body {
			t.Errorf("billing at shop's row%s: %d %s", action, a.status, a.body)
		}
	}
	for _, path := range []string{"/v1/notifications", "/v1/notifications?dedupe_key=k", "/v1/notifications?recipient=%2B15550100001", "/v1/keys?event_id=evt_1&channel=sms&recipient=%2B15550100001"} {
		if a := r.do(http.MethodGet, path, "", as("key-billing")); a.status != 200 || strings.Contains(a.body, shop.ID) || strings.Contains(a.body, `"source":"shop"`) {
			t.Errorf("billing sees of shop's: %s", a.body)
		}
	}
	if a := r.post(event(`"event_id":"evt_1","source":"shop","dedupe_key":"k"`), as("key-billing")); a.status != 403 {
		t.Errorf("billing under shop's name: %d", a.status)
	}
	r.stop()

	p.change(sumOf("key-shop-1"), sumOf("key-shop-2")) // rotated
	r = p.start()
	if a := claim("key-shop-2", "for the shop"); a.status != 200 || a.ID != shop.ID || !a.Duplicate {
		t.Errorf("after the rotation: %d, row %s", a.status, a.ID)
	}
	if a := claim("key-shop-1", "for the shop"); a.status != 401 {
		t.Errorf("with the old key: %d", a.status)
	}
	r.stop()
	p.calls(2)
	p.check()
}

// F33: addresses that are not for the public internet, in whatever spelling, are refused before there is a row, and nothing
// is dialled; private ones only where a setting allows them.
func TestAccess_F33_WebhooksReachNoPrivateAddress(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	var connects atomic.Int64
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			connects.Add(1)
			_ = conn.Close()
		}
	}()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, fake.Options{WellBehaved: true}, `urls: ["URL/hook/"], allow_private: ["127.0.0.0/8"]`, `urls: ["https://"]`)
	r := p.start()
	hosts := []string{"[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "2130706433", "0x7f.1", "0177.0.0.1", "127.1",
		"0.0.0.0", "[::]", "[::1]", "[fe80::1%25lo]", "localhost", "localhost.", "LOCALHOST", "127.0.0.1", "127.0.0.1.", "169.254.169.254", "100.64.0.1", "10.0.0.1",
		"192.168.1.1", "172.16.0.1", "user:pw@crm.example.test", "１２７.0.0.1"}
	for _, host := range hosts {
		for _, scheme := range []string{"http", "https"} {
			url := scheme + "://" + host + ":" + port + "/"
			if a := r.post(event(`"event_id":"e","channel":"webhook","recipient":"` + url + `","message":{"data":1}`)); a.status != 400 || a.field() != "recipient" {
				t.Errorf("%s: %d naming %q", url, a.status, a.field())
			}
		}
	}
	for _, url := range []string{"file:///etc/passwd", "gopher://crm.example.test/", "//crm.example.test/", "https:crm.example.test", "javascript:1", "http://8.8.8.8/"} {
		if a := r.post(event(`"event_id":"e","channel":"webhook","recipient":"` + url + `","message":{"data":1}`)); a.status != 400 || a.field() != "recipient" {
			t.Errorf("%s: %d naming %q", url, a.status, a.field())
		}
	}
	r.rows(0)
	r.stop()
	if connects.Load() != 0 {
		t.Errorf("%d connections", connects.Load())
	}
	p.calls(0)
}

// F39: callers who ask for ten thousand paths and ids that are not there write no lines, leave no rows and no connections.
func TestAccess_F39_RandomPathsLeaveNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	r := p.start()
	before := p.book.lines("")
	for i := range 10_000 {
		path := fmt.Sprintf("/v1/notifications/0199b3a0-0000-7000-8000-%012x", i)
		if i%2 == 0 {
			path = fmt.Sprintf("/random/%d/%x", i, i*7919)
		}
		if a := r.do(http.MethodGet, path, ""); a.status != 404 {
			t.Fatalf("%s: %d", path, a.status)
		}
	}
	if n := p.book.lines("") - before; n > 10 {
		t.Errorf("%d log lines", n)
	}
	r.rows(0)
}
