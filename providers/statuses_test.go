package providers

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// unlistedErrors are errors in each provider's own form with a code that no table has.
var unlistedErrors = map[string]string{
	"infrai":          `{"ok":false,"data":null,"error":{"code":"SOMETHING_NEW","message":"m"}}`,
	"twilio":          `{"code":29999,"message":"m","more_info":"i","status":400}`,
	"vonage":          `{"message-count":"1","messages":[{"status":"99","error-text":"m"}]}`,
	"vonage_messages": `{"type":"https://developer.vonage.com/api-errors/messages#9999","title":"t","detail":"d","instance":"i"}`,
	"sendgrid":        `{"errors":[{"message":"m","field":null,"help":null}]}`,
	"resend":          `{"statusCode":400,"name":"something_new","message":"m"}`,
	"fcm":             `{"error":{"code":400,"message":"m","status":"SOMETHING_NEW"}}`,
	"webhook":         `{"error":"m"}`,
}

// portalPage is what a captive portal, a proxy or a wrong base URL says.
const portalPage = "<!doctype html><title>Log in to the hotel's network</title>"

// Each status that there is, with an error of the provider's own, with a page of somebody else's, and with a body that ends
// half way, means what docs/providers.md says in the table for all.
func TestEachProvider_EveryStatus(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		for status := 200; status <= 600; status++ {
			for form, x := range map[string]exchange{
				"own":  {body: []byte(unlistedErrors[k.name]), whole: true},
				"page": {body: []byte(portalPage), whole: true},
				"cut":  {body: []byte(unlistedErrors[k.name][:10]), cut: true},
			} {
				x.phase, x.status, x.at = ledger.Answered, status, testTime
				r := k.read(&x)
				if want, ok := statusMeans(k, status, form); ok && (r.Outcome != want.outcome || r.Fault != want.fault) {
					t.Errorf("%d with %s is %s %s, want %s %s", status, form, r.Outcome, r.Fault, want.outcome, want.fault)
				}
				checkForm(t, r)
			}
		}
	})
}

// statusMeans is that table; false: the status is the adapter's yes, which has tests of its own.
func statusMeans(k kit, status int, form string) (e expected, ok bool) {
	class := status / 100
	switch {
	case status == k.yes.status, k.name == "sendgrid" && class == 2, k.name == "webhook" && class == 2:
		return e, false
	case k.name == "webhook":
		return receiverSays(status, form), true
	case status == 408, status == 425, class == 2, class > 4:
		return e, true
	case status == 429:
		return expected{outcome: ledger.Deferred, fault: ledger.FaultThrottled}, true
	case status == 413:
		return expected{outcome: ledger.Rejected}, true
	case class == 3, form == "page":
		return expected{outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply}, true
	}
	own := map[int]expected{
		400: {outcome: ledger.Rejected}, 404: {outcome: ledger.Rejected}, 405: {outcome: ledger.Rejected}, 415: {outcome: ledger.Rejected},
		422: {outcome: ledger.Rejected}, 402: {outcome: ledger.Deferred, fault: ledger.FaultAccount},
		401: {outcome: ledger.Deferred, fault: ledger.FaultCredentials}, 403: {outcome: ledger.Deferred, fault: ledger.FaultCredentials},
	}[status]
	if form == "cut" && own.outcome != ledger.Ambiguous {
		return expected{outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply}, true
	}
	return own, true
}

// receiverSays is the table's line for the receivers of webhooks.
func receiverSays(status int, form string) expected {
	switch {
	case status == 410, status/100 == 3:
		return expected{outcome: ledger.Rejected}
	case status == 502, status == 504, status > 599, form == "cut":
		return expected{}
	}
	return expected{outcome: ledger.Deferred}
}

