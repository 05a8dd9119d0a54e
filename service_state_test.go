package main

import (
	"testing"
	"time"
)

// A yes of a provider that posts no receipts: its delivery is asked for by the message's id. While the provider does not show the
// message yet nothing changes, and once it is delivered nobody asks again.
func TestStates_DeliveryIsAskedFor(t *testing.T) {
	inBubble(t, calm(0), []string{"infrai"}, func(t *testing.T, w *bubbleWorld, kind string) {
		r := w.claimed(kind, "evt_tok_a", "tok_a")
		time.Sleep(5 * time.Minute)
		if now := w.row(r); now.State != "sent" || now.Delivery != "" || len(now.Receipts) != 0 || w.fakes[kind].LookUps() != 1 {
			t.Errorf("before it is shown: %+v after %d look-ups", now, w.fakes[kind].LookUps())
		}
		time.Sleep(3 * time.Hour)
		now := w.row(r)
		if now.State != "sent" || now.Delivery != "delivered" || len(now.Receipts) != 1 || now.Receipts[0].Kind != "delivered" || len(now.Settlements) != 0 {
			t.Errorf("%+v", now)
		}
		if got := w.fakes[kind].LookUps(); got != 2 {
			t.Errorf("%d look-ups", got)
		}
		w.calls(kind, 1, 1)
	})
}
