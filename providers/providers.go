// Package providers holds the adapters to outside services and the one sender that they share.
//
// An adapter is two pure functions around the sender: build the request, read the answer. It never decides
// about a second attempt, it only says what is known. What it does not say is ambiguous, since that is the
// zero value of an outcome: a forgotten case costs a look, never a second message.
package providers

import (
	"context"
	"net"
	"time"

	"sendonce/ledger"
)

// Common are the settings that every type takes.
type Common struct {
	BaseURL      string        `koanf:"base_url"`      // "": the type's own
	Timeout      time.Duration `koanf:"timeout"`       // 0: the channel's; the loop puts it on the context
	Rate         Rate          `koanf:"rate"`          // 0: no limit
	Workers      int           `koanf:"workers"`       // requests at the same time; 0: the type's own
	RepeatWindow time.Duration `koanf:"repeat_window"` // how long the wire key is honoured; 0: not at all
	Price        ledger.Price  `koanf:"price"`         // of a message; not given: what repeats would have cost is not known
	LookUp       string        `koanf:"look_up"`       // "" or LookUpOn: the service is asked about lost answers where it can be; LookUpOff

	// CallbackURL is where this provider's receipts reach us, without a slash at its end: the receipt route of the
	// provider under public_url. "/" and the attempt's reference go behind it. "": no public_url, so no receipts are asked for.
	CallbackURL string `koanf:"-"`

	// Dial replaces the dialer and with it the guard on webhook addresses. Tests put a pipe here; nil: the network.
	Dial DialFunc `koanf:"-"`
}

// DialFunc opens a connection as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Settings are what one type needs besides Common; the fields carry koanf tags.
type Settings interface {
	// Validate names each faulty key, as it stands below the provider's name, and says what is right. It looks
	// at the common keys too.
	Validate(c Common) []ledger.FieldError
	// New makes the adapter from valid settings.
	New(name string, c Common) (ledger.Provider, error)
}

// Type is a kind of provider.
type Type struct {
	Channels     []ledger.Channel
	Settings     func() Settings // a pointer to settings that hold the defaults
	Workers      int             // default
	RepeatWindow time.Duration   // default
	Real         bool            // something leaves this machine
	Offers       []Offer         // what the service has besides taking messages, by its own documentation
}

// Offer is a capability of a service. An adapter's interfaces say which of them are in use (ledger/provider.go).
type Offer struct {
	Capability ledger.Capability
	How        string // a few words for a person: by which field, for how long
	Used       bool   // sendonce makes use of it
}

// Has lists the capabilities of a type.
func (t Type) Has() []ledger.Capability {
	var out []ledger.Capability
	for _, o := range t.Offers {
		out = append(out, o.Capability)
	}
	return out
}

// Types is the table of all types: adding one is a line here, a file, and a folder of fixtures.
var Types = map[string]Type{
	"infrai": {
		Channels: []ledger.Channel{ledger.SMS}, Settings: func() Settings { return &InfraiSettings{} }, Workers: 64, Real: true,
		Offers: []Offer{
			{ledger.CanRepeat, "`idempotency_key` in the body and as a header; no page says for how long, so `repeat_window` does", true},
			{ledger.CanStatusByID, "`GET /v1/sms/status/{id}`, 1 minute, 10 minutes and 1 hour after the acceptance", true},
		},
	},
	"twilio": {
		Channels: []ledger.Channel{ledger.SMS}, Settings: func() Settings { return &TwilioSettings{} }, Workers: 64, Real: true,
		Offers: []Offer{
			{ledger.CanFindByContent, "the message list by `To` and date, compared by text and sender; a fresh message may be missing for minutes", true},
			{ledger.CanReceipts, "`StatusCallback` of each message, signed, with our reference in its path", true},
			{ledger.CanStatusByID, "`GET …/Messages/{Sid}.json`", false},
			{ledger.CanTemplates, "content templates: `ContentSid` and `ContentVariables`", true},
		},
	},
	"vonage": {
		Channels: []ledger.Channel{ledger.SMS}, Settings: func() Settings { return &VonageSettings{API: vonageSMSAPI} }, Workers: 64, Real: true,
		Offers: []Offer{
			{ledger.CanFindByReference, "the Reports API: records of a day carry `client_ref`; billed per use. It takes `api_key` and `api_secret` only", true},
			{ledger.CanReceipts, "`callback` or `webhook_url` of each message, with our reference in `client-ref`; those of the SMS API are signed where Vonage was asked to", true},
			{ledger.CanStatusByID, "the Reports API by `id`", false},
		},
	},
	"smtp": {Channels: []ledger.Channel{ledger.Email}, Settings: func() Settings { return &SMTPSettings{} }, Workers: 8, Real: true},
	"webhook": {
		Channels: []ledger.Channel{ledger.Webhook}, Settings: func() Settings { return &WebhookSettings{} }, Workers: 64, Real: true,
		Offers: []Offer{{ledger.CanRepeat, "`webhook-id`, where the receivers drop a second one (`dedupes`), for `repeat_window`", true}},
	},
	"sendgrid": {
		Channels: []ledger.Channel{ledger.Email}, Settings: func() Settings { return &SendGridSettings{Category: "sendonce"} }, Workers: 64, Real: true,
		Offers: []Offer{
			{ledger.CanFindByReference, "Email Logs, 30 days: `POST /v3/logs` by recipient and time, then `custom_args` of each hit", true},
			{ledger.CanReceipts, "Event Webhook, signed when that is switched on; `custom_args` come along", true},
			{ledger.CanStatusByID, "`GET /v3/logs/{sg_message_id}`", false},
			{ledger.CanTemplates, "dynamic templates: `template.id` begins with `d-`, `variables` become `dynamic_template_data`", true},
		},
	},
	"resend": {
		Channels: []ledger.Channel{ledger.Email}, Settings: func() Settings { return &ResendSettings{} },
		Workers: 64, RepeatWindow: resendWindow, Real: true,
		Offers: []Offer{
			{ledger.CanRepeat, "header `Idempotency-Key`, kept for 24 hours", true},
			{ledger.CanFindByContent, "`GET /emails` lists the newest mails, compared by recipient, sender, subject and text", true},
			{ledger.CanReceipts, "webhooks, signed; `tags` come along", true},
			{ledger.CanStatusByID, "`GET /emails/{id}`", false},
			{ledger.CanTemplates, "published templates: `template.id` is an id or alias", true},
		},
	},
	"fcm": {Channels: []ledger.Channel{ledger.Push}, Settings: func() Settings { return &FCMSettings{} }, Workers: 64, Real: true},
	"log": {Channels: ledger.Channels, Settings: func() Settings { return &LogSettings{Share: 1} }, Workers: 64},
}
