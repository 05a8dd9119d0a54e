package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"sendonce/ledger"
)

// next returns what a watcher is told now; it fails where that is nothing.
func next(t *testing.T, w *ledger.Watcher) ledger.Changes {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var c ledger.Changes
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err = w.Next(ctx)
	}()
	synctest.Wait()
	cancel()
	<-done
	if err != nil {
		t.Fatal("the watcher is told nothing")
	}
	return c
}

func silent(t *testing.T, w *ledger.Watcher) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // whichever case a select would take first
		if c, err := w.Next(ctx); err == nil {
			t.Fatalf("told of %+v", c)
		}
	}
}

func TestWatch_TellsOfEachWayARowChanges(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		w := r.ledger.Watch(t.Context(), nil)
		silent(t, w)
		told := func(n ledger.Notification) {
			t.Helper()
			now := r.row(n)
			for _, c := range next(t, w).Rows {
				if c.ID == n.ID && c.Version == now.Version && c.State == now.State {
					return
				}
			}
			t.Errorf("%s is %s in version %d, and the watcher was not told", n.EventID, now.State, now.Version)
		}
		n := r.claim("e1")
		told(n)
		r.claim("e1")
		told(n) // a repeat that was suppressed
		r.scripts["a"].then(lost)
		unknown := r.claim("e2")
		told(unknown)
		if _, err := r.act(unknown, ledger.Act{Action: ledger.CauseConfirm}); err != nil {
			t.Fatal(err)
		}
		told(unknown)
		child, err := r.ledger.Resend(t.Context(), ledger.Act{ID: n.ID, Reason: "asked for", Actor: "ops", IfMatch: r.row(n).Version}, false)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		c := next(t, w)
		if len(c.Rows) != 2 || c.Rows[0].ID != n.ID || c.Rows[0].Version != r.row(n).Version || c.Rows[1].ID != child.ID || c.Rows[1].Version != r.row(child).Version {
			t.Errorf("a resend is told as %+v", c.Rows)
		}
	})
}

func TestWatch_TellsOfReceipts(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		w := r.ledger.Watch(t.Context(), nil)
		r.prove(receipt(n, 1, "delivered", ledger.Delivered))
		if c := next(t, w); len(c.Rows) != 1 || c.Rows[0].ID != n.ID {
			t.Errorf("told of %+v", c)
		}
	})
}

func TestWatch_TellsOfGates(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		w := r.ledger.Watch(t.Context(), nil)
		for name, act := range map[string]func() (ledger.ProviderStatus, error){
			"pause":  func() (ledger.ProviderStatus, error) { return r.ledger.Pause(t.Context(), "a", "ops", "test") },
			"resume": func() (ledger.ProviderStatus, error) { return r.ledger.Resume(t.Context(), "a", "ops") },
		} {
			if _, err := act(); err != nil {
				t.Fatal(err)
			}
			if c := next(t, w); !c.Gates || len(c.Rows) != 0 || c.Lost {
				t.Errorf("%s: told of %+v", name, c)
			}
		}
	})
}

// What nobody asks for does not grow: beyond its room a watcher knows only that there was more.
func TestWatch_IsBounded(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		w, exact := r.ledger.Watch(t.Context(), nil), r.ledger.Watch(t.Context(), nil)
		for i := range ledger.MaxWatched + 1 {
			r.claim(fmt.Sprintf("e%d", i))
			if i == ledger.MaxWatched-1 {
				if c := next(t, exact); len(c.Rows) != ledger.MaxWatched || c.Lost {
					t.Errorf("%d rows: told of %d, lost %t", ledger.MaxWatched, len(c.Rows), c.Lost)
				}
			}
		}
		if c := next(t, w); !c.Lost || len(c.Rows) != 0 {
			t.Errorf("one row too many: told of %d, lost %t", len(c.Rows), c.Lost)
		}
		n := r.claim("afterwards")
		if c := next(t, w); c.Lost || len(c.Rows) != 1 || c.Rows[0].ID != n.ID {
			t.Errorf("then told of %+v", c)
		}
	})
}

func TestWatch_HidesRowsOfOtherSources(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		shop := "shop"
		w := r.ledger.Watch(t.Context(), &shop)
		r.claim("e1")
		silent(t, w)
		n := r.claim("e1", func(e *ledger.Event) { e.Source = shop })
		if c := next(t, w); len(c.Rows) != 1 || c.Rows[0].ID != n.ID {
			t.Errorf("told of %+v", c)
		}
	})
}

func TestWatch_EndsWithItsContext(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		w := r.ledger.Watch(ctx, nil)
		if r.ledger.Watching() != 1 {
			t.Fatal("nobody watches")
		}
		cancel()
		synctest.Wait()
		r.claim("e1")
		silent(t, w)
		if n := r.ledger.Watching(); n != 0 {
			t.Errorf("%d watch still", n)
		}
	})
}

// While nobody watches, and while somebody does who is slow, a change allocates nothing.
func TestAllocations_Watch(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too; make test runs this without it")
	}
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		tell := func() float64 { return testing.AllocsPerRun(500, func() { r.ledger.TellWatchers(&n) }) }
		if got := tell(); got != 0 {
			t.Errorf("%.0f allocations to tell nobody", got)
		}
		r.ledger.Watch(t.Context(), nil)
		if got := tell(); got != 0 {
			t.Errorf("%.0f allocations to tell one who knows", got)
		}
	})
}
