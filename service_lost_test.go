package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/fake"
)

// lostRow is a row whose answer was lost.
type lostRow struct {
	settleRow
	Duplicates int `json:"duplicate_count"`
}

// lostAnswer claims an event whose request the provider takes without an answer, and demands that the row says so.
func (w *bubbleWorld) lostAnswer(kind, token string) lostRow {
	w.t.Helper()
	w.fakes[kind].Script(token, fake.AcceptReset)
	r := w.claimed(kind, "evt_"+token, token)
	if r.State != "ambiguous" || !r.MaybeSent || r.MessageID != "" || w.fakes[kind].Received(token) != 1 {
		w.t.Fatalf("%s: %+v; received %d times", kind, r, w.fakes[kind].Received(token))
	}
	return r
}

// claimed claims an event and returns its row once its first attempt has ended.
func (w *bubbleWorld) claimed(kind, id, token string) (r lostRow) {
	w.t.Helper()
	w.do(http.MethodPost, "/v1/notifications", bubbleEvent(kind, id, token), &r, "Prefer: wait=30")
	return r
}

// bubbleEvent is a claim of a message with a token for a provider.
func bubbleEvent(kind, id, token string) string {
	i := slices.IndexFunc(bubbleKinds, func(k bubbleKind) bool { return k.name == kind })
	members := fmt.Sprintf(`{"event_id":%q,"channel":%q,"provider":%q,`, id, bubbleKinds[i].channel, kind)
	switch bubbleKinds[i].channel {
	case "sms":
		return members + `"recipient":"+15550100001","message":{"text":"Order ` + token + ` shipped."}}`
	case "email":
		return members + `"recipient":"` + token + `@customer.example.test","message":{"subject":"Order","text":"Order ` + token + ` shipped."}}`
	}
	return members + `"recipient":"device-1","message":{"title":"Shipped","body":"Order ` + token + `"}}`
}

// row reads a row in full.
func (w *bubbleWorld) row(r lostRow) (now lostRow) {
	w.t.Helper()
	synctest.Wait()
	w.do(http.MethodGet, "/v1/notifications/"+r.ID, "", &now)
	return now
}

// report posts a receipt and demands its status.
func (w *bubbleWorld) report(kind, token, word string, want int) {
	w.t.Helper()
	if status, err := w.fakes[kind].Report(token, word); status != want {
		w.t.Fatalf("%s: the receipt was answered %d (%v), want %d", kind, status, err, want)
	}
}

// calm are providers that do as they are told: no receipt leaves by itself, and a look-up sees a message after two minutes.
func calm(hidden int) fake.Options {
	return fake.Options{WellBehaved: true, HonourKeys: true, Receipts: fake.Receipts{Lost: 100}, LookUps: fake.LookUps{Lag: 2 * time.Minute, Hidden: hidden}}
}

// inBubble runs a body for providers of these names, each in a bubble of its own.
func inBubble(t *testing.T, o fake.Options, names []string, body func(t *testing.T, w *bubbleWorld, kind string)) {
	t.Helper()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newBubbleWorld(t, o, name)
				body(t, w, name)
				w.stop()
				w.check()
			})
		})
	}
}

// A lost answer, then a receipt with our reference: the row is sent, with the message's id and its delivery, and there was one call.
func TestLostAnswer_Receipt(t *testing.T) {
	inBubble(t, calm(0), []string{"twilio", "vonage", "vonage_messages", "sendgrid", "resend"}, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.lostAnswer(kind, "tok_a")
		w.report(kind, "tok_a", "delivered", http.StatusNoContent)
		now := w.row(r)
		if now.State != "sent" || now.Reason != "proof" || now.MaybeSent || now.plain() != w.fakes[kind].Accepted()[0].ID || now.Delivery != "delivered" {
			t.Errorf("%+v", now)
		}
		w.calls(kind, 1, 1)
	})
}

