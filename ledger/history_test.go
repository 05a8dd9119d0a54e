package ledger_test

import (
	"testing"
	"time"

	"sendonce/ledger"
)

func TestHistory_CountsWhatHappened(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*rig)
		do   func(*rig)
		want ledger.Counts
	}{
		"accepted": {do: func(r *rig) { r.claim("e1") }, want: ledger.Counts{Claims: 1, Accepted: 1}},
		"repeated": {do: func(r *rig) { r.claim("e1"); r.claim("e1"); r.claim("e1") }, want: ledger.Counts{Claims: 1, Accepted: 1, Suppressed: 2}},
		"rejected": {do: func(r *rig) {
			r.scripts["a"].then(rejected)
			r.claim("e1")
		}, want: ledger.Counts{Claims: 1, Rejected: 1}},
		"deferred":     {do: func(r *rig) { r.scripts["a"].then(deferred); r.claim("e1") }, want: ledger.Counts{Claims: 1, Deferred: 1}},
		"ambiguous":    {do: func(r *rig) { r.scripts["a"].then(lost); r.claim("e1") }, want: ledger.Counts{Claims: 1, Ambiguous: 1}},
		"by a person":  {do: func(r *rig) { r.scripts["a"].then(lost); r.decide(r.claim("e1"), ledger.CauseConfirm) }, want: ledger.Counts{Claims: 1, Ambiguous: 1, ByPerson: 1}},
		"held is none": {do: func(r *rig) { r.pause("a"); r.decide(r.claim("e1"), ledger.CauseHold) }, want: ledger.Counts{Claims: 1}},
		"by a receipt": {do: func(r *rig) {
			r.scripts["a"].then(lost)
			n := r.claim("e1")
			r.prove(receipt(n, 1, "delivered", ledger.Delivered))
			r.prove(receipt(n, 1, "read", ledger.Delivered))
		}, want: ledger.Counts{Claims: 1, Ambiguous: 1, ByEvidence: 1}},
		"by a repeat": {
			set: func(r *rig) { r.scripts["a"].window = time.Hour },
			do: func(r *rig) {
				r.scripts["a"].then(lost)
				r.claim("e1")
				r.scripts["a"].then(accepted("m1"))
				r.advance(time.Minute)
			}, want: ledger.Counts{Claims: 1, Ambiguous: 1, Accepted: 1, ByEvidence: 1},
		},
		"by a policy": {
			set: func(r *rig) {
				r.sms(func(c *ledger.ChannelSettings) { c.OnAmbiguous, c.After = ledger.OnAmbiguousAbandon, time.Minute })
			},
			do: func(r *rig) {
				r.scripts["a"].then(lost)
				r.claim("e1")
				r.advance(2 * time.Minute)
			}, want: ledger.Counts{Claims: 1, Ambiguous: 1, ByPolicy: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.set, func(t *testing.T, r *rig) {
				c.do(r)
				for _, provider := range []string{"", "a"} {
					h := r.ledger.History(provider)
					if h.LastHour() != c.want || h.LastDay() != c.want {
						t.Errorf("provider %q: %+v in the hour, %+v in the day, want %+v", provider, h.LastHour(), h.LastDay(), c.want)
					}
				}
				if h := r.ledger.History("b"); h.LastDay() != (ledger.Counts{}) {
					t.Errorf("another provider: %+v", h.LastDay())
				}
			})
		})
	}
}

// decide settles a row as a person.
func (r *rig) decide(n ledger.Notification, c ledger.Cause) {
	r.t.Helper()
	if _, err := r.act(n, ledger.Act{Action: c}); err != nil {
		r.t.Fatal(err)
	}
}

