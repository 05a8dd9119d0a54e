package ledger_test

import (
	"context"
	"testing"
	"time"

	"sendonce/ledger"
)

// held keeps the look from its answer until go is closed.
func (f *finder) held(list ...ledger.Found) (release func()) {
	wait := make(chan struct{})
	f.does(func(_ context.Context, searches []ledger.Search) ([][]ledger.Found, error) {
		<-wait
		out := make([][]ledger.Found, len(searches))
		for i := range out {
			out[i] = list
		}
		return out, nil
	})
	return func() { close(wait) }
}

// A person released the row while it was looked for: what is found comes before the second send, or is a proof of the first attempt
// when that runs.
func TestLook_ReleasedMeanwhile(t *testing.T) {
	t.Run("not sent again yet", func(t *testing.T) {
		looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
			answer := f.held(message("m1", 1, time.Time{}))
			r.advance(2*time.Minute + time.Second)
			if _, err := r.ledger.Pause(context.Background(), "a", "ops", "test"); err != nil {
				t.Fatal(err)
			}
			if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(n).Version}); err != nil {
				t.Fatal(err)
			}
			answer()
			r.advance(time.Second)
			r.expect(n, ledger.StateSent, ledger.ReasonProof)
			if _, err := r.ledger.Resume(context.Background(), "a", "ops"); err != nil {
				t.Fatal(err)
			}
			r.advance(time.Hour)
			if got := len(r.scripts["a"].of(n)); got != 1 {
				t.Errorf("%d requests", got)
			}
		})
	})
	for name, second := range map[string]ledger.Result{"sent again": accepted("m2"), "lost again": lost} {
		t.Run(name, func(t *testing.T) {
			looking(t, byReference, func(r *rig) { r.scripts["a"].timeout = time.Minute }, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
				answer := f.held(message("m1", 1, time.Time{}))
				r.advance(2*time.Minute + time.Second)
				r.scripts["a"].thenDo(func(context.Context, *call) ledger.Result {
					time.Sleep(30 * time.Second)
					return second
				})
				if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(n).Version}); err != nil {
					t.Fatal(err)
				}
				answer()
				r.advance(time.Second)
				if rec := r.row(n); rec.State != ledger.StateSending || len(rec.Receipts) != 1 || rec.Receipts[0].Number != 1 {
					t.Fatalf("%s with receipts %+v", rec.State, rec.Receipts)
				}
				r.advance(time.Minute)
				rec := r.row(n)
				if rec.State != ledger.StateSent || rec.Receipts[0].Number != 1 {
					t.Errorf("%s (%s)", rec.State, rec.Reason)
				}
				stats, err := r.ledger.Stats(context.Background())
				if want := map[bool]int64{true: 1, false: 0}[second.Outcome == ledger.Accepted]; err != nil || stats.ProvenTwice != want {
					t.Errorf("%d proven duplicates, want %d (%v)", stats.ProvenTwice, want, err)
				}
			})
		})
	}
}

// A reference names its attempt; one of an attempt that this ledger does not know is no proof of another.
func TestLook_ReferencesOfAttempts(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		f.finds(message("m7", 7, time.Time{}))
		r.advance(3 * time.Minute)
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		if e := verdict(t, rec); e.Verdict != "probably" || e.Why != "unknown_attempt" {
			t.Errorf("evidence %+v", e)
		}
	})
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		if _, err := r.act(n, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(n).Version}); err != nil {
			t.Fatal(err)
		}
		f.finds(message("m1", 1, time.Time{}), message("m2", 2, time.Time{}))
		r.advance(3 * time.Minute)
		rec := r.expect(n, ledger.StateSent, ledger.ReasonProof)
		stats, err := r.ledger.Stats(context.Background())
		if err != nil || stats.ProvenTwice != 1 || len(rec.Receipts) != 2 {
			t.Errorf("%d proven duplicates, %d receipts (%v): both messages were found", stats.ProvenTwice, len(rec.Receipts), err)
		}
	})
}

// A policy acts once evidence has ended: a look that is due by then goes first, and is waited for, but not for ever.
func TestLook_ThePolicyComesBehindIt(t *testing.T) {
	abandon := func(r *rig) {
		r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousAbandon, 10*time.Minute })
	}
	t.Run("found in time", func(t *testing.T) {
		looking(t, byReference, abandon, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
			r.advance(5 * time.Minute)
			answer := f.held(message("m1", 1, time.Time{}))
			r.advance(5*time.Minute + 30*time.Second)
			r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
			answer()
			r.advance(time.Second)
			r.expect(n, ledger.StateSent, ledger.ReasonProof)
		})
	})
	t.Run("not found", func(t *testing.T) {
		looking(t, byReference, abandon, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
			r.advance(10*time.Minute + time.Second)
			if rec := r.expect(n, ledger.StateFailed, ledger.ReasonAbandoned); len(evidenceOf(t, rec)) != 2 {
				t.Errorf("%d looks", len(evidenceOf(t, rec)))
			}
		})
	})
	t.Run("no answer", func(t *testing.T) {
		looking(t, byReference, abandon, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
			f.fails(&ledger.LookUpError{Fault: ledger.FaultUnreachable})
			r.advance(12 * time.Minute)
			rec := r.expect(n, ledger.StateFailed, ledger.ReasonAbandoned)
			f.finds(message("m1", 1, time.Time{}))
			r.advance(time.Hour)
			if got := r.row(n); got.Version != rec.Version {
				t.Error("a row that was abandoned is looked for")
			}
		})
	})
}

// Repeats and looks take turns by their times; a repeat that is lost again does not move the looks.
func TestLook_BetweenRepeats(t *testing.T) {
	var f *finder
	bubble(t, func(r *rig) {
		r.scripts["a"].window = time.Hour
		f = finding(r, byReference)
	}, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		r.advance(40 * time.Minute)
		rec := r.expect(n, ledger.StateAmbiguous, ledger.ReasonRepeatAmbiguous)
		if len(f.looks()) != 3 || rec.AttemptCount < 4 {
			t.Errorf("%d looks, %d attempts", len(f.looks()), rec.AttemptCount)
		}
		for i, a := range f.looks() {
			if late := a.at.Sub(rec.Attempts[0].EndedAt.Add(byReference.At[i])); late < 0 || late > time.Second {
				t.Errorf("look %d came %v late", i+1, late)
			}
		}
	})
}

// A stop waits for the look that runs, and starts none that waits.
func TestLook_AStopEndsIt(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		f.does(func(ctx context.Context, searches []ledger.Search) ([][]ledger.Found, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		r.advance(2*time.Minute + time.Second)
		began := time.Now()
		r.stop()
		if took := time.Since(began); took > 31*time.Second {
			t.Errorf("the stop took %v", took)
		}
		f.finds(message("m1", 1, time.Time{}))
		r.start()
		r.advance(5 * time.Minute)
		r.expect(n, ledger.StateSent, ledger.ReasonProof)
	})
}

// A process that dies while a row is looked for finds it looked for again.
func TestLook_AfterACrash(t *testing.T) {
	looking(t, byReference, nil, func(t *testing.T, r *rig, f *finder, n ledger.Notification) {
		answer := f.held(message("m1", 1, time.Time{}))
		r.advance(2*time.Minute + time.Second)
		copied := r.path + ".crash"
		copyLedger(t, r.path, copied)
		answer()
		r.advance(time.Second)
		r.expect(n, ledger.StateSent, ledger.ReasonProof)
		r.stop()
		r.path = copied
		r.start()
		r.expect(n, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
		r.advance(5 * time.Minute)
		r.expect(n, ledger.StateSent, ledger.ReasonProof)
	})
}
