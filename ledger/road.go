package ledger

import (
	"slices"
	"strings"
	"time"
)

// road says which outlet takes the next row of o: o itself while its gate lets something pass, else an open one of a
// row's channel. With none it says when to look again.
func (l *Ledger) road(o *outlet) (*outlet, time.Time) {
	if l.passes(o) {
		if first := o.rows(1); len(first) > 0 {
			return o, time.Time{}
		}
		return nil, o.again(false)
	}
	for _, most := range []int{1, laneRoom + laneRead} { // the first may be pinned, or have tried the others
		rows := o.rows(most)
		for i := range rows {
			if alt := l.alternative(o, &rows[i]); alt != nil {
				return alt, time.Time{}
			}
		}
	}
	o.forget() // nothing passes: the rows stay in the store, in their order
	return nil, o.again(true)
}

// passes reports whether the gate of o lets a row pass now.
func (l *Ledger) passes(o *outlet) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.provider != nil && (o.gate.Open() || o.gate.Ready(l.clock.now()))
}

// blocked reports whether no row of o can be taken, by o or by another provider of its channels, and until when.
func (l *Ledger) blocked(o *outlet) (time.Time, bool) {
	if l.passes(o) {
		return time.Time{}, false
	}
	for ch, c := range l.settings.Channels {
		if o.provider != nil && (ch == Webhook || !slices.Contains(o.channels, ch)) {
			continue
		}
		for _, name := range c.Providers {
			if name != o.name && l.outlets[name].open() {
				return time.Time{}, false
			}
		}
	}
	o.forget()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.gate.Until(), true
}

// alternative returns an open outlet of the row's channel that the row has not tried since its last wait; nil: none.
func (l *Ledger) alternative(o *outlet, n *Notification) *outlet {
	if n.Pinned || n.MaybeSent || n.Channel == Webhook && o.provider != nil {
		return nil
	}
	for _, name := range l.settings.Channels[n.Channel].Providers {
		alt := l.outlets[name]
		if alt == o || !alt.open() || tried(n, name) {
			continue
		}
		if a, ok := alt.provider.(Accepter); ok && a.Accepts(n.Recipient) == 0 {
			continue
		}
		return alt
	}
	return nil
}

func tried(n *Notification, provider string) bool {
	return n.Tried != "" && slices.Contains(strings.Split(n.Tried, ","), provider)
}