func TestHistory_SpansFollowTheClock(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.claim("e1")
		r.advance(30 * time.Minute)
		r.claim("e2")
		r.claim("e3")
		h := r.ledger.History("")
		if len(h.Hour) != 60 || len(h.Day) != 96 {
			t.Fatalf("%d minutes, %d quarters", len(h.Hour), len(h.Day))
		}
		if h.Hour[59].Claims != 2 || h.Hour[29].Claims != 1 || h.Day[95].Claims != 2 || h.Day[93].Claims != 1 {
			t.Errorf("the spans are %+v", h)
		}
		if last := h.Hour[59].At; last.After(h.At) || h.At.Sub(last) >= time.Minute || h.Hour[58].At != last.Add(-time.Minute) {
			t.Errorf("at %v the last minute begins at %v, the one before at %v", h.At, last, h.Hour[58].At)
		}
		r.advance(time.Hour)
		if h := r.ledger.History(""); h.LastHour() != (ledger.Counts{}) || h.LastDay().Claims != 3 {
			t.Errorf("an hour later: %+v in the hour, %+v in the day", h.LastHour(), h.LastDay())
		}
		r.advance(25 * time.Hour)
		if h := r.ledger.History(""); h.LastDay() != (ledger.Counts{}) || h.Since.After(h.At.Add(-26*time.Hour)) {
			t.Errorf("a day later: %+v since %v", h.LastDay(), h.Since)
		}
	})
}

// A repeat in known words, which is answered without being read, counts as any other does.
func TestHistory_CountsRepeatsInParts(t *testing.T) {
	bubble(t, func(r *rig) {
		r.scripts["a"].disguise = func(s *script) ledger.Provider { return parted{s} }
	}, func(t *testing.T, r *rig) {
		r.claim("e1")
		words := func(e *ledger.Event) { e.Hash = ledger.EventHash{1} }
		r.claim("e1", words)
		if _, ok := r.ledger.Known(ledger.EventHash{1}, "shop"); !ok {
			t.Fatal("not known")
		}
		if h := r.ledger.History("a"); h.Repeats != (ledger.Repeats{Count: 2, Parts: 6}) || h.LastHour().Suppressed != 2 {
			t.Errorf("%+v, %d in the hour", h.Repeats, h.LastHour().Suppressed)
		}
	})
}

// parted is a provider that sends every text in three parts.
type parted struct{ *script }

func (parted) Segments([]byte) ledger.Segments { return ledger.Segments{Encoding: "GSM-7", Count: 3} }

func TestAllocations_Tally(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too; make test runs this without it")
	}
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		if got := testing.AllocsPerRun(500, func() { r.ledger.Tally(&n) }); got != 0 {
			t.Errorf("%.0f allocations to count a claim, a repeat and an attempt", got)
		}
	})
}

// A start does not empty the plots: what the newest rows tell is counted again, each thing once.
func TestHistory_OutlivesARestart(t *testing.T) {
	bubble(t, func(r *rig) { r.scripts["a"].window = time.Hour }, func(t *testing.T, r *rig) {
		r.claim("e1")
		r.claim("e1")
		r.scripts["a"].then(lost)
		r.decide(r.claim("e2"), ledger.CauseConfirm)
		r.prove(receipt(r.claim("e3"), 1, "delivered", ledger.Delivered))
		repeated := r.claim("e4")
		r.scripts["a"].then(accepted("m1"))
		r.advance(20 * time.Minute)
		r.expect(repeated, ledger.StateSent, "")
		r.scripts["a"].then(rejected)
		r.claim("e5")
		before := r.ledger.History("a")
		r.stop()
		r.advance(10 * time.Minute)
		r.start()
		r.scripts["a"].then(accepted(""))
		r.claim("e6")
		after := r.ledger.History("a")
		want := before.LastDay()
		want.Suppressed = 0 // of repeats the ledger keeps a count alone
		want.Claims++
		want.Accepted++
		if after.LastDay() != want || want.ByEvidence != 2 || want.ByPerson != 1 || want.Claims != 6 {
			t.Errorf("after the restart %+v, want %+v", after.LastDay(), want)
		}
		if after.Hour[49].Rejected != 1 || after.Hour[59].Accepted != 1 {
			t.Errorf("the spans are %+v", after.Hour)
		}
		if v := r.view("a"); v.Latency.Answers != before.LastDay().Accepted+before.LastDay().Rejected+1 {
			t.Errorf("answers: %+v", v.Latency)
		}
		r.stop()
		r.advance(25 * time.Hour)
		r.start()
		if h := r.ledger.History("a"); h.LastDay() != (ledger.Counts{}) {
			t.Errorf("a day later: %+v", h.LastDay())
		}
	})
}
