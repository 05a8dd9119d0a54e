package main

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/fake"
)

// release says that a row was not sent. Its version has to be the one that the person saw.
func (w *bubbleWorld) release(r lostRow) (after lostRow) {
	w.t.Helper()
	w.do(http.MethodPost, "/v1/notifications/"+r.ID+"/release", `{"reason":"I think it never left"}`, &after, fmt.Sprintf("If-Match: %q", fmt.Sprint(r.Version)))
	return after
}

// post posts a receipt that was kept, as a provider does that comes late, and demands that it is taken.
func (w *bubbleWorld) post(receipt *http.Request) {
	w.t.Helper()
	answer, err := roadToUs{w}.RoundTrip(receipt)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		w.t.Fatalf("the receipt was answered %d", answer.StatusCode)
	}
}

// kept makes a receipt of the newest message with a token, to be posted later.
func (w *bubbleWorld) kept(kind, token, word string) *http.Request {
	w.t.Helper()
	receipt, err := w.fakes[kind].Receipt(token, word)
	if err != nil {
		w.t.Fatal(err)
	}
	return receipt
}

// proven is how many duplicates the ledger counts as proven.
func (w *bubbleWorld) proven() int {
	w.t.Helper()
	var stats struct {
		Proven int `json:"duplicates_proven"`
	}
	w.do(http.MethodGet, "/v1/stats", "", &stats)
	return stats.Proven
}

var receiptKinds = []string{"twilio", "vonage", "vonage_messages", "sendgrid", "resend"}

// A person releases a row, and before the second send the receipt for the first one comes: there is no second send.
func TestLateReceipt_BeforeTheSecondSend(t *testing.T) {
	inBubble(t, calm(100), receiptKinds, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.lostAnswer(kind, "tok_a")
		var gate struct{}
		w.do(http.MethodPost, "/v1/providers/"+kind+"/pause", `{"reason":"for this test"}`, &gate)
		if released := w.release(w.row(r)); released.State != "claimed" {
			t.Fatalf("released: %+v", released)
		}
		w.report(kind, "tok_a", "delivered", http.StatusNoContent)
		w.do(http.MethodPost, "/v1/providers/"+kind+"/resume", `{"reason":"for this test"}`, &gate)
		time.Sleep(10 * time.Minute)
		if now := w.row(r); now.State != "sent" || now.plain() != w.fakes[kind].Accepted()[0].ID || now.Delivery != "delivered" {
			t.Errorf("%+v", now)
		}
		w.calls(kind, 1, 1)
	})
}

// A person releases a row whose first message did arrive, and the second send is accepted: the receipt for the first one proves the
// duplicate, and the row keeps the second one's id.
func TestLateReceipt_AfterTheSecondSend(t *testing.T) {
	inBubble(t, calm(100), []string{"twilio", "vonage", "vonage_messages", "sendgrid"}, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.lostAnswer(kind, "tok_a")
		first := w.kept(kind, "tok_a", "delivered")
		w.release(w.row(r))
		time.Sleep(time.Minute)
		now := w.row(r)
		if second := w.fakes[kind].Accepted()[1].ID; now.State != "sent" || now.plain() != second {
			t.Fatalf("%+v, want %s", now, second)
		}
		before := now.MessageID
		w.post(first)
		if now = w.row(r); now.State != "sent" || now.MessageID != before || w.proven() != 1 {
			t.Errorf("%d proven: %+v", w.proven(), now)
		}
		w.calls(kind, 2, 2)
	})
}

// Both attempts lost their answers: a receipt for the first one is no proof of the second, and the receipt for that proves the
// duplicate.
func TestLateReceipt_NamesItsAttempt(t *testing.T) {
	inBubble(t, calm(100), []string{"twilio", "vonage", "vonage_messages", "sendgrid"}, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.lostAnswer(kind, "tok_a")
		first := w.kept(kind, "tok_a", "delivered")
		w.fakes[kind].Script("tok_a", fake.AcceptReset)
		w.release(w.row(r))
		time.Sleep(time.Minute)
		if now := w.row(r); now.State != "ambiguous" || len(now.Attempts) != 2 {
			t.Fatalf("%+v", now)
		}
		w.post(first)
		now := w.row(r)
		if now.State != "sent" || now.plain() != w.fakes[kind].Accepted()[0].ID || w.proven() != 0 {
			t.Errorf("%d proven: %+v", w.proven(), now)
		}
		w.report(kind, "tok_a", "delivered", http.StatusNoContent)
		if now = w.row(r); now.plain() != w.fakes[kind].Accepted()[0].ID || w.proven() != 1 {
			t.Errorf("%d proven: %+v", w.proven(), now)
		}
		w.calls(kind, 2, 2)
	})
}

// Two identical reminders to one number, of which one is known to be sent, or none: what the list shows could be either's, so
// the look-up settles nothing.
func TestLostAnswer_TwoIdenticalReminders(t *testing.T) {
	for name, lost := range map[string][]fake.Behaviour{
		"one sent, one unknown": {fake.Accept, fake.AcceptReset}, "one unknown, one sent": {fake.AcceptReset, fake.Accept}, "both unknown": {fake.AcceptReset, fake.AcceptReset},
		"one sent, one that never arrived": {fake.Accept, fake.Lose}, "one unknown, one that never arrived": {fake.AcceptReset, fake.Lose},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, calm(0), []string{"twilio"}, func(t *testing.T, w *bubbleWorld, kind string) {
				w.fakes[kind].Script("tok_same", lost...)
				rows := []lostRow{w.claimed(kind, "evt_1", "tok_same"), w.claimed(kind, "evt_2", "tok_same")}
				time.Sleep(4 * time.Hour) // past the last look
				if w.fakes[kind].LookUps() == 0 {
					t.Error("nobody looked")
				}
				for i, r := range rows {
					now, want := w.row(r), "ambiguous"
					if lost[i] == fake.Accept {
						want = "sent"
					}
					if now.State != want || now.MessageID != r.MessageID {
						t.Errorf("row %d was %s with %q and is %+v", i+1, r.State, r.MessageID, now)
					}
				}
			})
		})
	}
}

// A receipt that arrives while its message's own answer is on the way is kept until the attempt has ended.
func TestReceipt_BeforeTheAnswer(t *testing.T) {
	inBubble(t, calm(100), receiptKinds, func(t *testing.T, w *bubbleWorld, kind string) {
		f := w.fakes[kind]
		f.Script("tok_a", fake.AcceptHang)
		answered := make(chan lostRow)
		go func() { answered <- w.claimed(kind, "evt_a", "tok_a") }()
		synctest.Wait()
		w.report(kind, "tok_a", "delivered", http.StatusNoContent)
		f.Release()
		r := <-answered
		if now := w.row(r); now.State != "sent" || now.plain() != f.Accepted()[0].ID || now.Delivery != "delivered" || w.proven() != 0 {
			t.Errorf("%+v", now)
		}
		w.calls(kind, 1, 1)
	})
}
