package ledger

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Channel is the kind of road that a notification takes.
type Channel string

// The channels.
const (
	SMS     Channel = "sms"
	Email   Channel = "email"
	Push    Channel = "push"
	Webhook Channel = "webhook"
)

// Channels lists the channels.
var Channels = []Channel{SMS, Email, Push, Webhook}

// Lane orders rows of one provider: everything urgent goes before anything normal.
type Lane int8

// The lanes, as stored; the API and the configuration write their names.
const (
	Urgent Lane = 0
	Normal Lane = 1
)

// String returns "urgent" or "normal".
func (l Lane) String() string {
	if l == Urgent {
		return "urgent"
	}
	return "normal"
}

// Limits of an event and of what is said about it, in Unicode code points unless the name ends in Bytes. They stand in the README.
const (
	MaxEventID       = 255
	MaxSource        = 128
	MaxEventType     = 80
	MaxUserID        = 128
	MaxRecipient     = 4096
	MaxDedupeKey     = 128
	MaxReason        = 500
	MaxPerson        = 128
	MaxMessageID     = 512
	MaxMetadataBytes = 4 << 10
	MaxAnswerBytes   = 4 << 10 // of a raw answer, kept of an attempt
)

// Limits in numbers. They stand in the README.
const (
	MaxBatch      = 500    // events of one batch
	MaxList       = 500    // rows of one page
	MaxScan       = 50_000 // rows that an unindexed filter looks at for one page
	MaxDuplicates = 20     // suppressed repeats kept of a row
)

// Event is what a caller asks for: tell one recipient on one channel about something that happened.
type Event struct {
	EventID    string
	EventType  string
	Source     string
	UserID     string
	OccurredAt time.Time // zero: not given
	Channel    Channel
	Recipient  string
	Message    []byte // JSON as the caller wrote it
	Metadata   []byte // JSON object, or nil
	Provider   string // pins the provider; empty: the channel's first
	Lane       string // "", "urgent" or "normal"
	SendAt     time.Time
	ExpiresAt  time.Time
	DedupeKey  string // a key that the caller brings; empty: derived
	Wait       bool   // Wait will be called for the row
	Caller     string // name of the API key, for the list of suppressed duplicates
	Hash       EventHash
}

// EventHash is a collision-free hash of the words in which an event was brought, and of whatever else decides what it is: the same
// hash promises the same event. It lets a repeat in the same words be known without reading them. Zero: there is none.
type EventHash [32]byte

// Notification is the row that owns a key: one event to one recipient on one channel.
// Times are UTC with milliseconds; a zero time means that there is none.
type Notification struct {
	Seq          int64 // order of claiming; never leaves the process but in cursors
	ID           uuid.UUID
	Source       string
	DedupeKey    string
	Recipe       string // name of the recipe that made the key, or RecipeGiven
	SourceInKey  bool   // the source entered the key, so the key itself is the wire key
	EventID      string
	EventType    string
	UserID       string
	OccurredAt   time.Time
	Channel      Channel
	Recipient    string // as written: where the message goes
	RecipientKey string // the form that entered the key: what answers show
	Message      []byte // JSON as the caller wrote it; nil once erased
	Metadata     []byte
	ContentHash  [16]byte // of recipient and message, for near duplicates
	Provider     string   // the one to try next, then the one that took it
	Pinned       bool
	Lane         Lane
	State        State
	Reason       Reason
	MaybeSent    bool
	NextAction   NextAction
	DueAt        time.Time
	SendAt       time.Time // not before; zero: at once
	ExpiresAt    time.Time
	AttemptCount int
	Deferrals    int    // steps of the ladder that were used
	Tried        string // providers tried since the last wait, separated by commas
	MessageID    string
	Delivery     Delivery
	ResendOf     uuid.UUID // zero: no resend
	SuspectedOf  uuid.UUID // zero: no suspected duplicate
	Version      int64
	Duplicates   int64 // suppressed so far
	DuplicateAt  time.Time
	ClaimedAt    time.Time
	ConfirmedAt  time.Time
	UpdatedAt    time.Time
	ErasedAt     time.Time // zero: the row is whole; else only its key, outcome and times are left
}

// Erased reports whether only the row's key, outcome and times are left.
func (n *Notification) Erased() bool { return !n.ErasedAt.IsZero() }

// ContentGone reports whether the message was erased.
func (n *Notification) ContentGone() bool { return n.Message == nil }

// Shown is the next action that an answer shows: an ambiguous row with only its expiry left asks a person.
func (n *Notification) Shown() NextAction {
	if n.State == StateAmbiguous && (n.NextAction == DoNothing || n.NextAction == DoExpire) {
		return Ask
	}
	return n.NextAction
}

// Delivery is the highest report that receipts brought.
type Delivery string

// The deliveries in rising order.
const (
	NoDelivery  Delivery = ""
	Queued      Delivery = "queued"
	PassedOn    Delivery = "passed_on"
	Delayed     Delivery = "delayed"
	Undelivered Delivery = "undelivered"
	Delivered   Delivery = "delivered"
	Bounced     Delivery = "bounced"
	Complained  Delivery = "complained"
)

// Deliveries lists them in rising order: the highest that ever came wins.
var Deliveries = []Delivery{Queued, PassedOn, Delayed, Undelivered, Delivered, Bounced, Complained}

// Higher returns the higher of two deliveries.
func Higher(a, b Delivery) Delivery {
	if slices.Index(Deliveries, b) > slices.Index(Deliveries, a) {
		return b
	}
	return a
}

// Record is a notification with its whole history.
type Record struct {
	Notification
	Attempts    []Attempt
	Receipts    []Receipt
	Settlements []Settlement
	Suppressed  []Suppressed
	Resends     []uuid.UUID
	MessageIDs  []MessageID
	KeyTwice    bool // in an audit of an erased row: a row that is whole has its key too
}

// Suppressed is a repeat of an event that found its row and sent nothing.
type Suppressed struct {
	Seq     int64 // the notification's
	At      time.Time
	Caller  string
	Differs []string // names of fields
	Count   int64    // repeats that it stands for when it is written; 0 is one
}

// Settlement is the insert-only record of a change that is no attempt.
type Settlement struct {
	At       time.Time
	Action   Cause
	From     State
	To       State
	Actor    string // the API key's name, policy:NAME, provider:NAME or sendonce
	Person   string // who, as the caller says
	Reason   string
	Evidence []byte // JSON: ids and hashes, no content
}
