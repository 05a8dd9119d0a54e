package console

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

// A page that only waits is no use of its login: neither the streams, which it opens again every ten minutes, nor what it fetches when
// something has changed. Keeps out a login that lasts for as long as somebody leaves a page open.
func TestSession_APageThatWaitsIsNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := ledger.New(nil, nil, ledger.Settings{}, slog.New(slog.DiscardHandler))
		c := New(l, Settings{Login: loginOf}, slog.New(slog.DiscardHandler))
		illness(c, l, ledger.Condition{})
		r := &rig{t: t, console: c}
		left, busy := r.as("operator"), r.as("operator")
		for range int(sessionIdle/streamEnds) - 1 {
			left.get("/live/providers?mark=x") // to its end
		}
		if w := left.get("/nowhere", "HX-Request: true", "HX-Target: "+livePart); w.Code != http.StatusNotFound {
			t.Fatalf("within the hour: %d", w.Code)
		}
		if w := busy.get("/nowhere"); w.Code != http.StatusNotFound {
			t.Fatalf("within the hour, somebody: %d", w.Code)
		}
		left.get("/live/providers?mark=x")
		if w := left.get("/nowhere"); w.Code != http.StatusSeeOther {
			t.Errorf("an hour after its last use the login of a page that waits answers %d", w.Code)
		}
		if w := busy.get("/nowhere"); w.Code != http.StatusNotFound {
			t.Errorf("ten minutes after its last use a login answers %d", w.Code)
		}
	})
}

// Whatever a page asks for by itself can be told from what a person asks for.
func TestSession_WhatWaitsIsMarked(t *testing.T) {
	for _, r := range newRig(t).console.routes() {
		if waits := strings.HasPrefix(r.path, "/live/") || r.path == "/history"; waits != (r.needs&unattended != 0) {
			t.Errorf("%s is asked for by itself: %v", r.path, !waits)
		}
	}
	entries, err := templateFiles.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	waits := 0
	for _, e := range entries {
		b, err := templateFiles.ReadFile("templates/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		streams := strings.Count(string(b), `hx-trigger="sse:`)
		waits += streams
		if strings.Count(string(b), `hx-target="#`+livePart+`"`) != streams {
			t.Errorf("%s replaces another part with news", e.Name())
		}
	}
	if waits < 5 {
		t.Errorf("only %d pages wait for news", waits)
	}
}

// However many log in, what is kept is bounded, and the newest login holds; but one key's logins end none of another's.
func TestSession_Bounded(t *testing.T) {
	s := sessions{all: map[[32]byte]session{}}
	now := time.Now()
	open := func(key string) string {
		now = now.Add(time.Millisecond)
		return s.open(Identity{Name: key}, now)
	}
	in := func(token string) bool {
		_, ok := s.find(token, now, false)
		return ok
	}
	operator, first := open("operator"), open("flood")
	for range 2 * keySessions {
		if last := open("flood"); !in(last) {
			t.Fatal("the newest is gone")
		}
	}
	if !in(operator) || in(first) || len(s.all) != keySessions+1 {
		t.Errorf("%d sessions after one key's flood; the operator's: %v, the flood's first: %v", len(s.all), in(operator), in(first))
	}
	for i := range maxSessions {
		open(fmt.Sprint(i))
	}
	if in(operator) || len(s.all) != maxSessions {
		t.Errorf("%d sessions, the one that was idle longest: %v", len(s.all), in(operator))
	}
}
