package ledger

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// Ledger is the use cases over a store and its providers.
type Ledger struct{}

// New makes a ledger. It panics on settings that the config package would have refused.
func New(store Store, providers []ProviderSettings, s Settings, log *slog.Logger) *Ledger {
	panic("soon")
}

// Claim creates the row under the event's key, or finds the one that has it, durable before it returns.
// *InvalidError, *ReusedError, ErrNoChannel, ErrDraining, and what Store.Claim returns.
func (l *Ledger) Claim(ctx context.Context, e Event) (ClaimResult, error) { panic("soon") }

// ClaimBatch claims up to MaxBatch events in one commit; each has its own result or error.
// The error as a whole is what Store.Claim returns.
func (l *Ledger) ClaimBatch(ctx context.Context, events []Event) ([]ClaimResult, error) {
	panic("soon")
}

// ClaimResult is what became of one event.
type ClaimResult struct {
	Notification Notification
	Duplicate    bool
	Differs      []string // with Duplicate, when only the message differs and the settings accept that
	Err          error    // in a batch: *InvalidError, *ReusedError or ErrNoChannel
}

// Wait returns the row once its first attempt, or the one that runs now, has ended or ctx is done.
func (l *Ledger) Wait(ctx context.Context, n Notification) Notification { panic("soon") }

// Get returns a row in full. A non-nil source hides rows of other sources: ErrNotFound.
func (l *Ledger) Get(ctx context.Context, id uuid.UUID, source *string) (Record, error) {
	panic("soon")
}

// List returns rows that match.
func (l *Ledger) List(ctx context.Context, f Filter) (Page, error) { panic("soon") }

// Act is one settlement by a person.
type Act struct {
	Action    Cause // one of Actions
	ID        uuid.UUID
	Source    *string // as in Get
	Reason    string
	Actor     string // name of the API key
	Person    string
	MessageID string    // confirm only
	ExpiresAt time.Time // release only; zero: keep
	IfMatch   int64     // 0: not given
	Surely    bool      // role send: release only of a failed row that is surely not sent
}

// Settle does what a person decided. ErrNotFound, *StateError, *VersionError, ErrIfMatch, ErrContentGone, ErrPast,
// ErrMayBeSent where Surely is set.
// The same action on a row that it already moved changes nothing and is no error.
func (l *Ledger) Settle(ctx context.Context, a Act) (Notification, error) { panic("soon") }

// Bulk is one decision over many rows.
type Bulk struct {
	Action   Cause // confirm, release, abandon, hold, unhold or cancel
	Filter   Filter
	Reason   string
	Actor    string
	Person   string
	Expected int64
	DryRun   bool
}

// BulkResult counts. Skipped rows were moved by somebody else or may not be moved so.
type BulkResult struct{ Matched, Changed, Skipped int64 }

// SettleMany settles every row that matches. ErrCountDiffers (with Matched), ErrOneState.
func (l *Ledger) SettleMany(ctx context.Context, b Bulk) (BulkResult, error) { panic("soon") }

// Resend claims a second message on purpose. ErrNotFound, *StateError, *VersionError, ErrIfMatch, ErrNeedAccept, ErrContentGone.
func (l *Ledger) Resend(ctx context.Context, a Act, acceptDuplicate bool) (Notification, error) {
	panic("soon")
}

// ProviderStatus is a provider as people see it.
type ProviderStatus struct {
	Name         string
	Type         string
	Channels     []Channel
	Gate         GateStatus
	Capabilities []string
}

// GateStatus is a gate as people see it.
type GateStatus struct {
	State  string // open, slowed, paused
	Until  time.Time
	Reason string
	By     string
}

// Providers returns all providers by name.
func (l *Ledger) Providers() []ProviderStatus { panic("soon") }

// Pause stops the use of a provider until Resume. ErrNoProvider.
func (l *Ledger) Pause(ctx context.Context, provider, actor, reason string) (ProviderStatus, error) {
	panic("soon")
}

// Resume opens a provider's gate. ErrNoProvider.
func (l *Ledger) Resume(ctx context.Context, provider, actor string) (ProviderStatus, error) {
	panic("soon")
}

// KeyPreview is a key as a recipe makes it.
type KeyPreview struct {
	Recipe       string
	Parts        []KeyPart
	DedupeKey    string
	Notification *Notification // the row that has it, when Source may see it
}

// KeyPart is one part of a key.
type KeyPart struct{ Name, Value string }

// Keys shows the keys that an event has under each recipe. Event.Message is not needed. *InvalidError.
func (l *Ledger) Keys(ctx context.Context, e Event) ([]KeyPreview, error) { panic("soon") }

// Stats counts.
func (l *Ledger) Stats(ctx context.Context) (Stats, error) { panic("soon") }

// Ready returns nil when a claim can be made durable now.
func (l *Ledger) Ready() error { panic("soon") }

// Recover closes what a dead process left open. Before Run and before the first claim.
func (l *Ledger) Recover(ctx context.Context) (int, error) { panic("soon") }

// Run sends what is due until ctx is done, then drains, and returns when nothing is in flight.
func (l *Ledger) Run(ctx context.Context) error { panic("soon") }

// Prove takes a proof or a report: see Store.Prove.
func (l *Ledger) Prove(ctx context.Context, r Receipt) (Notification, error) { panic("soon") }
