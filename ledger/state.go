package ledger

// State says where a notification stands. It is stored, sent and logged as its name.
type State string

// The states of a notification; the package comment draws how they follow one another.
const (
	StateClaimed   State = "claimed"
	StateHeld      State = "held"
	StateSending   State = "sending"
	StateAmbiguous State = "ambiguous"
	StateSent      State = "sent"
	StateFailed    State = "failed"
	StateCancelled State = "cancelled"
	StateExpired   State = "expired"
)

// States lists all states in the order in which a reader meets them.
var States = []State{StateClaimed, StateHeld, StateSending, StateAmbiguous, StateSent, StateFailed, StateCancelled, StateExpired}

// Final reports whether nothing more happens to a row in this state by itself.
func (s State) Final() bool {
	return s == StateSent || s == StateFailed || s == StateCancelled || s == StateExpired
}

// Valid reports whether s is one of States.
func (s State) Valid() bool {
	for _, k := range States {
		if s == k {
			return true
		}
	}
	return false
}

// Cause is what moves a row from one state to the next.
type Cause string

// The causes. Confirm to Cancel, and Resend, are also the actions of a settlement.
const (
	CauseTake        Cause = "take"
	CauseAccepted    Cause = "accepted"
	CauseRejected    Cause = "rejected"
	CauseDeferred    Cause = "deferred"      // the row's own matter: one step of the ladder
	CauseExhausted   Cause = "exhausted"     // the same with no step left
	CauseFault       Cause = "fault"         // the provider's fault: no step used
	CauseAmbiguous   Cause = "ambiguous"     // a lost or unlisted answer
	CauseProcessDied Cause = "process_ended" // an attempt found open at start
	CauseRepeat      Cause = "repeat"        // an attempt under the live wire key
	CauseRepeatEnded Cause = "repeat_ended"  // a repeat that was not accepted
	CauseConfirm     Cause = "confirm"
	CauseRelease     Cause = "release"
	CauseAbandon     Cause = "abandon"
	CauseHold        Cause = "hold"
	CauseUnhold      Cause = "unhold"
	CauseCancel      Cause = "cancel"
	CauseExpire      Cause = "expire"
	CauseUnbuildable Cause = "unbuildable"
	CauseRestored    Cause = "restored"
	CauseProof       Cause = "proof"
	CauseResend      Cause = "resend"  // leaves its row where it is
	CauseLookUp      Cause = "look_up" // leaves its row ambiguous: what a look showed is kept with it
	CauseReveal      Cause = "reveal"  // somebody looked at recipient and message: leaves its row as it is, its version too
)

// Transition is one line of the table: a row in From that meets By goes To.
// Unsettled limits the line to rows that have maybe_sent set.
type Transition struct {
	From      State
	By        Cause
	To        State
	Unsettled bool
}

// Transitions is the one table of state changes; the schema's checks, the README's picture and the
// tests follow it. A claim creates a row in StateClaimed and is no line here; a resend and a look-up leave their row where it is.
var Transitions = []Transition{
	{From: StateClaimed, By: CauseTake, To: StateSending},
	{From: StateClaimed, By: CauseHold, To: StateHeld},
	{From: StateClaimed, By: CauseCancel, To: StateCancelled},
	{From: StateClaimed, By: CauseExpire, To: StateExpired},
	{From: StateClaimed, By: CauseUnbuildable, To: StateFailed},
	{From: StateClaimed, By: CauseRestored, To: StateAmbiguous},
	{From: StateClaimed, By: CauseProof, To: StateSent},

	{From: StateSending, By: CauseAccepted, To: StateSent},
	{From: StateSending, By: CauseRejected, To: StateFailed},
	{From: StateSending, By: CauseDeferred, To: StateClaimed},
	{From: StateSending, By: CauseExhausted, To: StateFailed},
	{From: StateSending, By: CauseFault, To: StateClaimed},
	{From: StateSending, By: CauseAmbiguous, To: StateAmbiguous},
	{From: StateSending, By: CauseProcessDied, To: StateAmbiguous},
	{From: StateSending, By: CauseRepeatEnded, To: StateAmbiguous},
	{From: StateSending, By: CauseRestored, To: StateAmbiguous},

	{From: StateAmbiguous, By: CauseRepeat, To: StateSending},
	{From: StateAmbiguous, By: CauseConfirm, To: StateSent},
	{From: StateAmbiguous, By: CauseRelease, To: StateClaimed},
	{From: StateAmbiguous, By: CauseAbandon, To: StateFailed},
	{From: StateAmbiguous, By: CauseProof, To: StateSent},

	{From: StateHeld, By: CauseUnhold, To: StateClaimed},
	{From: StateHeld, By: CauseCancel, To: StateCancelled},
	{From: StateHeld, By: CauseExpire, To: StateExpired},
	{From: StateHeld, By: CauseRestored, To: StateAmbiguous},
	{From: StateHeld, By: CauseProof, To: StateSent},

	{From: StateFailed, By: CauseRelease, To: StateClaimed},
	{From: StateFailed, By: CauseConfirm, To: StateSent, Unsettled: true},
	{From: StateFailed, By: CauseProof, To: StateSent},
	{From: StateExpired, By: CauseConfirm, To: StateSent, Unsettled: true},
	{From: StateExpired, By: CauseProof, To: StateSent},
	{From: StateCancelled, By: CauseConfirm, To: StateSent, Unsettled: true},
	{From: StateCancelled, By: CauseProof, To: StateSent},
}

