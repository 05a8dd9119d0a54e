package ledger

import (
	"testing"
	"time"
)

var decideTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func closingOf(r Result, change func(*closing)) closing {
	in := closing{
		row: Notification{
			State: StateSending, Provider: "a", AttemptCount: 1, ExpiresAt: decideTime.Add(72 * time.Hour), Channel: SMS,
		},
		attempt: Attempt{Number: 1, Kind: KindSend, Provider: "a", EndedAt: decideTime},
		result:  r, first: "a", ladder: []time.Duration{time.Minute, time.Hour}, random: 0.5,
		unknownAction: DoPolicy, unknownDue: decideTime.Add(20 * time.Second),
	}
	if len(r.MessageIDs) > 0 {
		in.attempt.MessageID = r.MessageIDs[0]
	}
	if change != nil {
		change(&in)
	}
	return in
}

func TestDecideClose(t *testing.T) {
	deferred := Result{Outcome: Deferred, Phase: Answered}
	fault := Result{Outcome: Deferred, Fault: FaultUnreachable, Phase: NotWritten}
	lost := Result{Outcome: Ambiguous, Reason: ReasonNoAnswer, Phase: Written}
	for _, c := range []struct {
		name   string
		result Result
		change func(*closing)
		facts  CloseFacts
		want   Change // State, Reason, MaybeSent, NextAction, DueAt, Provider, Deferrals, Tried, MessageID, Delivery
	}{
		{name: "accepted", result: Result{Outcome: Accepted, Phase: Answered, MessageIDs: []string{"m1"}},
			want: Change{State: StateSent, MessageID: "m1", Provider: "a"}},
		{name: "accepted without an id", result: Result{Outcome: Accepted, Phase: Answered},
			want: Change{State: StateSent, Provider: "a"}},
		{name: "accepted clears maybe_sent", result: answered, change: func(in *closing) { in.row.MaybeSent = true },
			want: Change{State: StateSent, Provider: "a"}},
		{name: "accepted with another row's id", result: Result{Outcome: Accepted, MessageIDs: []string{"m1"}}, facts: CloseFacts{Shared: true},
			want: Change{State: StateSent, Reason: ReasonMessageIDShared, MessageID: "m1", Provider: "a"}},
		{name: "accepted after its receipt", result: answered, facts: CloseFacts{Proven: []int{1}, Highest: Delivered},
			want: Change{State: StateSent, Provider: "a", Delivery: Delivered}},
		{name: "lost, but its receipt is there", result: lost, facts: CloseFacts{Proven: []int{1}, Highest: Undelivered},
			want: Change{State: StateSent, Reason: ReasonProof, Provider: "a", Delivery: Undelivered}},
		{name: "rejected, but its receipt is there", result: refused, facts: CloseFacts{Proven: []int{1}},
			want: Change{State: StateSent, Reason: ReasonProof, Provider: "a"}},
		{name: "rejected", result: refused, want: Change{State: StateFailed, Reason: ReasonRejected, Provider: "a"}},
		{name: "rejected, but an older attempt may have gone out", result: refused, change: func(in *closing) { in.row.MaybeSent = true },
			want: Change{State: StateFailed, Reason: ReasonRejected, MaybeSent: true, Provider: "a"}},
		{name: "deferred", result: deferred,
			want: Change{State: StateClaimed, Reason: ReasonRetry, NextAction: DoSend, DueAt: decideTime.Add(time.Minute), Provider: "a", Deferrals: 1}},
		{name: "deferred twice", result: deferred, change: func(in *closing) { in.row.Deferrals = 1 },
			want: Change{State: StateClaimed, Reason: ReasonRetry, NextAction: DoSend, DueAt: decideTime.Add(time.Hour), Provider: "a", Deferrals: 2}},
		{name: "exhausted", result: deferred, change: func(in *closing) { in.row.Deferrals = 2 },
			want: Change{State: StateFailed, Reason: ReasonExhausted, Provider: "a", Deferrals: 2, Tried: "a"}},
		{name: "due never later than expiry", result: deferred, change: func(in *closing) { in.row.ExpiresAt = decideTime.Add(time.Second) },
			want: Change{State: StateClaimed, Reason: ReasonRetry, NextAction: DoSend, DueAt: decideTime.Add(time.Second), Provider: "a", Deferrals: 1}},
		{name: "deferred with another provider", result: deferred, change: func(in *closing) { in.next, in.first = "b", "" },
			want: Change{State: StateClaimed, Reason: ReasonRetry, NextAction: DoSend, DueAt: decideTime, Provider: "b", Tried: "a"}},
		{name: "all were tried: back to the first after the wait", result: deferred,
			change: func(in *closing) { in.attempt.Provider, in.row.Provider, in.row.Tried = "b", "b", "a" },
			want:   Change{State: StateClaimed, Reason: ReasonRetry, NextAction: DoSend, DueAt: decideTime.Add(time.Minute), Provider: "a", Deferrals: 1}},
		{name: "the provider's fault", result: fault,
			want: Change{State: StateClaimed, Reason: ReasonProviderPaused, NextAction: DoSend, DueAt: decideTime, Provider: "a"}},
		{name: "the provider's fault uses no step", result: fault, change: func(in *closing) { in.row.Deferrals = 2 },
			want: Change{State: StateClaimed, Reason: ReasonProviderPaused, NextAction: DoSend, DueAt: decideTime, Provider: "a", Deferrals: 2}},
		{name: "the provider's fault with another provider", result: fault, change: func(in *closing) { in.next, in.first = "b", "" },
			want: Change{State: StateClaimed, Reason: ReasonRetry, NextAction: DoSend, DueAt: decideTime, Provider: "b", Tried: "a"}},
		{name: "lost", result: lost,
			want: Change{State: StateAmbiguous, Reason: ReasonNoAnswer, MaybeSent: true, NextAction: DoPolicy, DueAt: decideTime.Add(20 * time.Second), Provider: "a"}},
		{name: "an adapter that forgets everything", result: Result{},
			want: Change{State: StateAmbiguous, Reason: ReasonUnlistedAnswer, MaybeSent: true, NextAction: DoPolicy, DueAt: decideTime.Add(20 * time.Second), Provider: "a"}},
		{name: "partial keeps its first id", result: Result{Outcome: Ambiguous, Reason: ReasonPartial, MessageIDs: []string{"p1"}},
			want: Change{State: StateAmbiguous, Reason: ReasonPartial, MaybeSent: true, NextAction: DoPolicy, DueAt: decideTime.Add(20 * time.Second), Provider: "a", MessageID: "p1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkChange(t, decideClose(closingOf(c.result, c.change), c.facts), c.want)
		})
	}
}

