package ledger

import (
	"testing"
	"time"
)

var (
	gateTime    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	answered    = Result{Outcome: Accepted, Phase: Answered}
	refused     = Result{Outcome: Rejected, Phase: Answered}
	unreachable = Result{Outcome: Deferred, Fault: FaultUnreachable, Phase: NotWritten}
	timedOut    = Result{Outcome: Ambiguous, Phase: Written, Reason: ReasonNoAnswer}
)

func throttled(after time.Duration) Result {
	return Result{Outcome: Deferred, Fault: FaultThrottled, Phase: Answered, RetryAfter: after}
}

func TestGate_OneRejectedOrLostMessagePausesNobody(t *testing.T) {
	for _, r := range []Result{answered, refused, timedOut, {Outcome: Deferred, Phase: Answered}, {}} {
		var g Gate
		if g.Report(r, false, gateTime) || !g.Open() || g.Enter(gateTime) != Free {
			t.Errorf("%+v closed the gate", r)
		}
	}
}

func TestGate_ProbesDoubleToFiveMinutes(t *testing.T) {
	var g Gate
	now := gateTime
	if !g.Report(unreachable, false, now) {
		t.Fatal("closing is no change")
	}
	for i, want := range []time.Duration{5, 10, 20, 40, 80, 160, 300, 300} {
		want *= time.Second
		if got := g.Until().Sub(now); got != want {
			t.Fatalf("probe %d after %v, want %v", i+1, got, want)
		}
		if g.Enter(now.Add(want-time.Millisecond)) != Shut {
			t.Fatalf("probe %d: passes before its time", i+1)
		}
		now = now.Add(want)
		if !g.Ready(now) || g.Enter(now) != AsProbe {
			t.Fatalf("probe %d does not pass", i+1)
		}
		if g.Enter(now) != Shut || g.Ready(now) || !g.Until().IsZero() {
			t.Fatalf("probe %d: a second row passes beside it", i+1)
		}
		if g.Report(unreachable, true, now) {
			t.Fatalf("probe %d: closed stays closed is no change", i+1)
		}
	}
	g.Enter(now.Add(lastProbe))
	if !g.Report(refused, true, now.Add(lastProbe)) || !g.Open() {
		t.Error("an answer that refuses the row opens the gate: the provider works")
	}
	g.Report(unreachable, false, now)
	if got := g.Until().Sub(now); got != firstProbe {
		t.Errorf("a new closing starts at %v", got)
	}
}

func TestGate_RetryAfterIsClamped(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{
		0: firstProbe, time.Millisecond: time.Second, 30 * time.Second: 30 * time.Second, time.Hour: time.Hour,
		time.Hour + time.Second: time.Hour, 1<<63 - 1: time.Hour,
	} {
		var g Gate
		g.Report(throttled(after), false, gateTime)
		if got := g.Until().Sub(gateTime); got != want {
			t.Errorf("Retry-After %v: waits %v, want %v", after, got, want)
		}
	}
}

func TestGate_FaultsOfRowsInFlightDoNotDouble(t *testing.T) {
	var g Gate
	for range 50 {
		g.Report(unreachable, false, gateTime)
	}
	if got := g.Until().Sub(gateTime); got != firstProbe {
		t.Errorf("fifty rows in flight moved the first probe to %v", got)
	}
}

func TestGate_ProbeWithoutAnswerWaitsOn(t *testing.T) {
	var g Gate
	g.Report(unreachable, false, gateTime)
	now := gateTime.Add(firstProbe)
	g.Enter(now)
	if g.Report(timedOut, true, now) || g.Open() {
		t.Error("a time-out opens the gate")
	}
	if got := g.Until().Sub(now); got != 2*firstProbe {
		t.Errorf("the next probe goes after %v", got)
	}
	g.Report(timedOut, false, now) // of a row that was in flight before the gate closed
	if got := g.Until().Sub(now); got != 2*firstProbe {
		t.Errorf("a time-out that is no probe moved the next probe to %v", got)
	}
}

