package ledger

import "time"

// Settings are the rules of a ledger; config fills them and they are valid when New gets them.
type Settings struct {
	Channels        map[Channel]ChannelSettings
	Policies        []PolicySettings // first match wins, over the channel's own
	Recipes         []Recipe         // the first makes keys, the others are looked under too
	OnMessageChange MessageChange
	NearDuplicate   NearDuplicate
	Drain           time.Duration // how long Run waits for requests that run when it is to end
	Retention       Retention
	Operator        Operator // nil: people are told by the log only
}

// ChannelSettings are the rules of one channel.
type ChannelSettings struct {
	Providers    []string // in the order in which they are tried
	Timeout      time.Duration
	Retry        []time.Duration // the ladder
	OnAmbiguous  OnAmbiguous
	After        time.Duration // when OnAmbiguous acts, counted from the moment the row became ambiguous
	ExpiresAfter time.Duration
	Region       string // ISO 3166 code that reads phone numbers without +; empty: they are refused
}

// PolicySettings change a channel's rules for some events. Zero fields leave the channel's rule.
type PolicySettings struct {
	EventType    string // exact, or with * for any run of characters
	Channel      Channel
	Lane         string
	ExpiresAfter time.Duration
	OnAmbiguous  OnAmbiguous
	After        time.Duration
}

// OnAmbiguous says what becomes of an ambiguous row when evidence has ended.
type OnAmbiguous string

// The policies.
const (
	OnAmbiguousAsk        OnAmbiguous = "ask"
	OnAmbiguousSendAgain  OnAmbiguous = "send_again" // once in a row's life; accepts a duplicate
	OnAmbiguousAssumeSent OnAmbiguous = "assume_sent"
	OnAmbiguousAbandon    OnAmbiguous = "abandon"
)

// MessageChange says what a claim gets whose row has another message.
type MessageChange string

// The answers to a changed message.
const (
	MessageChangeRefuse MessageChange = "refuse" // a *ReusedError
	MessageChangeAccept MessageChange = "accept" // the row, with what differs
)

// NearDuplicate sets the watch for the same content under another key. Window 0 switches it off.
type NearDuplicate struct{ Window time.Duration }

// ProviderSettings are a configured provider and its limits.
type ProviderSettings struct {
	Name     string
	Type     string
	Channels []Channel
	Provider Provider
	Timeout  time.Duration // 0: the channel's
	Rate     float64       // requests a second; 0: no limit
	Workers  int           // requests at the same time
	Offers   []Capability  // what the type's service has, for people
	Price    Price         // of a message, for people
}

// Recipe makes a dedupe key from fields of an event.
type Recipe struct {
	Name      string
	Fields    []string // of event_id, event_type, source, user_id, channel, recipient
	Separator string
	Length    int // 40 or 64 hex digits
}
