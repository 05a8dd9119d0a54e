package walk

import "time"

// Gate is what the design says of a provider's gate: closed by a fault of the provider, probed with one row after 5 s, doubling to
// 5 min, or when a 429 asked for it; opened by the probe's answer, and where the provider only could not be reached by any.
// A person's pause ends only by a person.
type Gate struct {
	Paused  bool // by a person
	Fault   string
	Delay   time.Duration
	Ready   time.Time // not probed before
	Closed  time.Time // when it closed: what began in that very moment may have passed before
	Probing *Handing
}

// Resume is a person's word that the provider may be used. A probe that is on its way is still one.
func (g *Gate) Resume() { *g = Gate{Probing: g.Probing} }

// Open reports whether rows pass freely.
func (g *Gate) Open() bool { return !g.Paused && g.Fault == "" }

// Handing is a request on its way, as the provider sees it.
type Handing struct {
	Row      *Row
	Number   int
	Provider string
	Began    time.Time
}

// Answer is what a provider said, or what became of the request.
type Answer struct {
	Outcome    string // accepted, rejected, deferred, ambiguous
	Fault      string // with deferred: what is wrong with the provider as a whole
	Answered   bool   // a readable status came back
	Reason     string // with ambiguous
	RetryAfter time.Duration
	Shared     bool // the message id belongs to another row
}

// enter checks that a row may pass.
func (g *Gate) enter(h *Handing) string {
	switch {
	case g.Paused:
		return "a row passed a gate that a person paused"
	case g.Fault == "" || h.Began.Equal(g.Closed):
		return ""
	case g.Probing != nil:
		return "a second row passed a closed gate beside the probe"
	case h.Began.Before(g.Ready.Add(-time.Millisecond)):
		return "a probe went before its time"
	}
	g.Probing = h
	return ""
}

// report is what an attempt shows of its provider.
func (g *Gate) report(h *Handing, a Answer, now time.Time) {
	probe := g.Probing == h
	if probe {
		g.Probing = nil
	}
	switch {
	case a.Fault == "" && a.Answered && !probe && g.Fault != "" && g.Fault != "unreachable":
		return // asked before the gate closed: it does not take back "later", nor a lost account
	case a.Fault == "" && a.Answered:
		g.Fault, g.Delay = "", 0
		return
	case a.Fault == "" && !probe:
		return
	case a.Fault != "" && g.Fault == "":
		g.Fault, g.Closed = a.Fault, now
	case !probe:
		return
	case a.Fault != "":
		g.Fault = a.Fault
	}
	g.Delay = min(max(2*g.Delay, 5*time.Second), 5*time.Minute)
	wait := g.Delay
	if a.Fault == "throttled" && a.RetryAfter > 0 {
		wait = clamp(a.RetryAfter)
	}
	g.Ready = now.Add(wait)
}

// clamp bounds what a provider asks for.
func clamp(d time.Duration) time.Duration { return min(max(d, time.Second), time.Hour) }
