package demo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// kind is a kind of notification: whom it goes to, through which provider, and how that is spoken to without sendonce.
type kind struct {
	letter    string
	eventType string
	channel   string
	provider  string // its name and type
	lane      string
	share     int // of a hundred orders
	recipient func(phone, person string) string
	text      func(token string, random *rand.Rand) string
	message   func(text string) map[string]any // as sendonce takes it
	path      string                           // of the provider's API
	form      string                           // content type
	body      func(n *notification) string
	settings  string // of the configuration; URL, CREDENTIALS and WEBHOOK are put in
}

func phone(phone, _ string) string { return phone }

// kinds are in the order in which an order causes them.
var kinds = []*kind{
	{
		letter: "C", eventType: "signin.code", channel: "sms", provider: "twilio", lane: "urgent", share: 45,
		recipient: phone,
		text: func(token string, random *rand.Rand) string {
			return fmt.Sprintf("Your sign-in code is %06d (%s).", random.IntN(1_000_000), token)
		},
		message: func(text string) map[string]any { return map[string]any{"text": text} },
		path:    "/2010-04-01/Accounts/AC00000000000000000000000000000000/Messages.json", form: "application/x-www-form-urlencoded",
		body: func(n *notification) string {
			return url.Values{"To": {n.recipient}, "From": {"+15005550006"}, "Body": {n.text}}.Encode()
		},
		settings: `{type: twilio, account_sid: AC00000000000000000000000000000000, auth_token: example-token, from: "+15005550006", base_url: URL}`,
	},
	{
		letter: "P", eventType: "payment.confirmed", channel: "email", provider: "resend", lane: "normal", share: 100,
		recipient: func(_, person string) string { return person + "@customer.example" },
		text: func(token string, random *rand.Rand) string {
			return fmt.Sprintf("We received your payment of %d.%02d EUR for order %s.", 5+random.IntN(200), random.IntN(100), token)
		},
		message: func(text string) map[string]any { return map[string]any{"subject": "Your payment", "text": text} },
		path:    "/emails", form: "application/json",
		body: func(n *notification) string {
			return toJSON(map[string]any{"from": "Shop <shop@shop.example>", "to": []string{n.recipient}, "subject": "Your payment", "text": n.text})
		},
		settings: `{type: resend, api_key: example-key, from: "Shop <shop@shop.example>", webhook_secret: SECRET, base_url: URL}`,
	},
	{
		letter: "S", eventType: "order.shipped", channel: "sms", provider: "infrai", lane: "normal", share: 100,
		recipient: phone,
		text: func(token string, _ *rand.Rand) string {
			return fmt.Sprintf("Order %s has left our warehouse.", token)
		},
		message: func(text string) map[string]any { return map[string]any{"text": text} },
		path:    "/v1/sms/send", form: "application/json",
		body:     func(n *notification) string { return toJSON(map[string]any{"to": n.recipient, "body": n.text}) },
		settings: `{type: infrai, api_key: example-key, repeat_window: 1h, base_url: URL}`,
	},
	{
		letter: "D", eventType: "parcel.arrived", channel: "push", provider: "fcm", lane: "normal", share: 40,
		recipient: func(_, person string) string { return "device-of-" + person },
		text: func(token string, _ *rand.Rand) string {
			return fmt.Sprintf("Parcel %s is at your door.", token)
		},
		message: func(text string) map[string]any { return map[string]any{"title": "Shop", "body": text} },
		path:    "/v1/projects/shop-1/messages:send", form: "application/json",
		body: func(n *notification) string {
			return toJSON(map[string]any{"message": map[string]any{"token": n.recipient, "notification": map[string]any{"title": "Shop", "body": n.text}}})
		},
		settings: `{type: fcm, credentials: CREDENTIALS, base_url: URL}`,
	},
}

// event is the claim of a notification.
func (n *notification) event() string {
	return toJSON(map[string]any{
		"event_id": strings.ReplaceAll(n.kind.eventType, ".", "_") + "_" + n.token, "event_type": n.kind.eventType, "channel": n.kind.channel,
		"recipient": n.recipient, "message": n.kind.message(n.text), "provider": n.kind.provider, "lane": n.kind.lane,
	})
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("demo: " + err.Error()) // maps of texts
	}
	return string(text)
}
