//go:build linux

package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func soakOf(change func(i int, t *tenth)) []tenth {
	all := make([]tenth, 10)
	for i := range all {
		all[i].Holding = holding{Resident: 100, Goroutines: 200, Descriptors: 150, WAL: 16}
		all[i].P99 = 20
		change(i, &all[i])
	}
	return all
}

func TestSoakTargets_EachCanPassAndMiss(t *testing.T) {
	flat := soakTargets(soakOf(func(int, *tenth) {}))
	rising := soakTargets(soakOf(func(i int, t *tenth) {
		grow := 1 + float64(i)/10
		t.Holding = holding{100 * grow, 200 * grow, 150 * grow, 16 * grow}
		t.P99 *= grow
	}))
	filling := soakTargets(soakOf(func(i int, t *tenth) {
		if i == 0 {
			t.Holding = holding{1, 1, 1, 1}
		}
	}))
	for i := range flat {
		if flat[i].Result != pass || rising[i].Result != miss || filling[i].Result != pass {
			t.Errorf("%s: flat %s, rising %s, filling at first %s", flat[i].Name, flat[i].Result, rising[i].Result, filling[i].Result)
		}
	}
	if len(flat) != 5 || soakTargets(make([]tenth, 3)) != nil {
		t.Errorf("%d targets", len(flat))
	}
}

func TestSoakReport_EveryRowHasTheColumnsOfTheHead(t *testing.T) {
	var b strings.Builder
	tenths := soakOf(func(i int, t *tenth) { t.Errors, t.Sample = int64(i), "503 draining" })
	soakReport{Top: 8000, Rate: 4000, Tenths: tenths, Targets: soakTargets(tenths)}.write(&b)
	even(t, b.String())
	for _, want := range []string{"8,000/s", " 200 |", "503 draining", "PASS"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestCountGoroutines_OfTheLastWholeTrace(t *testing.T) {
	trace := func(living int) string {
		return "\nSCHED 5000ms: gomaxprocs=2\n  P0: status=0\n  M1: p=0\n" + strings.Repeat("  G7: status=4(select) m=nil lockedm=nil\n", living) +
			"  G9: status=6() m=nil lockedm=nil"
	}
	for text, want := range map[string]int{"": 0, trace(3): 0, trace(3) + trace(5): 3, "gc 1 @\n" + trace(1) + trace(4) + trace(9): 4} {
		if got := countGoroutines([]byte(text)); got != want {
			t.Errorf("%d goroutines, want %d in %q", got, want, text)
		}
	}
}

// A request leaves when it is due, and one that comes late counts from when it was.
func TestLoad_RateHasRequestsLeaveInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loop{load: load{rate: 100, from: 50}, start: time.Now()}
		if at := l.due(t.Context(), 53); at.Sub(l.start) != 30*time.Millisecond || time.Since(l.start) != 30*time.Millisecond {
			t.Errorf("due after %s, waited %s", at.Sub(l.start), time.Since(l.start))
		}
		time.Sleep(time.Second)
		if at := l.due(t.Context(), 54); at.Sub(l.start) != 40*time.Millisecond || time.Since(l.start) != 1030*time.Millisecond {
			t.Errorf("a late one: due after %s, left after %s", at.Sub(l.start), time.Since(l.start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if l.due(ctx, 1e6); time.Since(l.start) != 1030*time.Millisecond {
			t.Error("an interrupted load waited")
		}
		if l.rate = 0; !l.due(t.Context(), 1e6).Equal(time.Now()) {
			t.Error("a load without a rate waited")
		}
	})
}
