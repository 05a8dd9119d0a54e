package main

import "sendonce/fake"

// bubbleKind is a provider of a service in a bubble.
type bubbleKind struct {
	name, channel, settings string
	share                   int // per cent of the lost answers that have to be settled without a person
}

var bubbleKinds = []bubbleKind{
	{"infrai", "sms", `{type: infrai, api_key: example-key, repeat_window: 24h, base_url: "URL"}`, 95},
	{"twilio", "sms", `{type: twilio, account_sid: AC00000000000000000000000000000000, auth_token: example-token, from: "+15005550006", ` +
		`shared_keys: {example: example-shared-key}, base_url: "URL"}`, 90},
	{"vonage", "sms", `{type: vonage, api_key: abcd1234, api_secret: example-secret, from: AcmeShip, signature_secret: ` + fake.VonageSecret +
		`, base_url: "URL"}`, 95},
	{"vonage_messages", "sms", `{type: vonage, api: messages, api_key: abcd1234, api_secret: example-secret, from: AcmeShip, signature_secret: ` +
		fake.VonageSecret + `, base_url: "URL"}`, 95},
	{"sendgrid", "email", `{type: sendgrid, api_key: example-key, from: "Shop <shop@example.test>", webhook_public_key: "` + fake.EventKey() +
		`", base_url: "URL"}`, 95},
	{"resend", "email", `{type: resend, api_key: example-key, from: "Shop <shop@example.test>", webhook_secret: ` + fake.SvixSecret +
		`, base_url: "URL"}`, 95},
	{"smtp", "email", `{type: smtp, address: "127.0.0.1:25", tls: none, from: "Shop <shop@example.test>"}`, 0},
	{"fcm", "push", `{type: fcm, credentials: CREDENTIALS, base_url: "URL"}`, 0},
}

// bubbleConfig is everything but the providers. Rows of the type again.* may be sent once more, which their owner accepts.
const bubbleConfig = `
listen: 127.0.0.1:0
database: {DIR}/sendonce.db
public_url: https://notify.example.test
auth:
  keys: [{name: shop, sha256: "SUM", roles: [send, read, operate]}]
policies:
  - {event_type: "again.*", on_ambiguous: send_again, after: 10m}
near_duplicate: {action: "off"}
storage: {reserve: 1MiB}
providers:
`
