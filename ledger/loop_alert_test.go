package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// hook is an operator that keeps what it was told.
type hook struct {
	mu     sync.Mutex
	tried  []ledger.Alert // each time
	taken  []ledger.Alert
	answer func(context.Context) error // nil: it takes everything
}

func (h *hook) Tell(ctx context.Context, a ledger.Alert, _ time.Time) error {
	h.mu.Lock()
	h.tried = append(h.tried, a)
	answer := h.answer
	h.mu.Unlock()
	if answer != nil {
		if err := answer(ctx); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken = append(h.taken, a)
	return nil
}

func (h *hook) then(answer func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

// of lists what was taken of one kind.
func (h *hook) of(kind ledger.AlertKind) (list []ledger.Alert) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.taken {
		if a.Kind == kind {
			list = append(list, a)
		}
	}
	return list
}

// tries is how often it was called.
func (h *hook) tries() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tried)
}

// alerts is bubble with an operator and a log that is kept.
func alerts(t *testing.T, set func(*rig), body func(*testing.T, *rig, *hook, *lines)) {
	t.Helper()
	var log lines
	h := &hook{}
	bubble(t, func(r *rig) {
		r.log, r.settings.Operator = log.logger(), h
		if set != nil {
			set(r)
		}
	}, func(t *testing.T, r *rig) { body(t, r, h, &log) })
}

var errHook = errors.New("the hook is down")

// A row is told once, when it begins to wait for a person: not before its evidence has ended, not again by what follows.
func TestAlert_ARowBeginsToWait(t *testing.T) {
	for name, c := range map[string]struct {
		set   func(*rig)
		after time.Duration // when it waits for a person; zero: never
	}{
		"nothing to ask":        {nil, time.Second},
		"repeats under its key": {func(r *rig) { r.scripts["a"].window = 10 * time.Minute }, 4 * time.Minute},
		"a policy decides": {func(r *rig) {
			r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousAbandon, time.Hour })
		}, 0},
		"a policy sends it once": {func(r *rig) {
			r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousSendAgain, time.Hour })
		}, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			alerts(t, c.set, func(t *testing.T, r *rig, h *hook, log *lines) {
				r.scripts["a"].then(lost)
				n := r.claim("e1")
				if c.after > time.Minute {
					r.advance(c.after / 2)
					if got := h.tries(); got != 0 {
						t.Fatalf("told %d times while evidence may still come: %+v", got, h.tried)
					}
				}
				r.advance(8 * time.Hour)
				want := 1
				if c.after == 0 {
					want = 0
				}
				told := h.of(ledger.AlertWaiting)
				if len(told) != want || h.tries() != want || log.has("a person is needed") != want {
					t.Fatalf("told %+v, %d lines", told, log.has("a person is needed"))
				}
				if want == 0 {
					return
				}
				row := r.row(n)
				s := told[0].Subjects
				if told[0].Count != 1 || len(s) != 1 || s[0].ID != n.ID || s[0].Provider != "a" || s[0].Channel != ledger.SMS ||
					s[0].State != "ambiguous" || s[0].Reason != string(row.Reason) || !s[0].Since.Equal(row.UpdatedAt) {
					t.Errorf("told %+v of %+v", told[0], row.Notification)
				}
				if late := told[0].At.Sub(s[0].Since); late < 0 || late > 2*time.Second {
					t.Errorf("told %v after it began", late)
				}
			})
		})
	}
}

// A flood is a few alerts, whose counts are exact.
func TestAlert_AFloodIsOneAlertForHalfAMinute(t *testing.T) {
	alerts(t, nil, func(t *testing.T, r *rig, h *hook, log *lines) {
		r.scripts["a"].then(lost)
		const rows = 300
		var first ledger.Notification
		for i := range rows {
			if n := r.claim(fmt.Sprint("e", i)); i == 0 {
				first = n
			}
			r.advance(time.Minute / rows)
		}
		r.advance(time.Minute)
		var count int64
		told := h.of(ledger.AlertWaiting)
		for _, a := range told {
			count += a.Count
			if len(a.Subjects) > ledger.MaxSubjects || len(a.Subjects) < ledger.MaxSubjects && a.Count > int64(len(a.Subjects)) {
				t.Errorf("%d of %d are named", len(a.Subjects), a.Count)
			}
		}
		if len(told) > 4 || count != rows || told[0].Subjects[0].ID != first.ID || log.has("a person is needed") != len(told) {
			t.Errorf("%d alerts, %d lines for %d rows", len(told), log.has("a person is needed"), count)
		}
	})
}

