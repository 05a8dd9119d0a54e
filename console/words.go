package console

import (
	"strings"

	"sendonce/ledger"
)

// meaning is a state in words that need no manual.
func meaning(s ledger.State) string {
	switch s {
	case ledger.StateClaimed:
		return "It waits to be sent."
	case ledger.StateHeld:
		return "A person holds it back."
	case ledger.StateSending:
		return "It is being handed to the provider now."
	case ledger.StateAmbiguous:
		return "The answer was lost: it may have been sent, or not. Nothing more is sent blindly."
	case ledger.StateSent:
		return "The provider took it."
	case ledger.StateFailed:
		return "It did not go out, or was given up."
	case ledger.StateCancelled:
		return "It will not be sent."
	case ledger.StateExpired:
		return "Its time was over before it could be sent."
	}
	return ""
}

// because is a reason in words; docs/reasons.md has more of each.
func because(r ledger.Reason) string { return becauses[r] }

// becauses has a sentence for every reason. Nothing writes to it.
var becauses = map[ledger.Reason]string{
	ledger.ReasonScheduled:        "It is for later, as the caller asked.",
	ledger.ReasonRetry:            "The provider could not take it then; it surely was not sent, and is tried again.",
	ledger.ReasonReleased:         "Somebody decided that it was not sent, so it is sent.",
	ledger.ReasonProviderPaused:   "Its provider may not be used now.",
	ledger.ReasonProviderMissing:  "The provider that it is bound to is not configured.",
	ledger.ReasonRestored:         "The ledger was restored from a copy, which may not know all that happened.",
	ledger.ReasonNoAnswer:         "The request left, and no answer came.",
	ledger.ReasonUnreadableAnswer: "An answer came that nobody can read.",
	ledger.ReasonUnlistedAnswer:   "An answer came that is not in the provider's documentation.",
	ledger.ReasonPartial:          "The provider took a part of it and not the rest.",
	ledger.ReasonProcessEnded:     "The service ended while the request was under way.",
	ledger.ReasonRepeatDeferred:   "Asked again under the same key, the provider had no time.",
	ledger.ReasonRepeatRejected:   "Asked again under the same key, the provider refused; what became of the first is open.",
	ledger.ReasonRepeatAmbiguous:  "Asked again under the same key, the provider did not answer clearly either.",
	ledger.ReasonRejected:         "The provider refused this message for good.",
	ledger.ReasonExhausted:        "It was tried as often as it may be.",
	ledger.ReasonUnbuildable:      "No request could be made of it for this provider.",
	ledger.ReasonAbandoned:        "It was given up without knowing.",
	ledger.ReasonExpiredUnknown:   "Its time was over before anybody knew.",
	ledger.ReasonConfirmed:        "A person confirmed it.",
	ledger.ReasonAssumed:          "A policy counts it as sent.",
	ledger.ReasonProof:            "A proof showed that it was accepted.",
	ledger.ReasonMessageIDShared:  "The provider gave it the id of another message.",
}

// next is what comes next, in words.
func next(a ledger.NextAction) string {
	switch a {
	case ledger.DoSend:
		return "It is sent"
	case ledger.DoRepeat:
		return "The provider is asked again under the same key"
	case ledger.DoLookUp:
		return "It is looked for at the provider"
	case ledger.DoPolicy:
		return "The channel's policy decides"
	case ledger.DoExpire:
		return "It expires"
	case ledger.Ask:
		return "A person has to decide; it is given up"
	}
	return ""
}

// phase is how far a request got, in words.
func phase(p ledger.Phase) string {
	switch p {
	case ledger.NotWritten:
		return "nothing left this machine"
	case ledger.Written:
		return "the request left, no readable answer came"
	case ledger.Answered:
		return "an answer came"
	}
	return "the process ended; nobody knows how far it got"
}

// does is what an action means for whoever takes it.
func does(c ledger.Cause) string {
	switch c {
	case ledger.CauseConfirm:
		return "It was sent: count it so, send nothing."
	case ledger.CauseRelease:
		return "It was not sent: send it now."
	case ledger.CauseAbandon:
		return "Give it up: send nothing, whatever became of it."
	case ledger.CauseHold:
		return "Keep it from being sent until somebody lets it go."
	case ledger.CauseUnhold:
		return "Let it go: it is sent when it is due."
	case ledger.CauseCancel:
		return "Never send it."
	}
	return ""
}

// title is an action as a heading or on a button: "Look up".
func title(c ledger.Cause) string {
	if c == "" {
		return ""
	}
	words := strings.ReplaceAll(string(c), "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
