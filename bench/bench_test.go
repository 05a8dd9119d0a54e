//go:build linux

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPercentile_NearestRank(t *testing.T) {
	var hundred latencies
	for i := 1; i <= 100; i++ {
		hundred.add(time.Duration(i) * time.Millisecond)
	}
	for _, c := range []struct {
		l    latencies
		p    float64
		want float64
	}{
		{hundred, .5, 50}, {hundred, .99, 99}, {hundred, 1, 100}, {hundred, 0, 1},
		{latencies{1000, 2000, 3000}, .5, 2}, {latencies{7000}, .99, 7}, {nil, .5, 0},
	} {
		if got := c.l.percentile(c.p); got != c.want {
			t.Errorf("percentile %v of %d values: %v, want %v", c.p, len(c.l), got, c.want)
		}
	}
	if got := sorted([]latencies{{3, 1}, nil, {2}}); len(got) != 3 || got[0] != 1 || got[2] != 3 {
		t.Errorf("sorted: %v", got)
	}
}

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{0: nil, 4: {4}, 3: {5, 1}, 2: {9, 1, 2}} {
		if got := median(values); got != want {
			t.Errorf("median of %v: %v, want %v", values, got, want)
		}
	}
}

func TestParseStat_NameWithBlanksAndBrackets(t *testing.T) {
	s, err := parseStat("42 (a (b) c) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 20 30 20 0 5 0 100 1 1")
	if want := (stat{pid: 42, parent: 7, cpu: 2.5}); err != nil || s != want {
		t.Errorf("got %+v, %v; want %+v", s, err, want)
	}
	for _, broken := range []string{"", "42 name S 7", "42 (short) S 7 42", "x (n) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 20 30", "42 (n) S 7 42 42 0 -1 4194560 1 2 3 4 a 50 20 30"} {
		if _, err := parseStat(broken); err == nil {
			t.Errorf("%q was read", broken)
		}
	}
}

func TestSumTree_CountsGrandchildrenAndNobodyElse(t *testing.T) {
	all := map[int]stat{1: {1, 0, 100}, 2: {2, 1, 1}, 3: {3, 2, 2}, 4: {4, 3, 4}, 5: {5, 1, 8}, 6: {6, 5, 16}}
	if got := sumTree(all, []int{2}); got != 7 {
		t.Errorf("one root: %v, want 7", got)
	}
	if got := sumTree(all, []int{3, 5}); got != 30 {
		t.Errorf("two roots: %v, want 30", got)
	}
	if own := treeCPU(os.Getpid()); own < 0 {
		t.Errorf("own CPU time: %v", own)
	}
}

func TestParseMachine_LeavesIdleOut(t *testing.T) {
	if got := parseMachine("cpu  100 10 200 9999 8888 1 2 300 50 60\ncpu0 1 1 1 1\n"); got != 6.13 {
		t.Errorf("got %v, want 6.13", got)
	}
}

