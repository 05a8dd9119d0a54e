package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// mixedRow is a row of the mixed run in full.
type mixedRow struct {
	ID         string         `json:"id"`
	Token      string         `json:"event_id"`
	Provider   string         `json:"provider"`
	State      string         `json:"state"`
	Reason     string         `json:"reason"`
	NextAction string         `json:"next_action"`
	MaybeSent  bool           `json:"maybe_sent"`
	Attempts   []mixedAttempt `json:"attempts"`
}

type mixedAttempt struct {
	Kind     string `json:"kind"`
	Provider string `json:"provider"`
	Outcome  string `json:"outcome"`
	Phase    string `json:"phase"`
	Error    string `json:"error"`
}

// Messages over all providers at once, a fifth of the requests faulty in every way: nobody gets one twice, each row ends as what
// its providers did demands, and what the ledger counts is what they counted.
func TestMixed_NobodyGetsAMessageTwice(t *testing.T) {
	t.Parallel()
	w := newMixedWorld(t)
	began := time.Now()
	var ids []string
	for n := 0; n < mixedSize; n += 500 {
		ids = append(ids, w.claim(n, min(500, mixedSize-n))...)
	}
	claimed := time.Since(began)
	done := make(chan struct{})
	var operator sync.WaitGroup
	operator.Go(func() { w.operate(done) })
	w.settle()
	close(done)
	operator.Wait()
	took := time.Since(began)
	rows := w.read(ids)
	w.stop()
	for _, f := range w.fakes {
		_ = f.Close()
	}
	table := w.judge(rows)
	w.check()
	t.Logf("%d messages, claimed in %.1f s, settled after %.1f s\n%s", len(rows), claimed.Seconds(), took.Seconds(), table)
}

// claim claims events in one batch and returns the ids of their rows.
func (w *mixedWorld) claim(first, count int) []string {
	w.t.Helper()
	events := make([]string, count)
	for i := range events {
		events[i] = w.mixedEvent(first + i)
	}
	a := w.do(http.MethodPost, "/v1/notifications/batch", `{"notifications":[`+strings.Join(events, ",")+`]}`)
	var batch struct {
		Claimed int `json:"claimed"`
		Results []struct {
			Notification struct {
				ID string `json:"id"`
			} `json:"notification"`
		} `json:"results"`
	}
	if err := json.Unmarshal([]byte(a.body), &batch); err != nil || batch.Claimed != count {
		w.t.Fatalf("%d of %d claimed, %v: %.500s", batch.Claimed, count, err, a.body)
	}
	var ids []string
	for _, r := range batch.Results {
		ids = append(ids, r.Notification.ID)
	}
	return ids
}

// settle waits until nothing more happens by itself.
func (w *mixedWorld) settle() {
	w.t.Helper()
	for end := time.Now().Add(2 * patience); ; time.Sleep(50 * time.Millisecond) {
		busy := w.busy()
		if busy == "" {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("still busy after %v: %s", 2*patience, busy)
		}
	}
}

// busy says what still happens by itself; empty: nothing.
func (w *mixedWorld) busy() string {
	w.t.Helper()
	var stats struct {
		States map[string]int `json:"states"`
	}
	if err := json.Unmarshal([]byte(w.do(http.MethodGet, "/v1/stats", "").body), &stats); err != nil {
		w.t.Fatal(err)
	}
	if n := stats.States["claimed"] + stats.States["sending"]; n > 0 {
		return fmt.Sprintf("%d rows to send", n)
	}
	for cursor := ""; ; {
		var page struct {
			Notifications []mixedRow `json:"notifications"`
			NextCursor    string     `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(w.do(http.MethodGet, "/v1/notifications?state=ambiguous&limit=500"+cursor, "").body), &page); err != nil {
			w.t.Fatal(err)
		}
		for _, r := range page.Notifications {
			if r.NextAction != "ask" {
				return r.Token + " waits to " + r.NextAction
			}
		}
		if page.NextCursor == "" {
			return ""
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// read reads all rows in full.
func (w *mixedWorld) read(ids []string) []mixedRow {
	w.t.Helper()
	rows := make([]mixedRow, len(ids))
	var readers sync.WaitGroup
	const each = 8
	for first := range each {
		readers.Go(func() {
			for i := first; i < len(ids); i += each {
				a, err := w.ask(w.t.Context(), http.MethodGet, "/v1/notifications/"+ids[i], "")
				if err == nil {
					err = json.Unmarshal([]byte(a.body), &rows[i])
				}
				if err != nil {
					w.t.Errorf("reading %s: %v", ids[i], err)
					return
				}
			}
		})
	}
	readers.Wait()
	return rows
}