// A receipt that says "not delivered" is proof of the sending all the same.
func TestLostAnswer_ReceiptOfAFailure(t *testing.T) {
	words := map[string]string{"twilio": "undelivered", "vonage": "failed", "vonage_messages": "undeliverable", "sendgrid": "dropped", "resend": "failed"}
	inBubble(t, calm(0), []string{"twilio", "vonage", "vonage_messages", "sendgrid", "resend"}, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.lostAnswer(kind, "tok_a")
		w.report(kind, "tok_a", words[kind], http.StatusNoContent)
		time.Sleep(7 * time.Hour) // past the last repeat
		if now := w.row(r); now.State != "sent" || now.Delivery != "undelivered" {
			t.Errorf("%+v", now)
		}
		w.calls(kind, 1, 1)
	})
}

// A lost answer and no receipt: a look-up finds the message by our reference, or by its content where the provider shows none.
func TestLostAnswer_LookUp(t *testing.T) {
	inBubble(t, calm(0), []string{"twilio", "vonage", "vonage_messages", "sendgrid"}, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.lostAnswer(kind, "tok_a")
		time.Sleep(time.Hour)
		now := w.row(r)
		if now.State != "sent" || now.plain() != w.fakes[kind].Accepted()[0].ID || now.by() != "look-up" || w.fakes[kind].LookUps() == 0 {
			t.Errorf("%+v after %d look-ups", now, w.fakes[kind].LookUps())
		}
		w.calls(kind, 1, 1)
	})
}

// A lost answer where the provider honours a key: the same bytes once more bring the answer, and nobody gets a second message.
func TestLostAnswer_Repeat(t *testing.T) {
	inBubble(t, calm(0), []string{"infrai", "resend"}, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.lostAnswer(kind, "tok_a")
		time.Sleep(time.Hour)
		if now := w.row(r); now.State != "sent" || now.plain() != w.fakes[kind].Accepted()[0].ID || now.by() != "repeat" {
			t.Errorf("%+v", now)
		}
		w.calls(kind, 2, 1)
	})
}

// A lost answer that nothing tells about waits for a person, and is listed; nothing is sent meanwhile.
func TestLostAnswer_Nothing(t *testing.T) {
	inBubble(t, calm(100), []string{"twilio", "vonage", "vonage_messages", "sendgrid", "smtp", "fcm"}, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.lostAnswer(kind, "tok_a")
		time.Sleep(13 * time.Hour) // past the last look
		if now := w.row(r); now.State != "ambiguous" || !now.MaybeSent || now.MessageID != "" || now.NextAction != "ask" {
			t.Errorf("%+v", now)
		}
		var list struct{ Notifications []lostRow }
		w.do(http.MethodGet, "/v1/notifications?state=ambiguous&sort=oldest", "", &list)
		if len(list.Notifications) != 1 || list.Notifications[0].ID != r.ID {
			t.Errorf("listed %+v", list)
		}
		var stats struct {
			Oldest time.Time `json:"oldest_ambiguous_at"`
		}
		if w.do(http.MethodGet, "/v1/stats", "", &stats); time.Since(stats.Oldest).Round(time.Hour) != 13*time.Hour {
			t.Errorf("the oldest unknown waits since %v, at %v", stats.Oldest, time.Now())
		}
		w.calls(kind, 1, 1)
	})
}

// calls demands how many requests a provider read and how many messages went out.
func (w *bubbleWorld) calls(kind string, requests, messages int) {
	w.t.Helper()
	if f := w.fakes[kind]; f.Requests() != requests || len(f.Accepted()) != messages {
		w.t.Errorf("%s read %d requests and sent %d messages out, want %d and %d", kind, f.Requests(), len(f.Accepted()), requests, messages)
	}
}

// plain is the row's message id as the fakes write it.
func (r *lostRow) plain() string { return strings.TrimPrefix(r.MessageID, "projects/fake/messages/") }
