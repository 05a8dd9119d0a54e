package ledger

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Outcome is what is known after an attempt. The zero value is Ambiguous, so an adapter that forgets a
// case cannot cause a second message.
type Outcome uint8

// The outcomes.
const (
	Ambiguous Outcome = iota // may have been accepted
	Accepted                 // the provider said yes
	Rejected                 // final refusal of this message
	Deferred                 // surely not sent
)

// String returns the stored name.
func (o Outcome) String() string {
	return [...]string{"ambiguous", "accepted", "rejected", "deferred"}[o]
}

// ParseOutcome reads a stored name.
func ParseOutcome(s string) (Outcome, bool) {
	for o := Ambiguous; o <= Deferred; o++ {
		if o.String() == s {
			return o, true
		}
	}
	return Ambiguous, false
}

// Kind tells a first handing from one that only asks what happened.
type Kind string

// The kinds of an attempt.
const (
	KindSend   Kind = "send"
	KindRepeat Kind = "repeat"
)

// Phase is how far the request got.
type Phase string

// The phases.
const (
	NotWritten Phase = "not_written" // no byte of the request left
	Written    Phase = "written"     // the headers or more left
	Answered   Phase = "answered"    // a readable status came back
)

// Attempt is one handing of a notification to one provider, numbered from 1.
type Attempt struct {
	Seq         int64 // the notification's
	Number      int
	Kind        Kind
	Provider    string
	Account     [8]byte  // fingerprint of base URL and account
	RequestHash [16]byte // of the body that leaves
	Request     []byte   // the body itself, kept while the row is open and the provider honours a key
	StartedAt   time.Time
	EndedAt     time.Time // zero: open
	Outcome     Outcome   // means something only when EndedAt is set
	Phase       Phase     // empty when unknown: the process ended
	Status      int       // HTTP or SMTP; 0: none
	Code        string    // the provider's own
	MessageID   string
	Error       string
	Answer      []byte // raw, at most MaxAnswerBytes
}

// Open reports whether the attempt has no outcome yet.
func (a *Attempt) Open() bool { return a.EndedAt.IsZero() }

// sameRequest reports whether b sent the same bytes to the same account.
func (a *Attempt) sameRequest(b Attempt) bool {
	return a.Account == b.Account && a.RequestHash == b.RequestHash
}

// Fault is what is wrong with a provider as a whole; the empty one means that the outcome is the row's own matter.
type Fault string

// The faults. Unreachable and throttled slow a gate, the others pause it.
const (
	NoFault              Fault = ""
	FaultUnreachable     Fault = "unreachable"
	FaultThrottled       Fault = "throttled"
	FaultCredentials     Fault = "credentials"
	FaultAccount         Fault = "account" // money, suspension, a documented refusal of everything
	FaultUnexpectedReply Fault = "unexpected_answer"
)

// Slows reports whether the fault passes by itself; a gate that any other one closed shows as paused.
func (f Fault) Slows() bool { return f == FaultUnreachable || f == FaultThrottled }

// Result is what an adapter makes of one handing.
type Result struct {
	Outcome    Outcome
	Fault      Fault  // with Deferred only
	Reason     Reason // with Ambiguous: no_answer, unreadable_answer, unlisted_answer or partial
	Phase      Phase
	Status     int           // HTTP or SMTP; 0: none came
	Code       string        // the provider's own; "": none
	MessageIDs []string      // the first is the message id; never an empty string
	Error      string        // one line, free of secrets and content
	Answer     []byte        // raw, at most MaxAnswerBytes
	RetryAfter time.Duration // as the provider asked; 0: it did not
}

// sound makes of a result what a row can hold. What an adapter got wrong counts as unknown: an attempt that cannot be closed
// would keep every other row from being taken.
func (r Result) sound() Result {
	if r.Outcome > Deferred {
		r.Outcome, r.Reason = Ambiguous, ReasonUnreadableAnswer
	}
	if r.Reason == ReasonPartial && r.Outcome != Accepted { // a part was accepted
		r.Outcome = Ambiguous
	}
	if r.Outcome != Ambiguous || !slices.Contains([]Reason{ReasonNoAnswer, ReasonUnreadableAnswer, ReasonUnlistedAnswer, ReasonPartial}, r.Reason) {
		r.Reason = ""
	}
	if r.Outcome != Deferred {
		r.Fault = NoFault
	}
	if r.Phase != NotWritten && r.Phase != Written && r.Phase != Answered {
		r.Phase = ""
	}
	r.MessageIDs = slices.DeleteFunc(slices.Clone(r.MessageIDs), func(id string) bool { return id == "" })
	r.Answer = r.Answer[:min(len(r.Answer), MaxAnswerBytes)]
	r.Error = shorten(r.Error)
	return r
}

// MessageID is one id that a provider gave; a long text may have several.
type MessageID struct {
	ID       string
	Provider string
	Seq      int64
	Number   int
}

// Receipt is a delivery report that a provider posted, or another proof of an attempt.
type Receipt struct {
	Provider   string
	EventKey   string    // the provider's id of the report, else FactKey
	FactKey    string    // of message id, kind and provider's time
	ID         uuid.UUID // the notification that it is about, when the reference tells; zero: find by MessageID
	Number     int       // the attempt that it proves; 0: find by MessageID
	MessageID  string
	Kind       string // the provider's word, or "late_answer", "look_up"
	Delivery   Delivery
	Code       string
	ProviderAt time.Time
	ArrivedAt  time.Time
	Body       []byte
}
