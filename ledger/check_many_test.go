package ledger_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
	"sendonce/store"
)

// A large ledger in order has no differences, and checking it takes seconds.
func TestCheck_ManyRows(t *testing.T) {
	count := 100_000
	if testing.Short() || raced {
		count = 5_000
	}
	path := filepath.Join(t.TempDir(), "sendonce.db")
	began := time.Now()
	fillLedger(t, path, count)
	filled := time.Now()
	found, rows := differences(t, path)
	t.Logf("%d rows made in %v, checked in %v", rows, filled.Sub(began).Round(time.Millisecond), time.Since(filled).Round(time.Millisecond))
	if rows != int64(count) {
		t.Errorf("%d rows, want %d", rows, count)
	}
	for i, d := range found {
		if i == 10 {
			t.Fatalf("and %d more", len(found)-i)
		}
		t.Errorf("%+v", d)
	}
}

// fillLedger makes a ledger straight through the store: one row in ten has an attempt, with each outcome.
func fillLedger(t *testing.T, path string, count int) {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	o := store.Options{Path: path, Schema: string(schema), Log: slog.New(slog.DiscardHandler)}
	if err := store.Create(o); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	}()
	at := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	var all sync.WaitGroup
	all.Go(func() { // a check beside the service sees each row whole
		for range 3 {
			if _, err := ledger.Check(t.Context(), s, func(d ledger.Difference) { t.Errorf("while the ledger grows: %+v", d) }); err != nil {
				t.Error(err)
			}
		}
	})
	slots := make(chan struct{}, 512)
	for i := 0; i < count; i += ledger.MaxBatch {
		claims := make([]ledger.Claim, 0, ledger.MaxBatch)
		for j := i; j < min(i+ledger.MaxBatch, count); j++ {
			claims = append(claims, manyClaim(t, j, at))
		}
		rows, err := s.Claim(claims)
		if err != nil {
			t.Fatal(err)
		}
		for j := range rows {
			if j%50 > 4 {
				continue
			}
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				if err := attemptOnce(s, rows[j].Notification, j%50, at.Add(time.Second)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

// manyClaim is the claim of event i, its key and hash derived as the ledger does.
func manyClaim(t *testing.T, i int, at time.Time) ledger.Claim {
	t.Helper()
	e := ledger.Event{EventID: fmt.Sprintf("evt_%d", i), Source: "shop", Channel: ledger.SMS}
	recipient := fmt.Sprintf("+1415%07d", i)
	key, _, err := ledger.RecipeEvent().Key(&e, recipient)
	if err != nil {
		t.Fatal(err)
	}
	message := []byte(`{"text":"Your order has shipped."}`)
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Claim{Notification: ledger.Notification{
		ID: id, Source: e.Source, DedupeKey: key, Recipe: "event", SourceInKey: true, EventID: e.EventID, Channel: e.Channel,
		Recipient: recipient, RecipientKey: recipient, Message: message, ContentHash: ledger.ContentHash(e.Channel, recipient, message),
		Provider: "main", Lane: ledger.Normal, State: ledger.StateClaimed, NextAction: ledger.DoSend, DueAt: at, ExpiresAt: at.Add(72 * time.Hour),
		Version: 1, ClaimedAt: at, UpdatedAt: at,
	}}
}

// attemptOnce makes one attempt with an outcome that kind chooses.
func attemptOnce(s *store.Store, n ledger.Notification, kind int, at time.Time) error {
	a := ledger.Attempt{Seq: n.Seq, Number: 1, Kind: ledger.KindSend, Provider: n.Provider, StartedAt: at}
	if err := s.Take(ledger.Taking{Attempt: a, Version: n.Version, Provider: n.Provider}); err != nil {
		return err
	}
	a.EndedAt, a.Phase = at.Add(80*time.Millisecond), ledger.Answered
	c := ledger.Change{Provider: n.Provider, At: a.EndedAt}
	var ids []string
	switch kind {
	case 0:
		a.Outcome, c.State, c.Reason = ledger.Rejected, ledger.StateFailed, ledger.ReasonRejected
	case 1:
		a.Outcome, c.State, c.Reason, c.NextAction, c.DueAt = ledger.Deferred, ledger.StateClaimed, ledger.ReasonRetry, ledger.DoSend, at.Add(time.Minute)
	case 2:
		a.Outcome, c.State, c.Reason, c.MaybeSent, c.NextAction, c.DueAt = ledger.Ambiguous, ledger.StateAmbiguous, ledger.ReasonNoAnswer, true, ledger.DoExpire, n.ExpiresAt
	default:
		a.Outcome, c.State, c.ConfirmedAt = ledger.Accepted, ledger.StateSent, a.EndedAt
		a.MessageID = "m-" + n.EventID
		c.MessageID, ids = a.MessageID, []string{a.MessageID}
	}
	n.State, n.AttemptCount, n.Version = ledger.StateSending, 1, n.Version+1
	_, err := s.Close(ledger.Closing{Notification: n, Attempt: a, MessageIDs: ids}, func(ledger.CloseFacts) ledger.Change { return c })
	return err
}
