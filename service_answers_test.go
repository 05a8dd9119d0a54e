package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sendonce/fake"
)

// mouth answers requests with raw answers of testdata/providers, as the bytes that a provider sends.
type mouth struct {
	url      string
	requests atomic.Int32
}

// newMouth serves on loopback. answer names the fixture for a request's body, NAME/CASE without its ending.
func newMouth(t *testing.T, answer func(body string) string) *mouth {
	t.Helper()
	m := &mouth{}
	m.url = "http://" + accept(t, func(conn net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if req.URL.Path == fake.TokenPath {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"+
				`{"access_token":"example-token","expires_in":3599,"token_type":"Bearer"}`)
			return
		}
		m.requests.Add(1)
		_, _ = conn.Write(rawAnswer(t, answer(string(body))))
	})
	return m
}

// rawAnswer reads a fixture: two lines about it, a header with CRLF, a body as it is.
func rawAnswer(t *testing.T, name string) []byte {
	file, err := os.ReadFile(filepath.Join("testdata", "providers", filepath.FromSlash(name)+".http"))
	if err != nil {
		t.Error(err)
		return nil
	}
	lines := strings.SplitN(string(file), "\n", 3)
	header, body, _ := strings.Cut(lines[2], "\n\n")
	return []byte(strings.ReplaceAll(header, "\n", "\r\n") + "\r\n\r\n" + body)
}

// answering makes a place whose one provider is spoken for by a mouth.
func answering(t *testing.T, m *mouth, channel, settings string) *place {
	t.Helper()
	settings = strings.NewReplacer("URL", m.url, "CREDENTIALS", serviceAccount(t, m.url+fake.TokenPath)).Replace(settings)
	return newPlace(t, fake.Options{WellBehaved: true},
		"{type: infrai, api_key: example-key, base_url: URL}", settings, "  sms: {", "  "+channel+": {")
}

// Twilio's test answers through the whole service, asked for by its magic numbers where it has one: a bad number, one that said
// stop and a country that is off are final; a sender's full queue puts off one message; too many requests slow the gate down,
// wrong credentials pause it, and what waited behind it goes out once.
func TestSend_TwiliosTestAnswers(t *testing.T) {
	t.Parallel()
	var ready atomic.Bool // the provider takes what it put off before
	m := newMouth(t, func(body string) string {
		form, err := url.ParseQuery(body)
		if err != nil {
			t.Error(err)
		}
		later := map[string]string{
			"+15005550008": "deferred_21611_queue_full", "+15550100429": "deferred_20429", "+15550100003": "deferred_20003",
		}
		refused := map[string]string{
			"+15005550001": "rejected_21211_to_invalid", "+15005550004": "rejected_21610_unsubscribed", "+15005550003": "rejected_21408_region",
		}
		if name, ok := refused[form.Get("To")]; ok {
			return "twilio/" + name
		}
		for _, number := range []string{form.Get("From"), form.Get("To")} {
			if name, ok := later[number]; ok && !ready.Load() {
				return "twilio/" + name
			}
		}
		return "twilio/accepted_201"
	})
	r := answering(t, m, "sms", smsTypes["twilio"]).start()
	for _, c := range []struct {
		code, members, outcome, state, reason, gate string
	}{
		{"21211", `"recipient":"+15005550001"`, "rejected", "failed", "rejected", "open"},
		{"21610", `"recipient":"+15005550004"`, "rejected", "failed", "rejected", "open"},
		{"21408", `"recipient":"+15005550003"`, "rejected", "failed", "rejected", "open"},
		{"21611", `"recipient":"+15550100001","message":{"text":"x","from":"+15005550008"}`, "deferred", "claimed", "retry", "open"},
		{"20429", `"recipient":"+15550100429"`, "deferred", "claimed", "provider_paused", "slowed"},
		{"20003", `"recipient":"+15550100003"`, "deferred", "claimed", "provider_paused", "paused"},
	} {
		ready.Store(false)
		members := fmt.Sprintf(`"event_id":"evt_%s",%s`, c.code, c.members)
		before := m.requests.Load()
		a := r.settled(event(members))
		first := r.get(a.ID).Attempts[0]
		if a.State != c.state || a.Reason != c.reason || first.Outcome != c.outcome || first.Code != c.code {
			t.Errorf("%s: %s (%s), the attempt %s with %s", c.code, a.State, a.Reason, first.Outcome, first.Code)
		}
		if gate := r.gate("sms_main"); gate != c.gate {
			t.Errorf("%s: the gate is %s, want %s", c.code, gate, c.gate)
		}
		ready.Store(true)
		if c.gate != "open" {
			r.do(http.MethodPost, "/v1/providers/sms_main/resume", `{"reason":"mended"}`)
		}
		want := int32(1)
		if c.state == "claimed" { // it goes out now
			if want = 2; r.until(a.ID, "sent").MessageID == "" {
				t.Errorf("%s: sent without a message id", c.code)
			}
		}
		if got := m.requests.Load() - before; got != want && c.code != "21611" { // whose ladder may have taken a step more
			t.Errorf("%s: %d requests, want %d", c.code, got, want)
		}
	}
	r.stop()
	r.check()
}

