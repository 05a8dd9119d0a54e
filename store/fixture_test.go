package store

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
)

// at0 is the time at which tests begin; tests give times as arguments, as the ledger does.
var at0 = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return at0.Add(d) }

func options(t testing.TB) Options {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Path: filepath.Join(t.TempDir(), "sendonce.db"), Schema: string(schema), Log: slog.New(slog.DiscardHandler)}
}

// created makes an empty ledger and returns how to open it.
func created(t testing.TB) Options {
	t.Helper()
	o := options(t)
	if err := Create(o); err != nil {
		t.Fatal(err)
	}
	return o
}

func opened(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return s
}

// claimOf is a claim of event i, due at once.
func claimOf(i int) ledger.Claim {
	id, err := uuid.NewV7()
	if err != nil {
		panic(err) // no entropy: no test could run
	}
	return ledger.Claim{Notification: ledger.Notification{
		ID: id, Source: "shop", DedupeKey: fmt.Sprintf("%040x", uint64(i)*0x9e3779b97f4a7c15), Recipe: "event", SourceInKey: true,
		EventID: fmt.Sprintf("evt_%08d", i), EventType: "order.shipped", UserID: "u_17",
		Channel: ledger.SMS, Recipient: "+14155550142", RecipientKey: "+14155550142",
		Message: []byte(`{"text":"Order A-2291 shipped."}`), Metadata: []byte(`{"order":"A-2291"}`),
		Provider: "twilio_main", Lane: ledger.Normal, State: ledger.StateClaimed, NextAction: ledger.DoSend,
		DueAt: at0, ExpiresAt: at0.Add(72 * time.Hour), Version: 1, ClaimedAt: at0, UpdatedAt: at0,
	}}
}

// attemptOf is the open attempt of a claimed row.
func attemptOf(n ledger.Notification) ledger.Attempt {
	return ledger.Attempt{Seq: n.Seq, Number: n.AttemptCount + 1, Kind: ledger.KindSend, Provider: n.Provider, StartedAt: at0}
}

func takingOf(n ledger.Notification) ledger.Taking {
	return ledger.Taking{Attempt: attemptOf(n), Version: n.Version, Provider: n.Provider}
}

// closingOf closes the attempt that takingOf opened.
func closingOf(n ledger.Notification, o ledger.Outcome, messageIDs ...string) ledger.Closing {
	a := attemptOf(n)
	a.EndedAt, a.Outcome, a.Phase, a.Status = at0, o, ledger.Answered, 201
	if len(messageIDs) > 0 {
		a.MessageID = messageIDs[0]
	}
	n.State, n.AttemptCount, n.Version = ledger.StateSending, a.Number, n.Version+1
	return ledger.Closing{Notification: n, Attempt: a, MessageIDs: messageIDs}
}

func toSent(ledger.CloseFacts) ledger.Change {
	return ledger.Change{State: ledger.StateSent, At: at0, ConfirmedAt: at0}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// together runs do for n calls at a time, as many callers that wait for one another's commits do.
func together(n, total int, do func(i int)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range n {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range total {
		next <- i
	}
	close(next)
	all.Wait()
}
