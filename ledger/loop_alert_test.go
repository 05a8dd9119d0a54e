package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sendonce/ledger"
)

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

// While looks are still to come nobody is told; the last one that finds nothing tells.
func TestAlert_AfterTheLastLook(t *testing.T) {
	h := &hook{}
	looking(t, byReference, func(r *rig) { r.settings.Operator = h }, func(t *testing.T, r *rig, _ *finder, n ledger.Notification) {
		r.advance(29 * time.Minute)
		if h.tries() != 0 {
			t.Fatalf("told %+v before the last look", h.tried)
		}
		r.advance(24 * time.Hour)
		if told := h.of(ledger.AlertWaiting); len(told) != 1 || told[0].Subjects[0].ID != n.ID || h.tries() != 1 {
			t.Errorf("told %+v", h.tried)
		}
	})
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
