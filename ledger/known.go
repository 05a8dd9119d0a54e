package ledger

// known answers for an event whose row stands already: it never starts an attempt.
func (l *Ledger) known(n Notification, e *Event, recipient string) (ClaimResult, error) {
	differs := Differs(&n, e, recipient)
	l.repeats.add(Suppressed{Seq: n.Seq, At: l.clock.now(), Caller: e.Caller, Differs: differs})
	l.repeats.addTo(&n)
	l.watchers.row(&n)
	onlyMessage := len(differs) == 1 && differs[0] == "message"
	if len(differs) > 0 && !(onlyMessage && l.settings.OnMessageChange == MessageChangeAccept) {
		return ClaimResult{}, &ReusedError{Existing: n, Differs: differs}
	}
	segments := l.segments(&n)
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
	l.repeats.add(Suppressed{Seq: n.Seq, At: l.clock.now(), Caller: caller})
	l.repeats.addTo(&n)
	l.watchers.row(&n)
	return ClaimResult{Notification: n, Duplicate: true, Segments: segments}, true
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
