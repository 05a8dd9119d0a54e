package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Store keeps the ledger. Each write is one operation: all of it or none, and it returns only after the
// commit that holds it; operations of several callers may share a commit. Writes take no context, since
// what was handed to the writer is done whether its caller waits or not. Reads see committed rows only.
//
// Every write may return ErrUnavailable (surely not written), ErrUnknown (a commit failed and it is not
// known yet whether it holds) or ErrOverload (not even queued). Times are arguments: a store has no clock.
type Store interface {
	// Claim makes a row for each claim whose keys nobody has, and returns the one that has it otherwise.
	// One commit holds them all; two claims with the same key give one row. A new row whose claim brings an attempt is taken in
	// the same commit. Also ErrStorageLow.
	Claim(claims []Claim) ([]Claimed, error)

	// Prior finds the row that has one of the claim's keys. Read only; what it does not find proves nothing.
	Prior(ctx context.Context, c Claim) (Notification, bool, error)

	// Take moves a row from claimed (a send) or ambiguous (a repeat) to sending and opens its attempt.
	// ErrMoved: the row has another version or state, is not due, or has expired.
	Take(t Taking) error

	// Close ends the open attempt, notes its message ids, and moves the row as decide says. decide is
	// pure: it may run again when a shared commit fails. ErrMoved: the attempt was closed already.
	Close(c Closing, decide func(CloseFacts) Change) (Notification, error)

	// Settle changes a row that is no attempt's and writes the settlement. decide is pure, sees the row as it
	// is inside the write, and its error is returned as it is, with the row unchanged. ErrNotFound.
	// A Change with State "" leaves the row as it is and writes nothing.
	Settle(id uuid.UUID, decide func(Notification) (Change, error)) (Notification, error)

	// Resend writes a settlement on the parent, moves its version, and claims the child, in one operation.
	// The ordinal n counts the parent's resends from 1. decide is pure. ErrNotFound.
	Resend(parent uuid.UUID, decide func(parent Notification, n int) (Change, Claim, error)) (Claimed, error)

	// Prove stores receipts, each once, and moves their rows as decide says; while a row is sending its receipts wait for Close,
	// and one that no row is known for is kept until its message id turns up. One commit holds them all. A receipt that cannot be
	// stored, or that decide refuses, has its Err and spoils no other.
	Prove(list []Receipt, decide func(Receipt, Notification, ProofFacts) (Change, error)) ([]Proved, error)

	// LookUp writes what a look-up showed of a row: the change and its settlement, then the receipts as Prove does, in one
	// operation. Both decisions are pure. ErrNotFound.
	LookUp(q LookQuery, decide func(Notification, LookFacts) (LookDecision, error), prove func(Receipt, Notification, ProofFacts) (Change, error)) (Notification, []Proved, error)

	// Suppress notes repeats that sent nothing: counts them and keeps each row's last MaxDuplicates.
	// It returns each row's count as it is then.
	Suppress(list []Suppressed) ([]Counted, error)

	// Recover closes what a dead process left open: each open attempt becomes ambiguous (process_ended) and
	// its row too. With restored, every claimed, held and sending row becomes ambiguous (restored), and what was ambiguous
	// already keeps only its expiry.
	// Next action and due time of the rows are as unsettled says. It returns how many rows it moved.
	Recover(at time.Time, restored bool, unsettled func(Notification) (NextAction, time.Time)) (int, error)

	// MarkMissing sets the reason provider_missing on claimed, pinned rows of providers outside known, and
	// clears it from those of known ones. Other rows are not touched.
	MarkMissing(at time.Time, known []string) error

	// Get returns a row with its history. ErrNotFound.
	Get(ctx context.Context, id uuid.UUID) (Record, error)

	// List returns rows that match, in order of claiming.
	List(ctx context.Context, f Filter) (Page, error)

	// Due returns claimed rows that are due and have not expired, oldest due first, content included.
	Due(ctx context.Context, q DueQuery) ([]Notification, error)

	// NextDue is when the provider's next claimed row after a time is due; zero: none.
	NextDue(ctx context.Context, provider string, after time.Time) (time.Time, error)

	// Backlog counts a provider's claimed rows, as far as limit.
	Backlog(ctx context.Context, provider string, limit int) (int, error)

	// Providers names every provider that claimed rows stand under.
	Providers(ctx context.Context) ([]string, error)

	// Waiting returns ambiguous and held rows whose next action is due at a time, and claimed rows that have
	// expired by then, oldest first.
	Waiting(ctx context.Context, at time.Time, limit int) ([]Notification, error)

	// NextWaiting is when the next of the rows that Waiting returns is due after a time; zero: none.
	NextWaiting(ctx context.Context, after time.Time) (time.Time, error)

	// FirstAttempt returns the first attempt to an account with its request, for a repeat. ErrNotFound.
	FirstAttempt(ctx context.Context, seq int64, account [8]byte) (Attempt, error)

	// Newest is the newest time that the ledger holds.
	Newest(ctx context.Context) (time.Time, error)

	// Pauses returns what people paused.
	Pauses(ctx context.Context) ([]Pause, error)

	// SetPause notes that a provider is not to be used, in the place of an earlier pause.
	SetPause(p Pause) error

	// ClearPause ends a pause; there need be none.
	ClearPause(provider string) error

	// Lately returns the newest rows whose Seq is less than before, the newest first, with what their history says of times,
	// providers and outcomes and nothing else: Seq, Provider, ClaimedAt; ended attempts; settlements without their words.
	Lately(ctx context.Context, before int64, limit int) ([]Record, error)

	// Stats counts, without looking at every row.
	Stats(ctx context.Context) (Stats, error)

	// Audit hands every row with its history to visit in order of claiming, then, as records without a
	// notification (Seq 0), whatever history belongs to no row. It holds no long transaction.
	Audit(ctx context.Context, visit func(Record) error) error

	// Condition says what the store can do now; the loop asks before each take.
	Condition() Condition

	// Commits counts what was committed since the start, failed commits included. It has moved before the write's caller is answered:
	// while it stands, a reading finds what one found that began after it was asked.
	Commits() int64

	Eraser
}

