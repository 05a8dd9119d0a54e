package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// F02: after a request that had no readable answer nobody sends it again by himself, neither inside the attempt nor after
// it, and the row says what came back.
func TestSend_F02_ALostAnswerIsOneRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behaviour fake.Behaviour
		reason    string
		want      attempt
	}{
		"never answers":            {fake.AcceptHang, "no_answer", attempt{1, "ambiguous", "written", 0, "", "no answer: time-out", ""}},
		"closes the connection":    {fake.AcceptReset, "no_answer", attempt{1, "ambiguous", "written", 0, "", "no answer: connection reset by peer", ""}},
		"500":                      {fake.AcceptError, "unlisted_answer", attempt{1, "ambiguous", "answered", 500, "INTERNAL", "", "INTERNAL"}},
		"503, which is no proof":   {fake.Unavailable, "unlisted_answer", attempt{1, "ambiguous", "answered", 503, "UNAVAILABLE", "", "UNAVAILABLE"}},
		"200 that nobody can read": {fake.AcceptGarbage, "unreadable_answer", attempt{1, "ambiguous", "answered", 200, "", "", "not json"}},
		"200 that ends half way":   {fake.AcceptCut, "unreadable_answer", attempt{1, "ambiguous", "answered", 200, "", "answer cut: connection closed", "msg_fake"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, fake.Options{WellBehaved: true}, "sms: {providers: [sms_main], timeout: 30s", "sms: {providers: [sms_main], timeout: 1s")
			p.fake.Script("tok_a", c.behaviour)
			r := p.start()
			a := r.settled(event(`"event_id":"evt_1"`))
			full := r.get(a.ID)
			if a.State != "ambiguous" || a.Reason != c.reason || !a.MaybeSent || len(full.Attempts) != 1 {
				t.Fatalf("%s %s, %d attempts", a.State, a.Reason, len(full.Attempts))
			}
			got := full.Attempts[0]
			if !strings.Contains(got.Answer, c.want.Answer) {
				t.Errorf("the stored answer is %q", got.Answer)
			}
			if got.Answer = c.want.Answer; got != c.want {
				t.Errorf("the attempt is %+v, want %+v", got, c.want)
			}
			p.calls(1)
			r.settled(event(`"event_id":"evt_1"`))
			r.stop()
			r = p.start() // a start is no reason either
			if b := r.settled(event(`"event_id":"evt_1"`)); b.status != 200 || b.ID != a.ID || b.State != "ambiguous" || b.NextAction != "ask" {
				t.Errorf("after a restart: %d, %s, next %s", b.status, b.State, b.NextAction)
			}
			r.stop()
			p.calls(1)
			p.check()
		})
	}
}

// F04: a caller who hangs up ends nothing but his own waiting.
func TestSend_F04_TheCallerHangsUp(t *testing.T) {
	t.Parallel()
	arrived, goOn := make(chan struct{}, 8), make(chan struct{})
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(fake.Request) {
		arrived <- struct{}{}
		<-goOn
	}})
	r := p.start()

	// While the provider has the request and the caller waits for its end.
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := r.ask(ctx, http.MethodPost, "/v1/notifications", event(`"event_id":"waits"`), "Prefer: wait=30")
		left <- err
	}()
	recv(t, arrived)
	leave()
	if err := recv(t, left); err == nil {
		t.Fatal("the caller had an answer")
	}

	// Right behind the last byte of the request.
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	body := event(`"event_id":"runs"`)
	if _, err := fmt.Fprintf(conn, "POST /v1/notifications HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nPrefer: wait=30\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	recv(t, arrived)

	close(goOn)
	for _, id := range []string{"waits", "runs"} {
		a := r.settled(event(`"event_id":"` + id + `"`))
		if a.status != 200 || a.State != "sent" || a.MessageID == "" || a.AttemptCount != 1 {
			t.Errorf("%s: %d, %s after %d attempts, id %q", id, a.status, a.State, a.AttemptCount, a.MessageID)
		}
	}
	p.calls(2)
	r.stop()
	p.check()
}

