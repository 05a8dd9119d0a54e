package ledger

import "context"

// Pause stops the use of a provider until Resume, also over restarts. ErrNoProvider.
func (l *Ledger) Pause(_ context.Context, provider, actor, reason string) (ProviderStatus, error) {
	o := l.outlets[provider]
	if o == nil || o.provider == nil {
		return ProviderStatus{}, ErrNoProvider
	}
	o.deciding.Lock()
	defer o.deciding.Unlock()
	p := Pause{Provider: provider, Since: l.clock.now(), Actor: actor, Reason: reason}
	if err := l.store.SetPause(p); err != nil {
		return ProviderStatus{}, err
	}
	o.mu.Lock()
	o.gate.Pause(p)
	s := o.gate.Status()
	o.mu.Unlock()
	l.tellGate(o, s, p.Since)
	l.gateChanged(o, "paused by "+actor)
	return o.status(), nil
}

// Resume opens a provider's gate, whoever or whatever closed it. ErrNoProvider.
func (l *Ledger) Resume(_ context.Context, provider, actor string) (ProviderStatus, error) {
	o := l.outlets[provider]
	if o == nil || o.provider == nil {
		return ProviderStatus{}, ErrNoProvider
	}
	o.deciding.Lock()
	defer o.deciding.Unlock()
	if err := l.store.ClearPause(provider); err != nil {
		return ProviderStatus{}, err
	}
	o.mu.Lock()
	o.gate.Resume()
	o.mu.Unlock()
	l.gateChanged(o, "resumed by "+actor)
	return o.status(), nil
}

// gateChanged tells people in one line, and every outlet, since rows may have to take another road now.
func (l *Ledger) gateChanged(o *outlet, why string) {
	s := o.status().Gate
	l.log.Warn("gate", "provider", o.name, "state", s.State, "reason", s.Reason, "why", why)
	l.watchers.gate()
	for _, other := range l.outlets {
		other.forget()
		other.poke()
	}
}

// report tells the provider's gate what the attempt showed.
func (l *Ledger) report(o *outlet, r Result, probe bool) {
	now := l.clock.now()
	o.mu.Lock()
	before := o.gate.Status()
	changed := o.gate.Report(r, probe, now)
	open, after, since := o.gate.Open(), o.gate.Status(), o.gate.since
	told := o.needsPerson(before, after, probe, now)
	o.mu.Unlock()
	if told {
		l.tellGate(o, after, since)
	}
	switch {
	case changed && open:
		l.gateChanged(o, "it answers again")
	case changed:
		l.gateChanged(o, r.Error)
	case probe:
		l.watchers.gate() // the next probe has another time
		o.poke()
	}
}

// ValidReason says what is wrong with a person's words for a pause: an *InvalidError.
func ValidReason(reason string) error {
	if faults := checkText("reason", reason, MaxReason); len(faults) > 0 {
		return &InvalidError{Fields: faults}
	}
	if reason == "" {
		return Invalid("reason", "say why; it is shown to all who ask why nothing is sent")
	}
	return nil
}