// Only accepted counts: whatever else a repeat brings, it leads back to ambiguous and never to a send.
func TestDecideClose_Repeat(t *testing.T) {
	repeat := func(in *closing) {
		in.row.MaybeSent, in.row.Deferrals, in.next = true, 1, "b"
		in.attempt.Kind = KindRepeat
	}
	back := func(reason Reason) Change {
		return Change{State: StateAmbiguous, Reason: reason, MaybeSent: true, NextAction: DoPolicy, DueAt: decideTime.Add(20 * time.Second), Provider: "a", Deferrals: 2}
	}
	for _, c := range []struct {
		name   string
		result Result
		facts  CloseFacts
		want   Change
	}{
		{"accepted", answered, CloseFacts{}, Change{State: StateSent, Provider: "a", Deferrals: 1}},
		{"rejected", refused, CloseFacts{}, back(ReasonRepeatRejected)},
		{"deferred", Result{Outcome: Deferred, Phase: Answered}, CloseFacts{}, back(ReasonRepeatDeferred)},
		{"provider's fault", unreachable, CloseFacts{}, back(ReasonRepeatDeferred)},
		{"throttled", throttled(time.Minute), CloseFacts{}, back(ReasonRepeatDeferred)},
		{"lost again", timedOut, CloseFacts{}, back(ReasonRepeatAmbiguous)},
		{"rejected, but a receipt came meanwhile", refused, CloseFacts{Proven: []int{1}}, Change{State: StateSent, Reason: ReasonProof, Provider: "a", Deferrals: 1}},
	} {
		t.Run(c.name, func(t *testing.T) { checkChange(t, decideClose(closingOf(c.result, repeat), c.facts), c.want) })
	}
}

func checkChange(t *testing.T, got, want Change) {
	t.Helper()
	if want.State == StateSent {
		want.ConfirmedAt = decideTime
	}
	want.At = decideTime
	if got.Settlement != nil {
		t.Error("an attempt is no settlement")
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