// DueQuery selects rows for one outlet of the loop.
type DueQuery struct {
	Provider string
	Lane     Lane
	At       time.Time
	Limit    int
	Movable  bool      // only rows that another provider may take: not pinned, and surely not sent
	Channels []Channel // with Movable: only rows of these
}

// Condition is what a store can do.
type Condition struct {
	Err      error // nil, ErrUnknown (no takes, no claims), ErrUnavailable (damaged) or ErrStorageLow (no claims)
	Barriers int64 // goes up when memory of the ledger's rows may be wrong: read them again
	Restored bool  // an old or moved copy: nothing may be sent
}

// Claim is a row to be made and the keys under which it may stand already.
type Claim struct {
	Notification          // complete but for Seq
	Others       []KeyOf  // further keys to look under; the first key is the notification's own
	Attempt      *Attempt // number 1, complete but for Seq: a new row is taken at once; nil: it waits for its take
}

// KeyOf is a key that counts only if the row was made by Recipe or brought its key.
type KeyOf struct {
	Recipe string
	Key    string
}

// Claimed is the row of a claim, new or known.
type Claimed struct {
	Notification
	Duplicate bool
}

// Taking opens an attempt. Attempt.Number is the row's attempt_count + 1.
type Taking struct {
	Attempt
	Version  int64  // of the row that was read
	Provider string // the row's provider from now on
}

// Closing ends an attempt: Attempt is complete, MessageIDs has all ids of the answer.
type Closing struct {
	Notification // as the take left it
	Attempt
	MessageIDs []string
}

// CloseFacts are what a decision about a closed attempt depends on besides its result.
type CloseFacts struct {
	Proven    []int     // numbers of the row's attempts, this one included, that stored receipts prove
	Attempts  []Attempt // of the row, in order; empty where receipts prove one at most
	Shared    bool      // one of the message ids belongs to another row
	Highest   Delivery  // of the receipts that are stored
	MessageID string    // that they brought
}

// ProofFacts are what a decision about a proof depends on besides the row.
type ProofFacts struct {
	Number      int       // the attempt that it proves
	ByReference bool      // our own reference told the attempt, and not the message id alone
	Attempts    []Attempt // of the row, in order; empty where there is one at most
	Proven      []int     // numbers that other stored receipts prove, where there are several attempts
	Highest     Delivery  // of all stored receipts of the row, this one included
	Shared      bool      // its message id belongs to another row too
}

// Proved is what became of a receipt.
type Proved struct {
	Notification      // as it is now
	Matched      bool // false: no row is known, and Notification is empty
	Known        bool // it, or one with the same fact, was stored before: nothing was changed
	Settled      bool // it was written into the row's history: it moved the row, or is the proof of a second message
	Twice        bool // it is the proof of a second message
	Err          error
}

// Change is what becomes of a row. Fields with "keep" in their comment keep the row's value when zero.
type Change struct {
	State       State // "": leave the row as it is
	Reason      Reason
	MaybeSent   bool
	NextAction  NextAction
	DueAt       time.Time
	Provider    string // keep
	Deferrals   int
	Tried       string
	MessageID   string    // keep
	Delivery    Delivery  // keep
	ExpiresAt   time.Time // keep
	ConfirmedAt time.Time
	At          time.Time
	Note        bool        // in a Settle: the settlement alone is written, and the row stays as it is
	Settlement  *Settlement // in a Close only of a proven duplicate: From and To are sent, and the version moves twice
}

// Pause is a person's decision that a provider is not to be used.
type Pause struct {
	Provider string
	Since    time.Time
	Actor    string
	Reason   string
}

// Counted is how many repeats of a row were written, and when the last one came.
type Counted struct {
	Seq   int64
	Count int64
	At    time.Time
}
