package fill

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"sendonce/ledger"
	"sendonce/store"
)

// made returns the path of a ledger with n rows, and when its first row was claimed.
func made(t *testing.T, n int64, old bool) (path string, from int64) {
	t.Helper()
	schema, err := os.ReadFile("../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "made.db")
	if err := store.Create(store.Options{Path: path, Schema: string(schema), Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	if from, err = Ledger(t.Context(), path, n, old); err != nil {
		t.Fatal(err)
	}
	return path, from
}

func opened(t *testing.T, path string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Path: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// The product itself says whether a made ledger is one: it opens, nothing counts as restored, and every row follows from its history.
func TestLedger_TheProductFindsNothingWrong(t *testing.T) {
	const n = 3000
	path, _ := made(t, n, false)
	wholeAndCounted(t, opened(t, path), n)
}

func wholeAndCounted(t *testing.T, s *store.Store, n int64) {
	t.Helper()
	if c := s.Condition(); c.Restored || c.Err != nil {
		t.Fatalf("condition %+v", c)
	}
	rows, err := ledger.Check(t.Context(), s, func(d ledger.Difference) { t.Errorf("%+v", d) })
	if rows != n || err != nil {
		t.Fatalf("%d rows, %v", rows, err)
	}
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Notifications != n {
		t.Fatalf("the counts say %d rows, %v", stats.Notifications, err)
	}
}

// A load claims made events again and reads them by id: both must lead to the row.
func TestLedger_EventAndIDOfARowLeadToIt(t *testing.T) {
	path, from := made(t, 50, false)
	s := opened(t, path)
	for _, n := range []int64{1, 37, 38, 50} { // 37 went in before the indexes were built
		var c struct {
			EventID   string `json:"event_id"`
			Channel   string `json:"channel"`
			Recipient string `json:"recipient"`
			Message   json.RawMessage
		}
		if err := json.Unmarshal(AppendClaim(nil, n), &c); err != nil {
			t.Fatal(err)
		}
		if len(c.Message) != messageBytes {
			t.Errorf("the message of row %d has %d bytes", n, len(c.Message))
		}
		e := ledger.Event{EventID: c.EventID, Channel: ledger.Channel(c.Channel), Recipient: c.Recipient}
		key, _, err := ledger.RecipeEvent().Key(&e, c.Recipient)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), ID(n, from))
		if err != nil || got.Seq != n || got.DedupeKey != key || got.Recipient != c.Recipient || string(got.Message) != string(c.Message) || got.State != ledger.StateSent {
			t.Errorf("row %d: %+v, %v", n, got, err)
		}
	}
}

// Indexes and triggers are taken away for the filling: all of them must stand again.
func TestLedger_SchemaIsAsItWas(t *testing.T) {
	path, _ := made(t, 10, false)
	empty, _ := made(t, 1, false)
	if got, want := schemaOf(t, path), schemaOf(t, empty); got != want || len(got) < 1000 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMix_NoTwoRowsShareAnEventOrID(t *testing.T) {
	events, ids := map[string]bool{}, map[[16]byte]bool{}
	for n := int64(1); n <= 20_000; n++ {
		events[string(appendEventID(nil, n))] = true
		ids[ID(n, 1796069134893)] = true
	}
	if len(events) != 20_000 || len(ids) != 20_000 {
		t.Errorf("%d events and %d ids of 20,000", len(events), len(ids))
	}
}