// F13: while two thousand overdue rows leave at the provider's rate the API answers at once. It runs beside no other test: it looks
// at the clock.
func TestSend_F13_TheAPIAnswersBesideABacklog(t *testing.T) {
	p := newPlace(t, fake.Options{WellBehaved: true}, "base_url: URL}", "base_url: URL, rate: 10/s}")
	r := p.start()
	if a := r.do(http.MethodPost, "/v1/providers/sms_main/pause", `{"reason":"make a backlog"}`); a.status != 200 {
		t.Fatalf("pause: %d", a.status)
	}
	for batch := range 4 {
		items := make([]string, 500)
		for i := range items {
			items[i] = event(fmt.Sprintf(`"event_id":"evt_%d_%d"`, batch, i))
		}
		if a := r.do(http.MethodPost, "/v1/notifications/batch", `{"notifications":[`+strings.Join(items, ",")+`]}`); !strings.Contains(a.body, `"claimed":500`) {
			t.Fatalf("batch: %d", a.status)
		}
	}
	r.stop()
	r = p.start()
	began := time.Now()
	if a := r.do(http.MethodPost, "/v1/providers/sms_main/resume", `{"reason":"go on"}`); a.status != 200 {
		t.Fatalf("resume: %d", a.status)
	}
	var slowest time.Duration
	for i := 0; time.Since(began) < 2*time.Second; i++ {
		at := time.Now()
		if a := r.post(event(fmt.Sprintf(`"event_id":"new_%d"`, i))); a.status != 202 {
			t.Fatalf("a new event: %d %s", a.status, a.Code)
		}
		r.do(http.MethodGet, "/v1/notifications?limit=10&state=claimed", "")
		slowest = max(slowest, time.Since(at))
	}
	if slowest > time.Second {
		t.Errorf("an answer took %v", slowest)
	}
	most := int(10*time.Since(began).Seconds()) + 2
	if got := p.fake.Requests(); got == 0 || got > most {
		t.Errorf("%d requests in %v at 10/s", got, time.Since(began))
	}
}

// F25: workers that hang on a silent provider stop nobody on another channel, end at their limit, and do not hold the stop up.
func TestSend_F25_StuckWorkersStopNobodyElse(t *testing.T) {
	const workers = 4
	before := runtime.NumGoroutine()
	p := newPlace(t, fake.Options{WellBehaved: true}, "base_url: URL}", "base_url: URL, workers: 4}",
		"sms: {providers: [sms_main], timeout: 30s", "sms: {providers: [sms_main], timeout: 20s", "storage:", "shutdown: {drain: 100ms}\nstorage:")
	r := p.start()
	p.fake.Behave(fake.AcceptHang)
	p.fake.Script("tok_good", fake.Accept)
	var ids []string
	for i := range 2 * workers {
		ids = append(ids, r.post(event(fmt.Sprintf(`"event_id":"stuck_%d"`, i))).ID)
	}
	for _, id := range ids[:workers] {
		r.until(id, "sending")
	}
	began := time.Now()
	good := r.settled(event(`"event_id":"good","channel":"webhook","recipient":"` + p.hook + `x","message":{"data":"tok_good"}`))
	if took := time.Since(began); good.State != "sent" || took > 5*time.Second {
		t.Errorf("the good one is %s after %v", good.State, took)
	}
	p.calls(workers + 1)
	began = time.Now()
	r.stop() // cuts what runs at the end of the drain
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the stop took %v with a drain of 100ms", took)
	}
	_ = p.fake.Close()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
	r = p.start()
	for i, id := range ids {
		want := "ambiguous"
		if i >= workers {
			want = "claimed" // never begun: they go out once the provider answers, and not before
		}
		if a := r.get(id); a.State != want && !(want == "claimed" && a.State == "sending") {
			t.Errorf("row %d is %s, want %s", i, a.State, want)
		}
	}
	r.stop()
	p.check()
}

// F26: a receiver that answers without end, or cuts its answer, costs no more than its status says.
func TestSend_F26_AnswersWithoutEnd(t *testing.T) {
	t.Parallel()
	endless := listenRaw(t, "HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("z", 4096))
	p := newPlace(t, fake.Options{WellBehaved: true}, `urls: ["URL/hook/"]`, `urls: ["URL/hook/", "`+endless+`/"]`)
	r := p.start()
	for i := range 20 {
		a := r.settled(event(fmt.Sprintf(`"event_id":"evt_%d","channel":"webhook","recipient":"%s/x","message":{"data":1}`, i, endless)))
		full := r.get(a.ID)
		if a.State != "sent" || len(full.Attempts) != 1 || len(full.Attempts[0].Answer) != 4096 {
			t.Fatalf("%s after %d attempts", a.State, len(full.Attempts))
		}
	}
	r.stop()
	p.check()
}

// listenRaw answers every request with a start and then the same bytes until the client has enough.
func listenRaw(t *testing.T, start, again string) (url string) {
	t.Helper()
	return "http://" + accept(t, func(conn net.Conn) {
		if _, err := conn.Read(make([]byte, 64<<10)); err != nil {
			return
		}
		_, err := io.WriteString(conn, start)
		for err == nil && again != "" {
			_, err = io.WriteString(conn, again)
		}
	})
}

// accept serves each connection to a free port of loopback by handle, until the test is over.
func accept(t *testing.T, handle func(net.Conn)) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			}()
		}
	}()
	return ln.Addr().String()
}
