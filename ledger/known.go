package ledger

// known answers for an event whose row stands already: it never starts an attempt.
func (l *Ledger) known(n Notification, e *Event, recipient string) (ClaimResult, error) {
	differs := Differs(&n, e, recipient)
	segments := l.segments(&n)
	l.suppress(&n, Suppressed{Seq: n.Seq, At: l.clock.now(), Caller: e.Caller, Differs: differs}, segments)
	onlyMessage := len(differs) == 1 && differs[0] == "message"
	if len(differs) > 0 && !(onlyMessage && l.settings.OnMessageChange == MessageChangeAccept) {
		return ClaimResult{}, &ReusedError{Existing: n, Differs: differs}
	}
	if len(differs) == 0 {
		l.recent.asked(e.Hash, &n, segments)
	}
	return ClaimResult{Notification: n, Duplicate: true, Differs: differs, Segments: segments}, nil
}

// Known answers for an event that comes in the very words in which it was repeated before, while its row is kept in memory. It is
// what Claim would say: neither what these words mean changes nor what they are compared with. false: ask Claim.
func (l *Ledger) Known(h EventHash, caller string) (ClaimResult, bool) {
	n, segments, ok := l.recent.again(h)
	if !ok {
		return ClaimResult{}, false
	}
	l.suppress(&n, Suppressed{Seq: n.Seq, At: l.clock.now(), Caller: caller}, segments)
	return ClaimResult{Notification: n, Duplicate: true, Segments: segments}, true
}

// suppress notes a repeat that sends nothing, and adds it to its row.
func (l *Ledger) suppress(n *Notification, r Suppressed, s Segments) {
	l.repeats.add(r)
	l.repeats.addTo(n)
	l.watchers.row(n)
	l.tallyOf(n).repeat(r.At, s.Count)
}

// segments counts the parts in which a row's provider sends its text; zero where nobody can say.
func (l *Ledger) segments(n *Notification) Segments {
	if o := l.outlets[n.Provider]; o != nil && n.Channel == SMS && !n.ContentGone() {
		if s, ok := o.provider.(Segmenter); ok {
			return s.Segments(n.Message)
		}
	}
	return Segments{}
}
