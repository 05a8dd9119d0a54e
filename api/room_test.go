package api

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Batches on all connections at once took 666 MiB: bodies had no common bound.
func TestRoom_BoundsWhatIsInWorkAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStub()
		var entered atomic.Int32
		goOn := make(chan struct{})
		s.claim = func(context.Context) {
			entered.Add(1)
			<-goOn
		}
		a := New(s, Settings{Keys: testKeys, Limits: Limits{Bodies: 2 * batchWeight}}, quiet())
		answers := make(chan answer, 8)
		post := func(path, body string) {
			go func() { answers <- answerOf(t, a, "POST", path, body, bearer("shop")) }()
			synctest.Wait()
		}
		seen := func(want int32, what string) {
			t.Helper()
			if n := entered.Load(); n != want {
				t.Errorf("%s: %d requests came through, want %d", what, n, want)
			}
		}
		for range 3 {
			post("/v1/notifications/batch", batchOf(item("evt_1")))
		}
		post("/v1/notifications", claimOf(`"event_id":"evt_2"`)+strings.Repeat(" ", smallBody))
		seen(2, "three batches and a large event where two batches have room")
		post("/v1/notifications", claimOf(`"event_id":"evt_3"`))
		seen(3, "a small event, which needs none")
		for range 3 {
			goOn <- struct{}{}
		}
		synctest.Wait()
		seen(5, "those that waited, once there was room")
		close(goOn)
		for range 5 {
			if got := <-answers; got.status/100 != 2 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
	})
}

func TestRoom_ALineThatDoesNotMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStub()
		goOn := make(chan struct{})
		s.claim = func(context.Context) { <-goOn }
		a := New(s, Settings{Keys: testKeys, Limits: Limits{Bodies: batchWeight}}, quiet())
		go answerOf(t, a, "POST", "/v1/notifications/batch", batchOf(item("evt_1")), bearer("shop"))
		synctest.Wait()
		began := time.Now()
		got := answerOf(t, a, "POST", "/v1/notifications/batch", batchOf(item("evt_2")), bearer("shop"))
		if took := time.Since(began); got.status != 429 || got.header.Get("Retry-After") != "1" || took != 5*time.Second {
			t.Errorf("%d after %v: %v %s", got.status, took, got.header, got.body)
		}
		close(goOn)
		synctest.Wait()
		if len(s.events) != 1 {
			t.Errorf("%d events came through, want only the first", len(s.events))
		}
		if got = answerOf(t, a, "POST", "/v1/notifications/batch", batchOf(item("evt_2")), bearer("shop")); got.status != 200 {
			t.Errorf("the same again: %d %s", got.status, got.body)
		}
	})
}