// Next returns the state that follows from when by happens, and whether the table has that line.
func Next(from State, by Cause, maybeSent bool) (State, bool) {
	for _, t := range Transitions {
		if t.From == from && t.By == by && (!t.Unsettled || maybeSent) {
			return t.To, true
		}
	}
	return "", false
}

// Actions are the causes that a person may ask for, in the order in which they are offered.
var Actions = []Cause{CauseConfirm, CauseRelease, CauseAbandon, CauseHold, CauseUnhold, CauseCancel}

// Allowed lists the actions that the table has for a row in this state.
func Allowed(from State, maybeSent bool) []Cause {
	var out []Cause
	for _, a := range Actions {
		if _, ok := Next(from, a, maybeSent); ok {
			out = append(out, a)
		}
	}
	return out
}

// Reason says why a row is in its state; the empty one says that the state alone tells it. docs/reasons.md
// has a paragraph for each.
type Reason string

// The closed list of reasons.
const (
	ReasonScheduled       Reason = "scheduled"
	ReasonRetry           Reason = "retry"
	ReasonReleased        Reason = "released"
	ReasonProviderPaused  Reason = "provider_paused"
	ReasonProviderMissing Reason = "provider_missing"
	ReasonRestored        Reason = "restored"

	ReasonNoAnswer         Reason = "no_answer"
	ReasonUnreadableAnswer Reason = "unreadable_answer"
	ReasonUnlistedAnswer   Reason = "unlisted_answer"
	ReasonPartial          Reason = "partial"
	ReasonProcessEnded     Reason = "process_ended"
	ReasonRepeatDeferred   Reason = "repeat_deferred"
	ReasonRepeatRejected   Reason = "repeat_rejected"
	ReasonRepeatAmbiguous  Reason = "repeat_ambiguous"

	ReasonRejected       Reason = "rejected"
	ReasonExhausted      Reason = "exhausted"
	ReasonUnbuildable    Reason = "unbuildable"
	ReasonAbandoned      Reason = "abandoned"
	ReasonExpiredUnknown Reason = "expired_unknown"

	ReasonConfirmed       Reason = "confirmed"
	ReasonAssumed         Reason = "assumed"
	ReasonProof           Reason = "proof"
	ReasonMessageIDShared Reason = "message_id_shared"
)

// Reasons lists, for each state that has any, the words that may stand beside it.
var Reasons = map[State][]Reason{
	StateClaimed:   {ReasonScheduled, ReasonRetry, ReasonReleased, ReasonProviderPaused, ReasonProviderMissing, ReasonRestored},
	StateAmbiguous: {ReasonNoAnswer, ReasonUnreadableAnswer, ReasonUnlistedAnswer, ReasonPartial, ReasonProcessEnded, ReasonRestored, ReasonRepeatDeferred, ReasonRepeatRejected, ReasonRepeatAmbiguous},
	StateFailed:    {ReasonRejected, ReasonExhausted, ReasonUnbuildable, ReasonAbandoned, ReasonExpiredUnknown},
	StateSent:      {ReasonConfirmed, ReasonAssumed, ReasonProof, ReasonMessageIDShared},
}

// NextAction is what the loop does with a row at its due time.
type NextAction string

// The next actions. Ask is only shown: an ambiguous row that has nothing but its expiry left.
const (
	DoNothing NextAction = ""
	DoSend    NextAction = "send"
	DoRepeat  NextAction = "repeat"
	DoLookUp  NextAction = "look_up"
	DoPolicy  NextAction = "policy"
	DoExpire  NextAction = "expire"
	Ask       NextAction = "ask"
)