// F22: what a provider says decides what becomes of a message, and nobody asks it again where it did not surely say no.
func TestSend_WhatTheProvidersSay(t *testing.T) {
	t.Parallel()
	const sendGridSettings = `{type: sendgrid, api_key: example-key, from: "shop@example.test", base_url: URL}`
	const mail = `,"channel":"email","recipient":"ada@customer.example.test","message":{"subject":"Login","text":"x"}`
	for name, c := range map[string]struct {
		channel, settings, fixture, members string
		state, reason, gate, messageID      string
		says                                string // in the attempt's error
	}{
		"FCM's 503 may follow an acceptance": {
			"push", "{type: fcm, credentials: CREDENTIALS, base_url: URL}", "fcm/ambiguous_503_UNAVAILABLE_retry_after",
			`,"channel":"push","recipient":"device-1","message":{"title":"Shipped"}`, "ambiguous", "unlisted_answer", "open", "", "",
		},
		"Vonage's status 1 slows the gate": {
			"sms", smsTypes["vonage"], "vonage/deferred_1_throttled", "", "claimed", "provider_paused", "slowed", "", "",
		},
		"some parts went out": {
			"sms", smsTypes["vonage"], "vonage/ambiguous_partial", "", "ambiguous", "partial", "open", "0A0000000123ABC1",
			"parts 1 to 2 accepted, part 3 refused with status 9",
		},
		"SendGrid's yes is empty": {
			"email", sendGridSettings, "sendgrid/accepted_202", mail,
			"sent", "", "open", "14c5d75ce93.dfd.64b469", "",
		},
		"SendGrid's yes without an id": {"email", sendGridSettings, "sendgrid/accepted_202_no_id", mail, "sent", "", "open", "", ""},
		"SendGrid's yes with a page":   {"email", sendGridSettings, "sendgrid/accepted_202_html", mail, "sent", "", "open", "m1Canary-aB_9.x", ""},
		"an empty 400 is nobody's":     {"email", sendGridSettings, "sendgrid/deferred_400_empty", mail, "claimed", "provider_paused", "paused", "", ""},
		"a mail that is too large":     {"email", sendGridSettings, "sendgrid/rejected_413_nginx", mail, "failed", "rejected", "open", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMouth(t, func(string) string { return c.fixture })
			p := answering(t, m, c.channel, c.settings)
			r := p.start()
			message := event(`"event_id":"e"` + c.members)
			a := r.settled(message)
			full := r.get(a.ID)
			if a.State != c.state || a.Reason != c.reason || a.MessageID != c.messageID || len(full.Attempts) != 1 || full.Attempts[0].Error != c.says {
				t.Errorf("%s (%s), id %q, attempts %+v", a.State, a.Reason, a.MessageID, full.Attempts)
			}
			if gate := r.gate("sms_main"); gate != c.gate {
				t.Errorf("the gate is %s, want %s", gate, c.gate)
			}
			if c.state == "ambiguous" { // neither the ladder, nor the same event, nor a start asks again
				r.stop()
				r = p.start()
				if b := r.settled(message); b.State != "ambiguous" || b.NextAction != "ask" || !b.MaybeSent {
					t.Errorf("later: %s, next %s", b.State, b.NextAction)
				}
			}
			r.stop()
			if n := m.requests.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			p.check()
		})
	}
}
