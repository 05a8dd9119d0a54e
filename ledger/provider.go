package ledger

import (
	"context"
	"strconv"
	"time"
)

// Order is what an adapter builds one request from.
type Order struct {
	ID         string // of the notification
	Number     int    // of the attempt; ID-Number is the reference
	Kind       Kind
	WireKey    string // the key that the provider may dedupe on
	Channel    Channel
	Recipient  string // the address to send to
	Message    []byte
	EventType  string
	OccurredAt time.Time
	ClaimedAt  time.Time
	ExpiresAt  time.Time
	At         time.Time // the attempt's time: signatures and validity are computed from it
	Stored     []byte    // of a repeat: the first attempt's body, to be sent as it is
}

// Reference is what a provider may echo to show which attempt it talks about.
func (o *Order) Reference() string { return o.ID + "-" + strconv.Itoa(o.Number) }

// Request is what an adapter is about to send; its body is hashed into the attempt before a byte leaves.
type Request interface{ Body() []byte }

// Provider is one configured outside service. A panic in it is recovered: ambiguous if bytes may have left, else deferred.
type Provider interface {
	// Account is a fingerprint of base URL and account: a repeat goes only to the same one.
	Account() [8]byte

	// Build makes the request; pure. An error means that this message can never be built: the row fails (unbuildable).
	Build(o Order) (Request, error)

	// Send hands the request over, once, and says what is known then. ctx carries the deadline.
	// It never returns an error: what went wrong is in the result.
	Send(ctx context.Context, r Request) Result
}

// Checker is a provider that knows before the claim what it cannot send; the error is an *InvalidError.
type Checker interface {
	Check(e Event) error
}

// Accepter is a provider that takes only some recipients of its channel (a webhook's URL prefixes): the
// length of the longest match, 0 for none. Where a channel's providers have it, the longest match takes the row.
type Accepter interface {
	Accepts(recipient string) int
}

// Patient is a provider whose answer may come long after the whole request is with it, as a mail server's does (RFC 5321
// section 4.5.3.2.6). It is waited for that much longer than the time-out: the deadline of Send's context is later by
// Patience, and the adapter keeps all that comes before the wait within the time-out. The end of a drain ends the wait too.
type Patient interface {
	Patience() time.Duration
}

// Repeater is a provider that honours a wire key: a repeat under it within the window sends nothing new.
type Repeater interface {
	RepeatWindow() time.Duration
}

// Templater is a provider that sends texts stored at it, which a message names by template.id.
type Templater interface {
	SendsTemplates() bool
}

// Segmenter is a provider that sends a text in parts, each with a price of its own.
type Segmenter interface {
	// Segments counts the parts of a message that Check has passed; zero: that cannot be known here.
	Segments(message []byte) Segments
}

// Segments are the parts of a text on a radio network.
type Segments struct {
	Encoding string // GSM-7 or UCS-2
	Count    int
}

// Capability is something that a provider's service has besides taking messages. What one of them means for a lost answer
// stands in docs/providers.md.
type Capability string

// The capabilities. Those that sendonce uses are interfaces of an adapter too: repeat is Repeater, both find_by are Finder, receipts
// is Reporter, status_by_id is Stater, templates is Templater.
const (
	CanRepeat          Capability = "repeat"            // a repeat under a wire key sends nothing new
	CanFindByReference Capability = "find_by_reference" // a look-up by what we sent along finds the message
	CanFindByContent   Capability = "find_by_content"   // a look-up by recipient and time finds messages to compare
	CanReceipts        Capability = "receipts"          // reports about a message are posted to us
	CanStatusByID      Capability = "status_by_id"      // the state of a message can be asked for by its message id
	CanTemplates       Capability = "templates"         // texts stored at the provider
)

// Capabilities lists them in the order in which they are shown.
var Capabilities = []Capability{CanRepeat, CanFindByReference, CanFindByContent, CanReceipts, CanStatusByID, CanTemplates}

// uses are the capabilities of a provider that are made use of, as it is configured.
func (o *outlet) uses() []Capability {
	out := []Capability{}
	if o.repeatWindow() > 0 {
		out = append(out, CanRepeat)
	}
	if looks := o.lookUps(); len(looks.At) > 0 && looks.ByContent {
		out = append(out, CanFindByContent)
	} else if len(looks.At) > 0 {
		out = append(out, CanFindByReference)
	}
	if r, ok := o.provider.(Reporter); ok && r.TakesReceipts() {
		out = append(out, CanReceipts)
	}
	if len(o.states.at) > 0 {
		out = append(out, CanStatusByID)
	}
	if t, ok := o.provider.(Templater); ok && t.SendsTemplates() {
		out = append(out, CanTemplates)
	}
	return out
}

// check asks the provider whether it can send this at all.
func (o *outlet) check(e *Event) error {
	if c, ok := o.provider.(Checker); ok {
		return c.Check(*e)
	}
	return nil
}

// patience is how much longer than the time-out the provider's answer is waited for.
func (o *outlet) patience() time.Duration {
	if p, ok := o.provider.(Patient); ok {
		return p.Patience()
	}
	return 0
}

// repeatWindow is how long the provider honours a wire key; 0: it does not.
func (o *outlet) repeatWindow() time.Duration {
	if r, ok := o.provider.(Repeater); ok {
		return r.RepeatWindow()
	}
	return 0
}
