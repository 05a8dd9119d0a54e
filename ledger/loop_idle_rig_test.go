package ledger_test

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
	"sendonce/store"
)

// counted is a store that counts what is read from it.
type counted struct {
	*store.Store
	reads *atomic.Int64
}

func (s counted) Prior(ctx context.Context, c ledger.Claim) (ledger.Notification, bool, error) {
	s.reads.Add(1)
	return s.Store.Prior(ctx, c)
}

func (s counted) Get(ctx context.Context, id uuid.UUID) (ledger.Record, error) {
	s.reads.Add(1)
	return s.Store.Get(ctx, id)
}

func (s counted) List(ctx context.Context, f ledger.Filter) (ledger.Page, error) {
	s.reads.Add(1)
	return s.Store.List(ctx, f)
}

func (s counted) Due(ctx context.Context, q ledger.DueQuery) ([]ledger.Notification, error) {
	s.reads.Add(1)
	return s.Store.Due(ctx, q)
}

func (s counted) NextDue(ctx context.Context, provider string, after time.Time) (time.Time, error) {
	s.reads.Add(1)
	return s.Store.NextDue(ctx, provider, after)
}

func (s counted) Providers(ctx context.Context) ([]string, error) {
	s.reads.Add(1)
	return s.Store.Providers(ctx)
}

func (s counted) Waiting(ctx context.Context, at time.Time, limit int) ([]ledger.Notification, error) {
	s.reads.Add(1)
	return s.Store.Waiting(ctx, at, limit)
}

func (s counted) NextWaiting(ctx context.Context, after time.Time) (time.Time, error) {
	s.reads.Add(1)
	return s.Store.NextWaiting(ctx, after)
}

func (s counted) FirstAttempt(ctx context.Context, seq int64, account [8]byte) (ledger.Attempt, error) {
	s.reads.Add(1)
	return s.Store.FirstAttempt(ctx, seq, account)
}

func (s counted) Newest(ctx context.Context) (time.Time, error) {
	s.reads.Add(1)
	return s.Store.Newest(ctx)
}

func (s counted) Pauses(ctx context.Context) ([]ledger.Pause, error) {
	s.reads.Add(1)
	return s.Store.Pauses(ctx)
}

func (s counted) Stats(ctx context.Context) (ledger.Stats, error) {
	s.reads.Add(1)
	return s.Store.Stats(ctx)
}

func (s counted) Audit(ctx context.Context, visit func(ledger.Record) error) error {
	s.reads.Add(1)
	return s.Store.Audit(ctx, visit)
}

func (s counted) Backlog(ctx context.Context, provider string, limit int) (int, error) {
	s.reads.Add(1)
	return s.Store.Backlog(ctx, provider, limit)
}

func (s counted) Lately(ctx context.Context, before int64, limit int) ([]ledger.Record, error) {
	s.reads.Add(1)
	return s.Store.Lately(ctx, before, limit)
}

// everyReadCounts holds counted to the interface: what reads takes a context.
func everyReadCounts(t *testing.T, s counted) {
	t.Helper()
	contract := reflect.TypeFor[ledger.Store]()
	for i := range contract.NumMethod() {
		m := contract.Method(i)
		if m.Type.NumIn() == 0 || m.Type.In(0) != reflect.TypeFor[context.Context]() {
			continue
		}
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for j := 1; j < m.Type.NumIn(); j++ {
			args = append(args, reflect.Zero(m.Type.In(j)))
		}
		before := s.reads.Load()
		reflect.ValueOf(s).MethodByName(m.Name).Call(args)
		if s.reads.Load() == before {
			t.Errorf("%s is not counted", m.Name)
		}
	}
}

func (s counted) Old(ctx context.Context, q ledger.OldQuery) (ledger.OldRows, error) {
	s.reads.Add(1)
	return s.Store.Old(ctx, q)
}
