package ledger

import (
	"cmp"
	"slices"
	"time"
)

// Outbox is a provider that lets nothing leave and keeps what it "sent", to be looked at by a person who develops or tries something.
type Outbox interface {
	// Printed returns the messages that are kept, the oldest first. What it returns is not changed.
	Printed() []Printed
}

// Printed is a message that did not leave. It is content: only who may see messages may see it.
type Printed struct {
	Provider     string
	MessageID    string
	Notification string // its id
	Attempt      int
	Channel      Channel
	Recipient    string
	EventType    string
	Message      []byte // JSON
	At           time.Time
	Dropped      bool // the provider was told to keep its answer back
}

// Mailbox returns what providers that let nothing leave have "sent", the newest first; ok is false where none of them is one.
func (l *Ledger) Mailbox() (list []Printed, ok bool) {
	for _, o := range l.outlets {
		box, is := o.provider.(Outbox)
		if !is {
			continue
		}
		ok = true
		for _, p := range box.Printed() {
			p.Provider = o.name
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b Printed) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.MessageID, a.MessageID)) })
	return list, ok
}
