package main

import (
	"fmt"
	"slices"
	"strings"

	"sendonce/fake"
)

// judge holds each row against what the fakes saw of it, and counts.
func (w *mixedWorld) judge(rows []mixedRow) string {
	w.t.Helper()
	lines := map[string]*mixedLine{}
	line := func(provider string) *mixedLine {
		if lines[provider] == nil {
			lines[provider] = &mixedLine{outcomes: map[string]int{}, states: map[string]int{}, got: map[int]int{}}
		}
		return lines[provider]
	}
	for _, r := range rows {
		for _, a := range r.Attempts {
			line(a.Provider).outcomes[a.Outcome]++
		}
		l := line(r.Provider)
		l.states[r.State]++
		received := 0
		for _, f := range w.fakes {
			received += f.Received(r.Token)
		}
		l.got[received]++
		late, faults := r.faults(w.seen[r.Token], received)
		l.late += late
		for _, f := range faults {
			w.t.Errorf("%s, %s (%s) with %s: %s\nits attempts %+v\nits requests %v", r.Token, r.State, r.Reason, r.Provider, f, r.Attempts, w.seen[r.Token])
		}
		if r.State == "sent" && received == 0 {
			l.lost++
		}
	}
	late, exhausted := 0, 0
	for _, r := range rows {
		if r.Reason == "exhausted" {
			exhausted++
		}
	}
	if exhausted < w.exhausted {
		w.t.Errorf("%d rows are exhausted, want at least %d", exhausted, w.exhausted)
	}
	for name, l := range lines {
		late += l.late
		if f := w.fakes[name]; f != nil {
			l.requests = f.Requests()
			w.agrees(name, l, rows)
			if f.Conflicts() > 0 {
				w.t.Errorf("%s: %d repeats had other bytes than the first", name, f.Conflicts())
			}
		}
	}
	if late > len(rows)/100 {
		w.t.Errorf("%d attempts timed out on a fake that answered: this machine is too slow for the time-outs of the run", late)
	}
	return w.share() + mixedTable(lines)
}

// share says how many requests met a fault.
func (w *mixedWorld) share() string {
	all, faults, kinds := 0, 0, map[fake.Behaviour]bool{}
	for _, byProvider := range w.seen {
		for _, behaviours := range byProvider {
			for _, b := range behaviours {
				all++
				if b != fake.Accept {
					faults++
					kinds[b] = true
				}
			}
		}
	}
	return fmt.Sprintf("%d of %d requests (%d %%) met one of %d kinds of faults\n", faults, all, 100*faults/max(all, 1), len(kinds))
}

// agrees demands that a fake read as many requests, and sent out as many messages, as the ledger's attempts say.
func (w *mixedWorld) agrees(name string, l *mixedLine, rows []mixedRow) {
	w.t.Helper()
	written, out, known := 0, 0, 0
	for _, r := range rows {
		accepted, maybe := false, false
		for _, a := range r.Attempts {
			if a.Provider == name && a.Phase != "not_written" {
				written++
				accepted = accepted || a.Outcome == "accepted"
				maybe = maybe || a.Outcome == "ambiguous"
			}
		}
		if accepted {
			known++
		} else if maybe {
			out += w.fakes[name].Received(r.Token)
		}
	}
	total := len(w.fakes[name].Accepted())
	if written != l.requests || total != known+out {
		w.t.Errorf("%s: the ledger counts %d requests and %d messages that are known or found to be out, the fake %d and %d",
			name, written, known+out, l.requests, total)
	}
}

// faults says what is wrong with a row, by what the fakes did with its requests and how often its message was received.
func (r *mixedRow) faults(requests map[string][]fake.Behaviour, received int) (late int, faults []string) {
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if received > 1 {
		wrong("received %d times", received)
	}
	left := map[string][]fake.Behaviour{}
	for provider, behaviours := range requests {
		left[provider] = slices.Clone(behaviours)
	}
	state, reason, out := "claimed", "", false
	for i, a := range r.Attempts {
		if a.Phase != "not_written" {
			if len(left[a.Provider]) == 0 {
				wrong("attempt %d reached no fake", i+1)
				continue
			}
			b := left[a.Provider][0]
			left[a.Provider] = left[a.Provider][1:]
			out = out || b.Accepts()
			switch want := mixedOutcomes(a.Provider, b); {
			case slices.Contains(want, a.Outcome):
			case a.Outcome == "ambiguous" && strings.HasSuffix(a.Error, "time-out"):
				late++
			default:
				wrong("attempt %d met %s and is %s, want %v", i+1, b, a.Outcome, want)
			}
		} else if a.Outcome != "deferred" {
			wrong("attempt %d was not written and is %s", i+1, a.Outcome)
		}
		if again := state == "ambiguous"; again != (a.Kind == "repeat") || state == "sent" || state == "failed" {
			wrong("attempt %d is a %s of a row that is %s", i+1, a.Kind, state)
		}
		state, reason = a.leads(state)
	}
	for provider, behaviours := range left {
		if len(behaviours) > 0 {
			wrong("%s saw requests that the ledger has no attempts for: %v", provider, behaviours)
		}
	}
	switch {
	case state == "claimed": // every attempt was deferred: the ladder is over
		state, reason = "failed", "exhausted"
	case state == "ambiguous" && r.Provider == "fcm":
		state, reason = "failed", "abandoned"
	}
	if r.State != state || reason != "" && r.Reason != reason || r.MaybeSent != (state == "ambiguous" || reason == "abandoned") {
		wrong("want %s (%s)", state, reason)
	}
	if out != (received == 1) || state == "sent" && received != 1 || (reason == "rejected" || reason == "exhausted") && received != 0 {
		wrong("received %d times", received)
	}
	return late, faults
}

// leads is the state after an attempt of a row in a state.
func (a mixedAttempt) leads(state string) (next, reason string) {
	switch {
	case a.Outcome == "accepted":
		return "sent", ""
	case state == "ambiguous", a.Outcome == "ambiguous":
		return "ambiguous", ""
	case a.Outcome == "rejected":
		return "failed", "rejected"
	}
	return state, ""
}

// mixedOutcomes says how an attempt may end that met a behaviour.
func mixedOutcomes(provider string, b fake.Behaviour) []string {
	switch b {
	case fake.Accept, fake.AcceptSlow, fake.AcceptTwice:
		return []string{"accepted"}
	case fake.AcceptDrop: // drops only a connection that is used again
		if provider == "infrai" || provider == "resend" {
			return []string{"accepted", "ambiguous"}
		}
		return []string{"accepted"}
	case fake.AcceptGarbage: // a whole page of somebody's is a yes only where the status alone says so
		if provider == "sendgrid" || provider == "hooks" {
			return []string{"accepted"}
		}
		return []string{"ambiguous"}
	case fake.AcceptCut:
		// The body decides; or, with SendGrid, whose answer has none, the cut goes through the header.
		if provider == "infrai" || provider == "vonage" || provider == "smtp" || provider == "sendgrid" {
			return []string{"ambiguous"}
		}
		return []string{"accepted"}
	case fake.Refuse:
		return []string{"rejected"}
	case fake.Throttle, fake.Unauthorized, fake.NoCredit, fake.Defer:
		return []string{"deferred"}
	case fake.Unavailable:
		if provider == "hooks" || provider == "smtp" { // the receiver itself says so; a reply is a reply
			return []string{"deferred"}
		}
	}
	return []string{"ambiguous"}
}