func TestGate_WithdrawnProbeIsGivenBack(t *testing.T) {
	var g Gate
	g.Report(unreachable, false, gateTime)
	now := gateTime.Add(firstProbe)
	if g.Enter(now) != AsProbe {
		t.Fatal("no probe")
	}
	g.Withdraw()
	if g.Enter(now) != AsProbe {
		t.Error("a probe that was not sent blocks the gate")
	}
}

func TestGate_OldAnswerOpensIt(t *testing.T) {
	var g Gate
	g.Report(unreachable, false, gateTime)
	if !g.Report(answered, false, gateTime.Add(time.Second)) || !g.Open() {
		t.Error("an answer of a row in flight shows that the provider works")
	}
}

// Keeps out F13: a 429 whose Retry-After is forgotten as soon as a request that was in flight beside it is answered.
func TestGate_OldAnswerDoesNotTakeBackARefusalOfAll(t *testing.T) {
	for _, fault := range []Fault{FaultThrottled, FaultCredentials, FaultAccount, FaultUnexpectedReply} {
		var g Gate
		g.Report(Result{Outcome: Deferred, Fault: fault, Phase: Answered}, false, gateTime)
		if g.Report(answered, false, gateTime) || g.Open() {
			t.Errorf("%s: an answer of a row in flight opens the gate", fault)
		}
		now := g.Until()
		if g.Enter(now) != AsProbe || !g.Report(answered, true, now) || !g.Open() {
			t.Errorf("%s: the probe's answer does not open the gate", fault)
		}
	}
}

func TestGate_PersonsPauseEndsOnlyByAPerson(t *testing.T) {
	var g Gate
	g.Pause(Pause{Provider: "a", Actor: "ops", Reason: "contract"})
	for _, r := range []Result{answered, unreachable, refused} {
		g.Report(r, false, gateTime)
		if g.Open() || g.Enter(gateTime.Add(1000*time.Hour)) != Shut || g.Ready(gateTime.Add(1000*time.Hour)) || !g.Until().IsZero() {
			t.Fatalf("%+v opened a person's pause", r)
		}
	}
	if s := g.Status(); s.State != "paused" || s.Reason != "contract" || s.By != "ops" {
		t.Errorf("status %+v", s)
	}
	g.Resume()
	if !g.Open() || g.Enter(gateTime) != Free {
		t.Error("resume does not open it")
	}
}

func TestGate_Status(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{NoFault, "open"}, {FaultUnreachable, "slowed"}, {FaultThrottled, "slowed"},
		{FaultCredentials, "paused"}, {FaultAccount, "paused"}, {FaultUnexpectedReply, "paused"},
	} {
		var g Gate
		g.Report(Result{Outcome: Deferred, Fault: c.fault, Phase: Answered}, false, gateTime)
		s := g.Status()
		if s.State != c.want || s.Reason != string(c.fault) {
			t.Errorf("%q: %+v, want %s", c.fault, s, c.want)
		}
		if c.fault != NoFault && (s.By != "sendonce" || s.Until.IsZero()) {
			t.Errorf("%q: %+v names neither who nor until when", c.fault, s)
		}
	}
}

// A probe that is on its way when a person resumes still counts: two at once would be no probe.
func TestGate_ResumeLetsNoSecondProbePass(t *testing.T) {
	var g Gate
	g.Report(unreachable, false, gateTime)
	now := gateTime.Add(firstProbe)
	if g.Enter(now) != AsProbe {
		t.Fatal("no probe passes")
	}
	g.Resume()
	g.Report(unreachable, false, now) // another row, sent freely since, closes it again
	now = now.Add(firstProbe)
	if e := g.Enter(now); e != Shut {
		t.Errorf("entry %d while the first probe is on its way", e)
	}
	g.Report(unreachable, true, now)
	if e := g.Enter(now.Add(lastProbe)); e != AsProbe {
		t.Errorf("entry %d after the first probe ended", e)
	}
}
