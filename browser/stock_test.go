package browser

import (
	"fmt"
	"net/http"

	"sendonce/fake"
)

// stock fills the ledger as a day at a shop does, and returns some of its rows by what became of them.
func (s *service) stock() map[string]row {
	s.t.Helper()
	sms := func(event, kind, to, text string) row {
		return s.claim(fields{"event_id": event, "event_type": kind, "recipient": to, "user_id": "u_17", "message": fields{"text": text}})
	}
	rows := map[string]row{}
	for i := range 18 {
		order := 2290 + i
		sms(fmt.Sprintf("evt_%d", order), "order.shipped", fmt.Sprintf("+1415555%04d", 150+i), fmt.Sprintf("Order A-%d has left and arrives tomorrow.", order))
	}
	for range 3 {
		rows["done"] = sms("evt_2271", "order.shipped", "+14155550142", "Order A-2271 has left and arrives tomorrow.")
	}
	rows["lost"] = s.lose(fields{"event_id": "evt_2308", "event_type": "payment.failed", "recipient": "+14155550142", "user_id": "u_17",
		"message": fields{"text": "Your card was declined. Please choose another way to pay."}})
	s.lose(fields{"event_id": "otp_5521", "event_type": "otp.login", "recipient": "+14155550177", "message": fields{"text": "481516 is your code."}})
	s.fake.Force(fake.Refuse)
	rows["failed"] = sms("evt_2309", "order.shipped", "+14155550199", "Order A-2309 has left.")
	other := func(f fields) row {
		f["source"] = "shop"
		return s.call("app", http.MethodPost, "/v1/notifications", f)
	}
	held := other(fields{"event_id": "promo_black_friday", "event_type": "campaign", "channel": "email", "recipient": "ben@example.com", "send_at": "2027-06-01T00:00:00Z",
		"expires_at": "2027-06-02T00:00:00Z", "message": fields{"subject": "Everything must go", "text": "20 % off all lamps."}})
	rows["held"] = s.call("app", http.MethodPost, "/v1/notifications/"+held.ID+"/hold", fields{"reason": "legal looks at the text first"})
	other(fields{"event_id": "evt_2310", "event_type": "order.receipt", "channel": "email", "recipient": "ada@example.com", "message": fields{"subject": "Your receipt for order A-2310",
		"text": "One lamp, 49.00 USD.", "html": "<h1>Thank you, Ada</h1><p>One lamp, <strong>49.00 USD</strong>. It leaves today.</p>"}})
	other(fields{"event_id": "evt_2311", "event_type": "order.delivered", "channel": "push", "recipient": "device-token-0123456789abcdef", "message": fields{"title": "It is here", "body": "Order A-2271 stands at your door."}})
	other(fields{"event_id": "evt_2312", "event_type": "stock.low", "channel": "webhook", "recipient": "https://events.crm.customers.europe-west1.example.com/hook", "message": fields{"data": fields{"sku": "lamp-7", "left": 3}}})
	return rows
}
