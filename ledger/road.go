package ledger

import (
	"slices"
	"strings"
	"time"
)

// choose names the provider to try first: the pinned one, the one whose prefix fits a webhook best, or the channel's first.
func (l *Ledger) choose(e *Event) (string, error) {
	ch := l.settings.Channels[e.Channel]
	if e.Provider != "" {
		o := l.outlets[e.Provider]
		if o == nil || o.provider == nil || !slices.Contains(o.channels, e.Channel) {
			return "", Invalid("provider", "must be a provider that serves the channel %s", e.Channel)
		}
		return e.Provider, o.check(e)
	}
	if len(ch.Providers) == 0 {
		return "", ErrNoChannel
	}
	best, length, choosy := "", 0, false
	for _, name := range ch.Providers {
		a, ok := l.outlets[name].provider.(Accepter)
		if !ok {
			continue
		}
		choosy = true
		if n := a.Accepts(e.Recipient); n > length {
			best, length = name, n
		}
	}
	if !choosy {
		best = ch.Providers[0]
	} else if best == "" {
		return "", Invalid("recipient", "no webhook provider has a prefix of this URL in its urls")
	}
	return best, l.outlets[best].check(e)
}

// handOver gives a claimed row to its outlet, now or when it is due.
func (l *Ledger) handOver(n Notification) {
	o := l.outlets[n.Provider]
	if o == nil {
		return
	}
	if n.DueAt.After(l.clock.now()) {
		o.schedule(n.DueAt)
	} else if !l.startNow(o, n) {
		o.offer(n)
	}
	l.houseAt(n.ExpiresAt)
}

// moveOn gives a row that was moved to whoever does its next action.
func (l *Ledger) moveOn(n Notification) {
	switch {
	case n.State == StateClaimed:
		l.handOver(n)
	case !n.DueAt.IsZero():
		l.houseAt(n.DueAt)
	}
}

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
			if alt := l.detour(o, &rows[i]); alt != nil {
				return alt, time.Time{}
			}
		}
	}
	o.skim()
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
	if len(l.leaving(o)) > 0 {
		return time.Time{}, false
	}
	o.forget()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.gate.Until(), true
}

// leaving lists the channels whose rows another provider than o may take now.
func (l *Ledger) leaving(o *outlet) (list []Channel) {
	for ch, c := range l.settings.Channels {
		if o.provider != nil && (ch == Webhook || !slices.Contains(o.channels, ch)) {
			continue
		}
		if slices.ContainsFunc(c.Providers, func(name string) bool { return name != o.name && l.outlets[name].open() }) {
			list = append(list, ch)
		}
	}
	return list
}

// detour returns the outlet that takes a row of o while nothing passes the gate of o: an alternative, else an open one that was
// tried. Those that put the row off are all that can take it, and o may be shut for long.
func (l *Ledger) detour(o *outlet, n *Notification) *outlet {
	if alt := l.alternative(o, n); alt != nil || n.Tried == "" {
		return alt
	}
	again := *n
	again.Tried = ""
	return l.alternative(o, &again)
}

// alternative returns an open outlet of the row's channel that the row has not tried since its last wait, and whose provider can
// send its message at all; nil: none. A message that only one of them can build, such as its template, waits for that one.
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
		if !n.ContentGone() && alt.check(&Event{Channel: n.Channel, Recipient: n.Recipient, Message: n.Message}) != nil {
			continue
		}
		return alt
	}
	return nil
}

// home names the provider under which a claimed row waits from now on. One whose provider the configuration lacks takes who
// would get it today; where it may not, since it is pinned or may have gone out there, the reason says what it waits for.
func (l *Ledger) home(n Notification) (provider string, reason Reason) {
	if o := l.outlets[n.Provider]; o != nil && o.provider != nil {
		return n.Provider, ""
	}
	if !n.Pinned && !n.MaybeSent {
		e := Event{Channel: n.Channel, Recipient: n.Recipient, Message: n.Message}
		if name, _ := l.choose(&e); name != "" { // what its adapter cannot send is unbuildable later
			return name, ""
		}
	}
	return n.Provider, ReasonProviderMissing
}

// settleIn gives a row that is claimed again, without an attempt, a provider that somebody looks after.
func (l *Ledger) settleIn(c *Change, n Notification) {
	n.Provider, n.MaybeSent = c.Provider, c.MaybeSent
	provider, missing := l.home(n)
	c.Provider = provider
	if missing != "" {
		c.Reason = missing
	}
}

func tried(n *Notification, provider string) bool {
	return n.Tried != "" && slices.Contains(strings.Split(n.Tried, ","), provider)
}
