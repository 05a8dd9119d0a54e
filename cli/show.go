package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sendonce/api"
	"sendonce/terminal"
)

// text is the text of a field that may be null.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// moment shows a time of an answer: "2026-11-30 09:30:00 UTC". What is no time stays as it is.
func moment(s string) string {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return s
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}

// yesNo is a truth for people.
func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// count writes "1 row", "2 rows".
func count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(n, 10) + " " + noun
}

// stateOf is a state with its reason, and with the mark of what may have gone out.
func stateOf(n *api.Notification) string {
	s := n.State
	if n.Reason != nil {
		s += " (" + *n.Reason + ")"
	}
	if n.MaybeSent {
		s += ", maybe sent"
	}
	return s
}

// rowFields shows one row.
func rowFields(t *table, n *api.Notification) {
	t.field("id", n.ID)
	t.field("state", stateOf(n))
	t.field("next action", nextAction(n))
	t.field("delivery", text(n.Delivery))
	t.field("event", text(n.EventID))
	t.field("event type", text(n.EventType))
	t.field("source", n.Source)
	t.field("user", text(n.UserID))
	t.field("channel", n.Channel)
	t.field("recipient", text(n.Recipient))
	t.field("provider", text(n.Provider))
	t.field("lane", text(n.Lane))
	t.field("message id", text(n.MessageID))
	t.field("attempts", strconv.Itoa(n.AttemptCount))
	if n.DuplicateCount > 0 {
		t.field("suppressed", fmt.Sprintf("%s, last %s", count(n.DuplicateCount, "repeat"), moment(text(n.LastDuplicateAt))))
	}
	t.field("resend of", text(n.ResendOf))
	t.field("suspected duplicate of", text(n.SuspectedDuplicateOf))
	t.field("dedupe key", n.DedupeKey)
	t.field("occurred", moment(text(n.OccurredAt)))
	t.field("claimed", moment(n.ClaimedAt))
	t.field("expires", moment(text(n.ExpiresAt)))
	t.field("confirmed", moment(text(n.ConfirmedAt)))
	t.field("updated", moment(n.UpdatedAt))
	t.field("version", strconv.FormatInt(n.Version, 10))
}

// nextAction is what the loop will do with a row, and when.
func nextAction(n *api.Notification) string {
	s := text(n.NextAction)
	if s != "" && n.DueAt != nil {
		if s == "ask" { // the row waits for a person, and its end is due
			return s + " until " + moment(*n.DueAt)
		}
		s += " at " + moment(*n.DueAt)
	}
	return s
}

// adviseOn says what a person can do about a row that waits for one.
func (a *app) adviseOn(n *api.Notification) {
	switch {
	case n.State == "ambiguous":
		a.hint("Nobody knows whether this message went out. Look at it (sendonce get %s) and at the provider, then settle it:\n"+
			"  sendonce confirm %[1]s --reason …    it was sent\n"+
			"  sendonce release %[1]s --if-match %[2]d --reason …    it was not: send it\n"+
			"  sendonce abandon %[1]s --reason …    give it up", n.ID, n.Version)
	case n.State == "failed" && n.MaybeSent:
		a.hint("An earlier attempt may have gone out: sendonce get %s shows the attempts.", n.ID)
	case n.State == "failed":
		a.hint("It was not sent. sendonce get %s shows why; sendonce release %[1]s --reason … sends it after all.", n.ID)
	case text(n.Reason) == "provider_paused" || text(n.Reason) == "provider_missing":
		a.hint("It waits for its provider: sendonce providers shows what is wrong.")
	case text(n.Reason) == "restored":
		a.hint("The ledger was restored or moved and sends nothing: stop the service, then sendonce restore --accept.")
	}
}

// showProblem writes a refusal as sentences; with --json its JSON goes to Out as it came.
func (a *app) showProblem(e *problemError) {
	if a.json {
		if err := a.raw(e.body); err != nil {
			a.complain(err.Error())
		}
	}
	p := &e.problem
	a.complain(fmt.Sprintf("%s (%d %s)", p.Title, e.status, p.Code))
	say := func(format string, args ...any) {
		fmt.Fprintln(a.streams.Err, "  "+terminal.Clean(fmt.Sprintf(format, args...)))
	}
	// The detail explains the fields of the JSON; where their content follows, it says nothing new.
	if len(p.Errors) == 0 && p.State == "" && len(p.Differs) == 0 && p.Matched == nil && p.Notification == nil {
		say("%s", p.Detail)
	}
	for _, f := range p.Errors {
		say("%s: %s", f.Field, f.Detail)
	}
	if p.State != "" {
		say("It is %s; possible from there: %s.", p.State, orNothing(p.Allowed))
	}
	if len(p.Differs) > 0 {
		say("These differ: %s.", strings.Join(p.Differs, ", "))
	}
	if p.Matched != nil {
		say("The filter matches %s.", count(*p.Matched, "row"))
		a.hint("Nothing was changed. Look again at what the filter matches (--dry-run, sendonce list), then give the count that is right.")
	}
	if p.Notification != nil {
		a.showCurrent(e)
	}
	if p.Code == "duplicate_not_accepted" {
		a.hint("When a second message is right all the same, repeat with --accept-duplicate.")
	}
	if e.exit() == ExitUnreachable && e.again != "" {
		say("%s.", upperFirst(e.again))
	}
}

// showCurrent shows the row that a refusal is about. Whoever decides over it must have looked at it.
func (a *app) showCurrent(e *problemError) {
	n := &e.problem.Notification.Notification
	t := newTable(a.errs())
	t.row("  row", n.ID)
	t.row("  state", stateOf(n))
	t.row("  event", text(n.EventID))
	t.row("  version", strconv.FormatInt(n.Version, 10))
	t.field("  resent as", strings.Join(e.problem.Notification.Resends, " "))
	if err := t.flush(); err != nil {
		a.complain(err.Error())
	}
	switch e.problem.Code {
	case "if_match_required":
		a.hint("Look at the row first (sendonce get %s). When it is still what you decide over, repeat with --if-match %d.", n.ID, n.Version)
	case "version_differs":
		a.hint("The row has changed since you looked: sendonce get %s, then decide again with its version.", n.ID)
	}
}

// orNothing joins words; that there are none is an answer too.
func orNothing(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// upperFirst begins a sentence; s is not empty.
func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
