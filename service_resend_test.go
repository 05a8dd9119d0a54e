package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sendonce/fake"
)

const resendBody = `{"reason":"customer asked","by":"ada"}`

// resend presses the button on a row as somebody sees it.
func (r *running) resend(id, etag, body string, header ...string) answer {
	r.t.Helper()
	if etag != "" {
		header = append(header, "If-Match: "+etag)
	}
	return r.do(http.MethodPost, "/v1/notifications/"+id+"/resend", body, header...)
}

// child demands that a resend made a row of its own, and waits until it is sent.
func (r *running) child(parent, made answer) answer {
	r.t.Helper()
	if made.status != 202 || made.ID == parent.ID || made.ResendOf != parent.ID || made.DedupeKey == parent.DedupeKey || made.Duplicate {
		r.t.Fatalf("resend: %d %s, row %s of %s, key %s", made.status, made.Code, made.ID, made.ResendOf, made.DedupeKey)
	}
	return r.until(made.ID, "sent")
}

// F10: one wanted resend is one message: the second click and the second operator are shown the first one's row.
func TestResend_F10_OnceForEachDecision(t *testing.T) {
	t.Parallel()
	for state, behaviour := range map[string]fake.Behaviour{"sent": fake.Accept, "failed": fake.Refuse} {
		t.Run(state, func(t *testing.T) {
			p := newPlace(t, fake.Options{WellBehaved: true})
			p.fake.Force(behaviour)
			r := p.start()
			parent := r.settled(event(`"event_id":"evt_1"`))
			if parent.State != state {
				t.Fatalf("the parent is %s %s", parent.State, parent.Reason)
			}
			seen := r.get(parent.ID).header.Get("ETag")
			first := r.child(parent, r.resend(parent.ID, seen, resendBody))
			p.calls(2)

			again := r.resend(parent.ID, seen, resendBody) // the double click
			if again.status != 412 || again.Notification.ID != parent.ID || len(again.Notification.Resends) != 1 || again.Notification.Resends[0] != first.ID {
				t.Errorf("the second click: %d %s, resends %v", again.status, again.Code, again.Notification.Resends)
			}
			shown := r.get(parent.ID)
			if len(shown.Settlements) != 1 || shown.Settlements[0] != (settlement{"resend", state, state, "local", "ada", "customer asked"}) || shown.State != state {
				t.Errorf("recorded %+v on a row that is %s", shown.Settlements, shown.State)
			}

			second := r.child(parent, r.resend(parent.ID, shown.header.Get("ETag"), resendBody)) // later and on purpose
			if second.DedupeKey == first.DedupeKey {
				t.Error("two resends share a key")
			}
			p.calls(3)
			if a := r.post(event(`"event_id":"evt_1"`)); a.status != 200 || a.ID != parent.ID {
				t.Errorf("the event again: %d, row %s", a.status, a.ID)
			}
			r.rows(3)
			r.stop()
			p.calls(3)
			p.check()
		})
	}
}

// F10: however many press at once, with one key or with several, one message leaves.
func TestResend_F10_ManyAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true}, "providers:\n", `auth:
  keys:
    - {name: shop, sha256: "`+sumOf("key-shop")+`", roles: [send]}
    - {name: ada, sha256: "`+sumOf("key-ada")+`", roles: [operate]}
    - {name: bob, sha256: "`+sumOf("key-bob")+`", roles: [operate]}
providers:
`)
	r := p.start()
	parent := r.settled(event(`"event_id":"evt_1"`), "Authorization: Bearer key-shop")
	if parent.State != "sent" {
		t.Fatalf("the parent is %s", parent.State)
	}
	var mu sync.Mutex
	byStatus := map[int][]answer{}
	var all sync.WaitGroup
	press := make(chan struct{})
	for i := range 20 {
		key := "Authorization: Bearer key-" + []string{"ada", "bob"}[i%2]
		all.Go(func() {
			<-press
			a, err := r.ask(t.Context(), http.MethodPost, "/v1/notifications/"+parent.ID+"/resend", resendBody, key, "If-Match: "+parent.header.Get("ETag"))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			byStatus[a.status] = append(byStatus[a.status], a)
		})
	}
	close(press)
	all.Wait()
	if len(byStatus[202]) != 1 || len(byStatus[412]) != 19 {
		t.Fatalf("%d made a row, %d were shown another version, of 20", len(byStatus[202]), len(byStatus[412]))
	}
	made := byStatus[202][0]
	for _, a := range byStatus[412] {
		if len(a.Notification.Resends) != 1 || a.Notification.Resends[0] != made.ID {
			t.Errorf("a late click is shown %v, want %s", a.Notification.Resends, made.ID)
		}
	}
	r.stop()
	p.calls(2)
	p.check()
}