// A yes of each adapter's own, whose body is lost or without end: the message is out where the status says so, and unknown where
// the body would have to.
func TestEachProvider_ItsYesWithoutItsBody(t *testing.T) {
	const chunked = "Transfer-Encoding: chunked\r\n\r\n"
	for name, rest := range map[string]struct {
		start, again string
		whole        bool // so it is not lost, and somebody else's
	}{
		"cut after the header":   {"Content-Length: 50\r\n\r\n", "", false},
		"cut in the body":        {"Content-Length: 50\r\n\r\n{", "", false},
		"cut in a chunk":         {chunked + "8\r\n{\"ok\":tr\r\n", "", false},
		"a chunk that is none":   {chunked + "zz\r\n", "", false},
		"endless":                {"\r\n", strings.Repeat("z", 4096), false},
		"endless chunks":         {chunked, "4\r\nzzzz\r\n", false},
		"packed":                 {bomb()[len("HTTP/1.1 200 OK\r\n"):], "", true},
		"a page of a portal":     {"Content-Type: text/html\r\nContent-Length: " + itoa(len(portalPage)) + "\r\n\r\n" + portalPage, "", true},
		"bytes that are no JSON": {"Content-Length: 4\r\n\r\n\x00\xff{]", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			eachProvider(t, func(t *testing.T, k kit) {
				start := "HTTP/1.1 " + itoa(k.yes.status) + " Yes\r\n" + rest.start
				serve := write(start)
				if rest.again != "" {
					serve = forever(start, rest.again)
				}
				seen := make(chan served, 8)
				r := k.send(t, Common{}, "http://"+listen(t, afterRequest(seen, serve)))
				if rest.whole && k.name != "webhook" && k.name != "sendgrid" { // F22: there the status alone is the yes
					check(t, r, expected{reason: ledger.ReasonUnreadableAnswer})
				} else {
					check(t, r, k.lostYes())
				}
				if len(seen) != 1 {
					t.Errorf("%d requests, want 1", len(seen))
				}
			})
		})
	}
}

// lostYes is what a yes without its body is.
func (k kit) lostYes() expected {
	if k.name == "infrai" || k.name == "vonage" {
		return expected{reason: ledger.ReasonUnreadableAnswer}
	}
	return expected{outcome: ledger.Accepted}
}

// Answers that announce another come before the one that counts, or before none.
func TestEachProvider_InformationalAnswers(t *testing.T) {
	const early = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
	eachProvider(t, func(t *testing.T, k kit) {
		for answer, want := range map[string]expected{
			early + k.yes.raw():          {outcome: ledger.Accepted},
			early:                        {reason: ledger.ReasonUnreadableAnswer},
			early + "HTTP/1.1 200 O":     {reason: ledger.ReasonUnreadableAnswer},
			early + "HTTP/1.1 103 x\r\n": {reason: ledger.ReasonUnreadableAnswer},
		} {
			seen := make(chan served, 8)
			r := k.send(t, Common{}, "http://"+listen(t, afterRequest(seen, write(answer))))
			if r.Outcome != want.outcome || r.Reason != want.reason || len(seen) != 1 {
				t.Errorf("%q: %s (%s) after %d requests, want %s (%s)", answer[len(early):], r.Outcome, r.Reason, len(seen), want.outcome, want.reason)
			}
		}
	})
}

// A server that falls silent: in the handshake nothing has left, behind half a header nobody knows, behind a yes it is a yes.
func TestEachProvider_Silence(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		ignore := make(chan served, 64)
		silent := func(start string) func(net.Conn) {
			return afterRequest(ignore, func(c net.Conn) {
				write(start)(c)
				_, _ = c.Read(make([]byte, 1)) // until the client closes
			})
		}
		for name, c := range map[string]struct {
			serve func(net.Conn)
			want  expected
		}{
			"half a header": {silent("HTTP/1.1 200 OK\r\nContent-"), expected{reason: ledger.ReasonUnreadableAnswer}},
			"yes":           {silent("HTTP/1.1 " + itoa(k.yes.status) + " Yes\r\nContent-Length: 9\r\n\r\n"), k.lostYes()},
		} {
			if r, took := inBubble(t, k, c.serve); r.Outcome != c.want.outcome || r.Reason != c.want.reason || took != 10*time.Second {
				t.Errorf("%s: %s (%s) after %v, want %s (%s)", name, r.Outcome, r.Reason, took, c.want.outcome, c.want.reason)
			}
		}
		address := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }) // reads the handshake and says nothing
		common := Common{BaseURL: "https://" + address}
		p := k.make(t, common)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r := p.Send(ctx, k.request(t, p, common.BaseURL))
		check(t, r, k.wants(unreached))
		if r.Phase != ledger.NotWritten {
			t.Errorf("phase %s without a handshake", r.Phase)
		}
	})
}
