package ledger

import (
	"slices"
	"testing"
)

// The table once more, written from the design and not from the code: every pair that is not here must be refused.
var designed = map[State]map[Cause]State{
	StateClaimed: {
		CauseTake: StateSending, CauseHold: StateHeld, CauseCancel: StateCancelled, CauseExpire: StateExpired,
		CauseUnbuildable: StateFailed, CauseRestored: StateAmbiguous, CauseProof: StateSent,
	},
	StateSending: {
		CauseAccepted: StateSent, CauseRejected: StateFailed, CauseDeferred: StateClaimed, CauseExhausted: StateFailed,
		CauseFault: StateClaimed, CauseAmbiguous: StateAmbiguous, CauseProcessDied: StateAmbiguous,
		CauseRepeatEnded: StateAmbiguous, CauseRestored: StateAmbiguous,
	},
	StateAmbiguous: {
		CauseRepeat: StateSending, CauseConfirm: StateSent, CauseRelease: StateClaimed, CauseAbandon: StateFailed, CauseProof: StateSent,
	},
	StateHeld: {
		CauseUnhold: StateClaimed, CauseCancel: StateCancelled, CauseExpire: StateExpired, CauseRestored: StateAmbiguous, CauseProof: StateSent,
	},
	StateFailed:    {CauseRelease: StateClaimed, CauseConfirm: StateSent, CauseProof: StateSent},
	StateExpired:   {CauseConfirm: StateSent, CauseProof: StateSent},
	StateCancelled: {CauseConfirm: StateSent, CauseProof: StateSent},
}

var allCauses = []Cause{
	CauseTake, CauseAccepted, CauseRejected, CauseDeferred, CauseExhausted, CauseFault, CauseAmbiguous, CauseProcessDied, CauseRepeat,
	CauseRepeatEnded, CauseConfirm, CauseRelease, CauseAbandon, CauseHold, CauseUnhold, CauseCancel, CauseExpire, CauseUnbuildable,
	CauseRestored, CauseProof, CauseResend,
}

func TestNext(t *testing.T) {
	for _, from := range States {
		for _, by := range allCauses {
			want, allowed := designed[from][by]
			for _, maybeSent := range []bool{false, true} {
				allowed := allowed
				if by == CauseConfirm && from.Final() && !maybeSent {
					allowed = false // what was surely not sent cannot be confirmed
				}
				got, ok := Next(from, by, maybeSent)
				if ok != allowed || ok && got != want {
					t.Errorf("Next(%s, %s, maybe_sent %v) = %q %v, want %q %v", from, by, maybeSent, got, ok, want, allowed)
				}
			}
		}
	}
}

func TestTransitions_NoLineTwice(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, tr := range Transitions {
		k := [2]string{string(tr.From), string(tr.By)}
		if seen[k] {
			t.Errorf("%s by %s stands there twice", tr.From, tr.By)
		}
		seen[k] = true
		if !tr.From.Valid() || !tr.To.Valid() {
			t.Errorf("%+v has an unknown state", tr)
		}
	}
}

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		from      State
		maybeSent bool
		want      []Cause
	}{
		{StateClaimed, false, []Cause{CauseHold, CauseCancel}},
		{StateClaimed, true, []Cause{CauseHold, CauseCancel}},
		{StateHeld, false, []Cause{CauseUnhold, CauseCancel}},
		{StateSending, false, nil},
		{StateSending, true, nil},
		{StateAmbiguous, true, []Cause{CauseConfirm, CauseRelease, CauseAbandon}},
		{StateSent, false, nil},
		{StateFailed, false, []Cause{CauseRelease}},
		{StateFailed, true, []Cause{CauseConfirm, CauseRelease}},
		{StateCancelled, false, nil},
		{StateCancelled, true, []Cause{CauseConfirm}},
		{StateExpired, false, nil},
		{StateExpired, true, []Cause{CauseConfirm}},
	} {
		if got := Allowed(c.from, c.maybeSent); !slices.Equal(got, c.want) {
			t.Errorf("Allowed(%s, %v) = %v, want %v", c.from, c.maybeSent, got, c.want)
		}
	}
}

func TestState_FinalAndValid(t *testing.T) {
	for _, s := range States {
		want := s == StateSent || s == StateFailed || s == StateCancelled || s == StateExpired
		if s.Final() != want || !s.Valid() {
			t.Errorf("%s: final %v, valid %v", s, s.Final(), s.Valid())
		}
	}
	if State("").Valid() || State("done").Valid() {
		t.Error("an unknown state is valid")
	}
}

// The zero value decides what an adapter that forgets a case causes.
func TestOutcome_ZeroIsAmbiguous(t *testing.T) {
	if (Result{}).Outcome != Ambiguous {
		t.Fatal("a forgotten outcome is not ambiguous")
	}
	for o := Ambiguous; o <= Deferred; o++ {
		if got, ok := ParseOutcome(o.String()); !ok || got != o {
			t.Errorf("ParseOutcome(%q) = %v %v", o, got, ok)
		}
	}
	if _, ok := ParseOutcome("success"); ok {
		t.Error("an unknown outcome is read")
	}
}
