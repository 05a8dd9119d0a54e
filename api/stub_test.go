package api

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// Two rows that every test knows, and an id that no row has.
var (
	rowA    = uuid.MustParse("0199b3a0-0000-7000-8000-00000000000a")
	rowB    = uuid.MustParse("0199b3a0-0000-7000-8000-00000000000b")
	unknown = uuid.MustParse("0199b3a0-0000-7000-8000-0000000000ff")
	noon    = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

// sample is a row of the source shop as the store would hand it over.
func sample() ledger.Notification {
	return ledger.Notification{
		Seq: 7, ID: rowA, Source: "shop", DedupeKey: "d1", Recipe: "event", EventID: "evt_1", Channel: ledger.SMS,
		Recipient: "+1 415 555 0142", RecipientKey: "+14155550142", Message: []byte(`{"text":"Hello."}`),
		Provider: "infrai_main", Lane: ledger.Normal, State: ledger.StateClaimed, NextAction: ledger.DoSend, DueAt: noon,
		ExpiresAt: noon.Add(72 * time.Hour), Version: 3, ClaimedAt: noon, UpdatedAt: noon,
	}
}

// The ledger itself fits the API.
var _ Ledger = (*ledger.Ledger)(nil)

// stub answers as a ledger with the one row sample would, and keeps what it was asked. Claims are judged by the
// ledger's own rules, so that a fault which only the ledger can see is seen here too.
type stub struct {
	mu     sync.Mutex
	events []ledger.Event
	acts   []ledger.Act
	bulks  []ledger.Bulk
	posted []ledger.Posted
	filter ledger.Filter
	calls  int // that changed something

	breakable int // of calls: made under a context that ends with the request

	known   ledger.EventHash
	err     error // what every call returns when set
	itemErr error // what becomes of each item of a batch
	actErr  error // what a settlement of one row returns
	row     ledger.Notification
	record  *ledger.Record
	dup     bool
	differs []string
	parts   ledger.Segments
	page    ledger.Page
	matched int64
	gates   []ledger.ProviderStatus
	wait    func(context.Context, ledger.Notification, time.Duration, <-chan struct{}) ledger.Notification
	claim   func(context.Context)
	list    func(context.Context)
}

func newStub() *stub {
	return &stub{row: sample(), gates: []ledger.ProviderStatus{{
		Name: "infrai_main", Type: "infrai", Channels: []ledger.Channel{ledger.SMS}, Gate: ledger.GateStatus{State: "open"},
		Capabilities: []ledger.Capability{ledger.CanRepeat}, Offers: []ledger.Capability{ledger.CanRepeat, ledger.CanStatusByID},
	}}}
}

// changed counts a call that would have changed the ledger, and those that a caller could break off.
func (s *stub) changed(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if ctx.Done() != nil {
		s.breakable++
	}
}

// seen is how many such calls there were.
func (s *stub) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *stub) Known(h ledger.EventHash, _ string) (ledger.ClaimResult, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known != (ledger.EventHash{}) && h == s.known
	return ledger.ClaimResult{Notification: s.row, Duplicate: true}, known
}

func (s *stub) Claim(ctx context.Context, e ledger.Event) (ledger.ClaimResult, error) {
	if invalid := e.Validate(); invalid != nil {
		return ledger.ClaimResult{}, invalid
	}
	if s.claim != nil {
		s.claim(ctx)
	}
	s.changed(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	return ledger.ClaimResult{Notification: s.row, Duplicate: s.dup, Differs: s.differs, Segments: s.parts}, s.err
}

func (s *stub) ClaimBatch(ctx context.Context, events []ledger.Event) ([]ledger.ClaimResult, error) {
	out := make([]ledger.ClaimResult, len(events))
	for i, e := range events {
		res, err := s.Claim(ctx, e)
		if out[i] = res; err != nil || s.itemErr != nil {
			out[i] = ledger.ClaimResult{Err: errors.Join(err, s.itemErr)}
		}
	}
	return out, s.err
}

func (s *stub) Wait(ctx context.Context, n ledger.Notification, longest time.Duration, stop <-chan struct{}) ledger.Notification {
	return s.wait(ctx, n, longest, stop)
}

func (s *stub) Get(_ context.Context, id uuid.UUID, source *string) (ledger.Record, error) {
	if s.err != nil {
		return ledger.Record{}, s.err
	}
	if id != s.row.ID || source != nil && *source != s.row.Source {
		return ledger.Record{}, ledger.ErrNotFound
	}
	if s.record != nil {
		return *s.record, nil
	}
	return ledger.Record{Notification: s.row, Resends: []uuid.UUID{rowB}}, nil
}

func (s *stub) List(ctx context.Context, f ledger.Filter) (ledger.Page, error) {
	if s.list != nil {
		s.list(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filter = f
	return s.page, s.err
}

func (s *stub) Settle(ctx context.Context, a ledger.Act) (ledger.Notification, error) {
	if _, err := s.Get(ctx, a.ID, a.Source); err != nil && s.err == nil {
		return ledger.Notification{}, err
	}
	if s.actErr != nil {
		return ledger.Notification{}, s.actErr
	}
	s.changed(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts = append(s.acts, a)
	return s.row, s.err
}

func (s *stub) SettleMany(ctx context.Context, b ledger.Bulk) (ledger.BulkResult, error) {
	s.changed(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bulks = append(s.bulks, b)
	return ledger.BulkResult{Matched: s.matched, Changed: s.matched}, s.err
}

func (s *stub) Resend(ctx context.Context, a ledger.Act, _ bool) (ledger.Notification, error) {
	return s.Settle(ctx, a)
}

func (s *stub) Providers() []ledger.ProviderStatus { return s.gates }

func (s *stub) Pause(ctx context.Context, name, _, _ string) (ledger.ProviderStatus, error) {
	if name != s.gates[0].Name {
		return ledger.ProviderStatus{}, ledger.ErrNoProvider
	}
	s.changed(ctx)
	return s.gates[0], s.err
}

func (s *stub) Resume(ctx context.Context, name, actor string) (ledger.ProviderStatus, error) {
	return s.Pause(ctx, name, actor, "")
}

func (s *stub) Keys(_ context.Context, e ledger.Event) ([]ledger.KeyPreview, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	return []ledger.KeyPreview{{Recipe: "event", Parts: []ledger.KeyPart{{Name: "event_id", Value: e.EventID}}, DedupeKey: "d1", Notification: &s.row}}, s.err
}

func (s *stub) Stats(context.Context) (ledger.Stats, error) {
	return ledger.Stats{Notifications: 8, States: map[ledger.State]int64{ledger.StateSent: 5}, Receipts: 9, Unmatched: 1, Erased: 3}, s.err
}

func (s *stub) Receive(ctx context.Context, _ string, p ledger.Posted) (ledger.Received, error) {
	if s.err != nil {
		return ledger.Received{}, s.err
	}
	s.changed(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Body = bytes.Clone(p.Body) // its memory is used again
	s.posted = append(s.posted, p)
	return ledger.Received{Events: 1}, nil
}

func (s *stub) Ready() error { return s.err }

// panicking and nilPanic are faults of a ledger that holds what a caller sent.
func panicking(context.Context) { panic("OTP 424242") }

func nilPanic(context.Context) { _ = (*stub)(nil).err }