func TestParseStatus(t *testing.T) {
	m, err := parseStatus([]byte("Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t  4096 kB\nVmRSS:\t 2048 kB\n"))
	if err != nil || m != (memory{Now: 2, Peak: 4}) {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := parseStatus([]byte("Name:\tkthread\n")); err == nil {
		t.Error("a status without memory was read")
	}
	if m, err := readMemory(os.Getpid()); err != nil || m.Now <= 0 || m.Peak < m.Now {
		t.Errorf("own memory: %+v, %v", m, err)
	}
}

func TestSumCollections(t *testing.T) {
	log := "gc 1 @0.1s 2%: 0.01+1.2+0.002 ms clock, 0.03+0.5/1.1/0+0.005 ms cpu, 4->5->2 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P\n" +
		"time=2026-11-30 msg=\"gc 9 @\"\n" +
		"gc 2 @0.2s 2%: 0.01+1.2+0.002 ms clock, 0.03+0.5/1.1/0+0.005 ms cpu, 6->7->3 MB, 7 MB goal, 0 MB stacks, 0 MB globals, 2 P\n" +
		"gc 3 @0.3s 2%: 0.01+1.2+0.002 ms clock, 0.03+0.5/1.1/0+0.005 ms cpu, 8->8->3 MB, 8 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
	if got := sumCollections([]byte(log)); got != 9 { // 6-2 and 8-3
		t.Errorf("got %v MiB, want 9", got)
	}
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := heapAllocated(name, 0, fileSize(name)); got != 9 {
		t.Errorf("from a file: %v MiB, want 9", got)
	}
}

// service is a stand-in for sendonce; answer gets the number of the request and the request as it came.
func service(t *testing.T, answer func(n int, body string) (int, string)) *httptest.Server {
	t.Helper()
	requests := make(chan int, 1)
	requests <- 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := <-requests
		requests <- n + 1
		var body strings.Builder
		if err := r.Write(&body); err != nil {
			t.Error(err)
		}
		status, text := answer(n, body.String())
		w.WriteHeader(status)
		w.Write([]byte(text[:len(text)/2]))
		w.(http.Flusher).Flush() // a chunked answer
		w.Write([]byte(text[len(text)/2:]))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestLoad_CountsGoodAnswersAndErrors(t *testing.T) {
	s := service(t, func(n int, body string) (int, string) {
		switch {
		case !strings.Contains(body, "Prefer: wait=30") || !strings.Contains(body, `"event_id":"evt_`):
			return 400, body
		case n%10 == 3:
			return 202, `{"state":"claimed"}`
		}
		return 202, `{"state":"sent"}`
	})
	b := &bench{length: 20 * time.Second}
	l := b.load(newEvents(s.Listener.Addr().String(), sends), newCell(sends, 0, 4), sendonce)
	l.limit = 100
	edges := 0
	l.edge = func(i int) { edges += i + 1 } // both are called although the requests end early
	m, err := l.run(context.Background())
	if err != nil || m.Requests != 90 || m.Errors != 10 || !strings.Contains(m.Sample, "claimed") || m.next < 100 || edges != 3 {
		t.Errorf("got %+v, %v; want 90 good answers, 10 errors and both edges (%d)", m, err, edges)
	}
}

func TestLoad_NothingButErrorsIsAnError(t *testing.T) {
	s := service(t, func(int, string) (int, string) { return 503, `{"code":"draining"}` })
	b := &bench{length: time.Minute}
	l := b.load(newEvents(s.Listener.Addr().String(), claims), newCell(claims, 0, 2), sendonce)
	if _, err := l.run(context.Background()); err == nil || !strings.Contains(err.Error(), "draining") {
		t.Errorf("got %v, want an error with the answer", err)
	}
}

func TestLoad_EndsWithItsContext(t *testing.T) {
	s := service(t, func(int, string) (int, string) { return 202, `{"duplicate":false}` })
	ctx, cancel := context.WithCancel(context.Background())
	b := &bench{length: time.Hour}
	l := b.load(newEvents(s.Listener.Addr().String(), claims), newCell(claims, 0, 2), sendonce)
	inner := l.good
	l.good = func(status int, body []byte) bool { cancel(); return inner(status, body) }
	if _, err := l.run(ctx); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestStub_AnswersAsInfrai(t *testing.T) {
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- runStub(ctx, addr, 0) }()
	l := load{addr: addr, conns: 2, length: 5 * time.Second, limit: 20,
		request: func(b []byte, n int64) []byte { return events{addr: addr}.worker(b, sends, n) },
		good: func(status int, body []byte) bool {
			return status == 200 && strings.HasPrefix(string(body), `{"ok":true,"data":{"results":[{"message_id":"msg_`)
		}}
	m, err := l.run(ctx) // a connection that comes before the stub listens is an error and is tried again
	if err != nil || m.Requests == 0 {
		t.Errorf("got %+v, %v", m, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("stub: %v", err)
	}
}

func TestProcess_StopEndsItAndStartNamesWhatFailed(t *testing.T) {
	ps := &processes{dir: t.TempDir()}
	p, err := ps.start("sleep", exec.Command("sleep", "600"))
	if err != nil {
		t.Fatal(err)
	}
	ps.stopAll()
	select {
	case <-p.done:
	default:
		t.Error("still runs")
	}
	p, err = ps.start("broken", exec.Command("sh", "-c", "echo no such ledger; exit 4"))
	if err != nil {
		t.Fatal(err)
	}
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.listening(context.Background(), addr); err == nil || !strings.Contains(err.Error(), "no such ledger") {
		t.Errorf("got %v, want what the process printed", err)
	}
}