// A hook that is down for hours costs few tries and loses no count. What it may have had comes again unchanged, under the same id.
func TestAlert_TheHookIsDownForHours(t *testing.T) {
	alerts(t, nil, func(t *testing.T, r *rig, h *hook, log *lines) {
		r.scripts["a"].then(lost)
		h.then(func(context.Context) error { return errHook })
		for i := range 60 {
			r.claim(fmt.Sprint("e", i))
			r.advance(5 * time.Minute)
		}
		tries := h.tries()
		if tries < 20 || tries > 50 || len(h.taken) != 0 {
			t.Errorf("%d tries in 5 hours", tries)
		}
		seen := map[string]ledger.Alert{}
		for _, a := range h.tried {
			if before, again := seen[a.ID]; again && (before.Count != a.Count || !slices.Equal(before.Subjects, a.Subjects) || !before.At.Equal(a.At)) {
				t.Errorf("told again as %+v, before %+v", a, before)
			}
			seen[a.ID] = a
		}
		if len(seen) > 2 || log.has("the operator was not told") != tries {
			t.Errorf("%d alerts are held for one kind, %d lines", len(seen), log.has("the operator was not told"))
		}
		h.then(nil)
		r.advance(15 * time.Minute)
		var count int64
		for _, a := range h.of(ledger.AlertWaiting) {
			count += a.Count
		}
		if count != 60 {
			t.Errorf("%d rows were told, want 60", count)
		}
	})
}

// A hook that never answers holds up neither the loop nor the stop for long.
func TestAlert_ASlowHookHoldsNobodyUp(t *testing.T) {
	alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
		h.then(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		r.scripts["a"].then(lost)
		r.claim("lost")
		r.advance(2 * time.Second)
		if h.tries() != 1 {
			t.Fatalf("%d tries", h.tries())
		}
		r.scripts["a"].then(accepted(""))
		begun := time.Now()
		for i := range 100 {
			r.expect(r.claim(fmt.Sprint("e", i)), ledger.StateSent, "")
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("100 rows took %v beside a hook that hangs", took)
		}
		r.stop()
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("the stop took %v", took)
		}
	})
}

// What begins to wait at the stop is told by it, and what waits is counted once more at the next start.
func TestAlert_StopAndStart(t *testing.T) {
	alerts(t, nil, func(t *testing.T, r *rig, h *hook, log *lines) {
		r.scripts["a"].thenDo(hang)
		first := r.claim("e0")
		for i := range 11 {
			r.advance(time.Millisecond)
			r.claim(fmt.Sprint("f", i))
		}
		r.stop() // cuts all of them
		if told := h.of(ledger.AlertWaiting); len(told) != 1 || told[0].Count != 12 {
			t.Fatalf("told at the stop: %+v", told)
		}
		r.start()
		r.advance(2 * time.Second)
		told := h.of(ledger.AlertWaiting)
		if len(told) != 2 || told[1].Count != 12 || told[1].AtLeast || len(told[1].Subjects) != ledger.MaxSubjects || told[1].ID == told[0].ID {
			t.Fatalf("told after the start: %+v", told)
		}
		if s := told[1].Subjects[0]; s.ID != first.ID || !s.Since.Equal(r.row(first).UpdatedAt) {
			t.Errorf("the oldest is told as %+v", s)
		}
		r.advance(time.Hour)
		if h.tries() != 2 || log.has("a person is needed") != 2 {
			t.Errorf("%d tries", h.tries())
		}
	})
}

