package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// answer is what came back, read as a row and as a problem; the structs are the test's own, so that they cannot share
// a mistake with the service.
type answer struct {
	status int
	header http.Header
	body   string
	row
	problem
}

type row struct {
	ID           string       `json:"id"`
	EventID      string       `json:"event_id"`
	DedupeKey    string       `json:"dedupe_key"`
	Duplicate    bool         `json:"duplicate"`
	State        string       `json:"state"`
	Reason       string       `json:"reason"`
	NextAction   string       `json:"next_action"`
	MaybeSent    bool         `json:"maybe_sent"`
	Recipient    string       `json:"recipient"`
	MessageID    string       `json:"message_id"`
	AttemptCount int          `json:"attempt_count"`
	ResendOf     string       `json:"resend_of"`
	Attempts     []attempt    `json:"attempts"`
	Settlements  []settlement `json:"settlements"`
	Resends      []string     `json:"resends"`
}

type attempt struct {
	Number  int    `json:"number"`
	Outcome string `json:"outcome"`
	Phase   string `json:"phase"`
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Error   string `json:"error"`
	Answer  string `json:"answer"`
}

type settlement struct {
	Action string `json:"action"`
	From   string `json:"from_state"`
	To     string `json:"to_state"`
	Actor  string `json:"actor"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

type problem struct {
	Code         string  `json:"code"`
	Errors       []fault `json:"errors"`
	Notification row     `json:"notification"`
}

type fault struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// field is the first field that a problem names.
func (a *answer) field() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Field
}

// ask makes one request; header lines are "Name: value". Only a lost answer is an error.
func (r *running) ask(ctx context.Context, method, path, body string, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	res, err := r.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, header: res.Header, body: string(raw)}
	if !strings.HasPrefix(path, "/v1/notifications") {
		return a, nil
	}
	if err := errors.Join(json.Unmarshal(raw, &a.row), json.Unmarshal(raw, &a.problem)); err != nil {
		return a, fmt.Errorf("status %d: %w: %s", a.status, err, raw)
	}
	return a, nil
}

func (r *running) do(method, path, body string, header ...string) answer {
	r.t.Helper()
	a, err := r.ask(context.Background(), method, path, body, header...)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// post claims an event.
func (r *running) post(body string, header ...string) answer {
	r.t.Helper()
	return r.do(http.MethodPost, "/v1/notifications", body, header...)
}

// settled claims an event, or meets it again, and returns when its first attempt, or the running one, has ended.
func (r *running) settled(body string, header ...string) answer {
	r.t.Helper()
	return r.post(body, append(header, "Prefer: wait=30")...)
}

// get reads a row in full.
func (r *running) get(id string) answer {
	r.t.Helper()
	return r.do(http.MethodGet, "/v1/notifications/"+id, "")
}

// until waits for a state of a row.
func (r *running) until(id, state string) answer {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		a := r.get(id)
		if a.State == state {
			return a
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s is %s (%s) after %v, want %s", a.EventID, a.State, a.Reason, patience, state)
		}
	}
}

// rows demands how many rows the ledger has.
func (r *running) rows(want int) {
	r.t.Helper()
	var got struct {
		Notifications int `json:"notifications"`
	}
	a := r.do(http.MethodGet, "/v1/stats", "")
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Notifications != want {
		r.t.Errorf("%d rows (%v), want %d", got.Notifications, err, want)
	}
}

// event is the JSON of a claim: members of its own before the usual ones of an SMS.
func event(members string) string {
	body := "{" + members
	for name, value := range map[string]string{
		"channel": `"sms"`, "recipient": `"+15550100001"`, "message": `{"text":"Order tok_a shipped."}`,
	} {
		if !strings.Contains(members, `"`+name+`":`) {
			body += `,"` + name + `":` + value
		}
	}
	return body + "}"
}