// F10: a resend of what is under way, of what nobody looked at, or of what may have gone out is not made by accident.
func TestResend_F10_Refusals(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true}, "retry: [50ms, 100ms, 200ms]", "retry: [1h]")
	p.fake.Script("tok_runs", fake.AcceptHang)
	p.fake.Script("tok_lost", fake.AcceptReset)
	p.fake.Script("tok_retry", fake.Unavailable)
	r := p.start()
	sms := func(id string) string {
		return event(`"event_id":"` + id + `","message":{"text":"tok_` + id + `"}`)
	}
	calls := func(want int) {
		t.Helper()
		r.rows(4)
		p.calls(want)
	}
	sent, lost := r.settled(sms("sent")), r.settled(sms("lost"))
	runs := r.until(r.post(sms("runs")).ID, "sending")
	retry := r.settled(event(`"event_id":"retry","channel":"webhook","recipient":"` + p.hook + `x","message":{"data":"tok_retry"}`))
	if sent.State != "sent" || lost.State != "ambiguous" || retry.State != "claimed" {
		t.Fatalf("%s, %s, %s", sent.State, lost.State, retry.State)
	}
	for name, c := range map[string]struct {
		row  answer
		etag string
		body string
		code string
	}{
		"without If-Match":            {sent, "", resendBody, "if_match_required"},
		"another version":             {sent, `"99"`, resendBody, "version_differs"},
		"without a reason":            {sent, sent.header.Get("ETag"), `{"by":"ada"}`, "invalid_request"},
		"while it is sending":         {runs, r.get(runs.ID).header.Get("ETag"), resendBody, "wrong_state"},
		"while it waits for a retry":  {retry, retry.header.Get("ETag"), resendBody, "wrong_state"},
		"ambiguous, without a word":   {lost, lost.header.Get("ETag"), resendBody, "duplicate_not_accepted"},
		"ambiguous, with another one": {lost, lost.header.Get("ETag"), `{"reason":"x","accept_duplicate":false}`, "duplicate_not_accepted"},
	} {
		a := r.resend(c.row.ID, c.etag, c.body)
		if a.Code != c.code || a.status < 400 || a.status >= 500 {
			t.Errorf("%s: %d %s, want %s", name, a.status, a.Code, c.code)
		}
	}
	calls(4)
	made := r.child(lost, r.resend(lost.ID, lost.header.Get("ETag"), `{"reason":"customer asked","accept_duplicate":true}`))
	if made.State != "sent" || r.get(lost.ID).State != "ambiguous" {
		t.Errorf("the resend is %s, its parent %s", made.State, r.get(lost.ID).State)
	}
	p.fake.Release()
	r.until(runs.ID, "sent")
	r.stop()
	p.calls(5)
	p.check()
}

// F12: an operator says that an unknown was not sent: it is sent then, and who said so stays with the row. What nobody
// settles stays in a list and a count.
func TestSettle_F12_APersonSaysNotSent(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	p.fake.Force(fake.AcceptReset, fake.AcceptError)
	r := p.start()
	lost, other := r.settled(event(`"event_id":"evt_1"`)), r.settled(event(`"event_id":"evt_2"`))
	if lost.State != "ambiguous" || other.State != "ambiguous" {
		t.Fatalf("%s, %s", lost.State, other.State)
	}
	release := func(etag string) answer {
		var header []string
		if etag != "" {
			header = []string{"If-Match: " + etag}
		}
		return r.do(http.MethodPost, "/v1/notifications/"+lost.ID+"/release", `{"reason":"not in the provider's log","by":"ada"}`, header...)
	}
	if a := release(""); a.status != 428 {
		t.Errorf("without having looked: %d %s", a.status, a.Code)
	}
	p.calls(2)
	if a := release(lost.header.Get("ETag")); a.status != 200 {
		t.Fatalf("release: %d %s", a.status, a.Code)
	}
	done := r.until(lost.ID, "sent")
	if want := (settlement{"release", "ambiguous", "claimed", "local", "ada", "not in the provider's log"}); len(done.Settlements) != 1 || done.Settlements[0] != want || len(done.Attempts) != 2 {
		t.Errorf("settlements %+v, %d attempts", done.Settlements, len(done.Attempts))
	}
	p.calls(3)
	var stats struct {
		MaybeSent int            `json:"maybe_sent"`
		States    map[string]int `json:"states"`
		Oldest    *string        `json:"oldest_ambiguous_at"`
	}
	if err := json.Unmarshal([]byte(r.do("GET", "/v1/stats", "").body), &stats); err != nil || stats.MaybeSent != 1 || stats.States["ambiguous"] != 1 || stats.Oldest == nil {
		t.Errorf("counts %+v, %v", stats, err)
	}
	if list := r.do("GET", "/v1/notifications?state=ambiguous", "").body; strings.Count(list, `"event_id"`) != 1 || !strings.Contains(list, other.ID) {
		t.Errorf("the list of unknowns: %s", list)
	}
	r.stop()
	p.check()
}