// A gate that only a person can help is told at once, one that passes by itself once it has lasted, a person's pause always.
func TestAlert_Gates(t *testing.T) {
	for name, c := range map[string]struct {
		result ledger.Result
		state  string
		after  time.Duration
	}{
		"credentials": {credentials, "paused", time.Second},
		"unreachable": {unreachable, "slowed", 5 * time.Minute},
		"throttled":   {throttled(20 * time.Second), "slowed", 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
				closed := time.Now()
				r.scripts["a"].then(c.result)
				r.claim("e1")
				r.advance(c.after - 500*time.Millisecond)
				if h.tries() != 0 {
					t.Errorf("told after %v: %+v", c.after, h.tried)
				}
				r.advance(2 * time.Hour)
				told := h.of(ledger.AlertGate)
				if len(told) != 1 || told[0].Count != 1 {
					t.Fatalf("told %+v", told)
				}
				s := told[0].Subjects[0]
				if s.Provider != "a" || s.State != c.state || s.Reason != name || s.By != "sendonce" || s.Since.Sub(closed).Abs() > time.Millisecond {
					t.Errorf("told %+v", s)
				}
				r.scripts["a"].then(accepted(""))
				r.advance(6 * time.Minute)
				r.scripts["a"].then(c.result)
				r.claim("e2") // closed anew
				r.advance(c.after + 2*time.Minute)
				if told := h.of(ledger.AlertGate); len(told) != 2 {
					t.Errorf("told %+v after it had closed a second time", told)
				}
			})
		})
	}
	t.Run("short outage", func(t *testing.T) {
		alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
			r.scripts["a"].then(unreachable)
			r.claim("e1")
			r.advance(2 * time.Minute)
			r.scripts["a"].then(accepted(""))
			r.advance(time.Hour)
			if h.tries() != 0 {
				t.Errorf("told %+v", h.tried)
			}
		})
	})
	t.Run("nobody asks it again", func(t *testing.T) {
		alerts(t, twoProviders, func(t *testing.T, r *rig, h *hook, _ *lines) {
			r.scripts["a"].then(unreachable)
			r.expect(r.claim("e1"), ledger.StateSent, "") // by the other one
			r.advance(2 * time.Hour)
			if h.tries() != 0 {
				t.Errorf("told %+v: nobody knows whether it lasts", h.tried)
			}
		})
	})
	t.Run("by a person", func(t *testing.T) {
		alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
			if _, err := r.ledger.Pause(context.Background(), "a", "ada", "call +15550100001 first"); err != nil {
				t.Fatal(err)
			}
			r.advance(time.Hour)
			told := h.of(ledger.AlertGate)
			if len(told) != 1 || told[0].Subjects[0].By != "ada" || told[0].Subjects[0].Reason != "" || told[0].Subjects[0].State != "paused" {
				t.Errorf("told %+v: what a person wrote stays inside", told)
			}
		})
	})
}

func TestAlert_ExhaustedAndDuplicates(t *testing.T) {
	alerts(t, nil, func(t *testing.T, r *rig, h *hook, _ *lines) {
		a := r.scripts["a"]
		a.then(deferred)
		n := r.claim("e1")
		a.then(rejected)
		r.claim("e2") // told to its caller, not to an operator
		a.then(deferred)
		r.advance(24 * time.Hour)
		r.expect(n, ledger.StateFailed, ledger.ReasonExhausted)
		if told := h.of(ledger.AlertExhausted); len(told) != 1 || told[0].Count != 1 || told[0].Subjects[0].ID != n.ID || h.tries() != 1 {
			t.Fatalf("told %+v", h.tried)
		}

		a.then(lost)
		twice := r.claim("e3")
		if _, err := r.act(twice, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(twice).Version}); err != nil {
			t.Fatal(err)
		}
		r.prove(receipt(twice, 1, "delivered", ledger.Delivered))
		r.prove(receipt(twice, 2, "delivered", ledger.Delivered))
		r.prove(receipt(twice, 2, "delivered", ledger.Delivered))
		r.advance(2 * time.Second)
		if told := h.of(ledger.AlertDuplicate); len(told) != 1 || told[0].Count != 1 || told[0].Subjects[0].ID != twice.ID {
			t.Fatalf("told %+v", h.tried)
		}

		late := r.claim("e4") // its first attempt is proven while the second is under way
		a.thenDo(func(ctx context.Context, c *call) ledger.Result {
			time.Sleep(10 * time.Second)
			return accepted("m2")
		})
		if _, err := r.act(late, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(late).Version}); err != nil {
			t.Fatal(err)
		}
		r.prove(receipt(late, 1, "delivered", ledger.Delivered))
		r.advance(time.Minute)
		synctest.Wait()
		if told := h.of(ledger.AlertDuplicate); len(told) != 2 || told[1].Subjects[0].ID != late.ID {
			t.Errorf("told %+v", told)
		}
	})
}
