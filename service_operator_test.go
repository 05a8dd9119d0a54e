package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// alert is what the operator's receiver got; the struct is the test's own.
type alert struct {
	Type string `json:"type"`
	Data struct {
		Count int `json:"count"`
		First []struct {
			ID       string `json:"id"`
			Provider string `json:"provider"`
			State    string `json:"state"`
			Reason   string `json:"reason"`
		} `json:"first"`
	} `json:"data"`
	raw string
}

// operatorDesk is the operator's receiver.
func operatorDesk(t *testing.T) (url string, got chan alert) {
	got = make(chan alert, 16)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		a := alert{raw: string(text)}
		if err != nil || json.Unmarshal(text, &a) != nil || r.Header.Get("webhook-signature") == "" {
			t.Errorf("%v: %s", err, text)
		}
		got <- a
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func next(t *testing.T, got chan alert) alert {
	t.Helper()
	select {
	case a := <-got:
		return a
	case <-time.After(patience):
		t.Fatal("the operator was told nothing")
	}
	return alert{}
}

// A person is told in one line and one post, without a word of the message or about whom it was for; and once more by the next start.
func TestOperator_ALostAnswerThroughTheWholeService(t *testing.T) {
	t.Parallel()
	url, got := operatorDesk(t)
	p := newPlace(t, fake.Options{WellBehaved: true}, "storage: {reserve: 1MiB}",
		"storage: {reserve: 1MiB}\noperator: {url: \""+url+"\", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, allow_private: [\"127.0.0.0/8\"]}")
	p.fake.Force(fake.AcceptReset)
	r := p.start()
	n := r.settled(event(`"event_id":"evt_canary","dedupe_key":"key_canary","message":{"text":"tok_canary"}`))
	if n.State != "ambiguous" {
		t.Fatalf("the row is %s", n.State)
	}
	a := next(t, got)
	if a.Type != "sendonce.waiting" || a.Data.Count != 1 || len(a.Data.First) != 1 || a.Data.First[0].ID != n.ID ||
		a.Data.First[0].Provider != "sms_main" || a.Data.First[0].State != "ambiguous" || a.Data.First[0].Reason != "no_answer" {
		t.Errorf("told %s", a.raw)
	}
	if strings.Contains(a.raw, "canary") || strings.Contains(a.raw, strings.TrimPrefix(n.Recipient, "+")) {
		t.Errorf("too much was told: %s", a.raw)
	}
	r.stop()
	if lines := p.book.lines("a person is needed"); lines != 1 {
		t.Errorf("%d lines", lines)
	}
	r = p.start()
	if a := next(t, got); a.Data.Count != 1 || a.Data.First[0].ID != n.ID {
		t.Errorf("told after the start: %s", a.raw)
	}
	r.stop()
	p.calls(1)
	p.check()
}
