package ledger

import "time"

const (
	firstProbe = 5 * time.Second
	lastProbe  = 5 * time.Minute
)

// Gate is the one thing that says whether a provider may be used now. It is pure: the caller has the lock and the time.
type Gate struct {
	fault   Fault
	delay   time.Duration
	until   time.Time // when the next probe may go
	since   time.Time // when it closed by itself
	probing bool
	pause   *Pause
}

// Entry is what a gate says to a row that wants to pass.
type Entry int

// The entries.
const (
	Shut    Entry = iota // wait, or take another provider
	Free                 // go
	AsProbe              // go alone; Report or Withdraw must follow
)

// Enter asks for passage. An AsProbe answer lets nobody else pass until its result is reported.
func (g *Gate) Enter(now time.Time) Entry {
	switch {
	case g.pause != nil:
		return Shut
	case g.fault == NoFault:
		return Free
	case g.probing || now.Before(g.until):
		return Shut
	}
	g.probing = true
	return AsProbe
}

// Open reports whether rows pass freely.
func (g *Gate) Open() bool { return g.pause == nil && g.fault == NoFault }

// Ready reports whether a closed gate lets a probe pass.
func (g *Gate) Ready(now time.Time) bool {
	return g.pause == nil && g.fault != NoFault && !g.probing && !now.Before(g.until)
}

// Until is when a closed gate lets the next probe pass; zero when only a person or a running probe opens it.
func (g *Gate) Until() time.Time {
	if g.pause != nil || g.fault == NoFault || g.probing {
		return time.Time{}
	}
	return g.until
}

// Withdraw gives a probe back that was not sent.
func (g *Gate) Withdraw() { g.probing = false }

// Report tells the gate what an attempt showed. It returns whether the gate changed between open and closed.
func (g *Gate) Report(r Result, probe bool, now time.Time) (changed bool) {
	if probe {
		g.probing = false
	}
	if r.Fault == NoFault {
		if r.Phase != Answered { // a time-out shows neither that the provider works nor that it does not
			if probe {
				g.wait(r, now)
			}
			return false
		}
		if !probe && g.fault != NoFault && g.fault != FaultUnreachable {
			return false // the answer to a request of before: it does not take back "later", nor a lost account
		}
		changed = g.fault != NoFault
		g.fault, g.delay, g.until = NoFault, 0, time.Time{}
		return changed
	}
	changed = g.fault == NoFault
	if changed {
		g.since = now
	}
	if changed || probe {
		g.fault = r.Fault
		g.wait(r, now)
	}
	return changed
}

// wait sets the time of the next probe: doubling, or when the provider asked for it.
func (g *Gate) wait(r Result, now time.Time) {
	g.delay = min(max(2*g.delay, firstProbe), lastProbe)
	wait := g.delay
	if r.Fault == FaultThrottled && r.RetryAfter > 0 {
		wait = clampRetryAfter(r.RetryAfter)
	}
	g.until = now.Add(wait)
}

// Pause shuts the gate until Resume.
func (g *Gate) Pause(p Pause) { g.pause = &p }

// Resume ends a person's pause and forgets what the gate was closed for. A probe that is on its way still reports: should the
// gate close again, the next one waits for it.
func (g *Gate) Resume() { *g = Gate{probing: g.probing} }

// Status is the gate as people see it.
func (g *Gate) Status() GateStatus {
	switch {
	case g.pause != nil:
		return GateStatus{State: "paused", Since: g.pause.Since, Reason: g.pause.Reason, By: g.pause.Actor}
	case g.fault == NoFault:
		return GateStatus{State: "open"}
	case g.fault.Slows():
		return GateStatus{State: "slowed", Until: g.until, Since: g.since, Reason: string(g.fault), By: "sendonce"}
	}
	return GateStatus{State: "paused", Until: g.until, Since: g.since, Reason: string(g.fault), By: "sendonce"}
}
