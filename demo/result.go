package demo

import (
	"cmp"
	"slices"

	"sendonce/api"
)

// Result is what was counted in one run.
type Result struct {
	Events   int   `json:"events"`   // messages that somebody was to get
	Calls    int64 `json:"calls"`    // of the shop to sendonce, those after a lost answer included
	Known    int64 `json:"known"`    // of them, told that the event was known
	Crashes  int   `json:"crashes"`  // kill -9
	Sendonce Side  `json:"sendonce"` // through the service
	Naive    Side  `json:"naive"`    // through the loop without a ledger
	Copies   struct {
		Asked int `json:"asked_again"`
		Retry int `json:"retry"`
		Crash int `json:"crash"`
	} `json:"naive_copies"` // why the loop sent more than one
	Settled struct {
		Lost    int `json:"lost"` // rows with an answer that was lost
		Receipt int `json:"receipt"`
		Repeat  int `json:"repeat"`
		LookUp  int `json:"look_up"`
	} `json:"settled"`
	Waiting []Waiting `json:"waiting"`
	Lost    int       `json:"lost"` // received by nobody, and the ledger does not say so
	Worst   []Copies  `json:"worst"`
	Check   struct {
		Rows  int64            `json:"rows"`
		Found []map[string]any `json:"differences"`
	} `json:"check"`
	Kept bool `json:"kept"` // the promise
}

// Side is what one way of sending did. Messages are counted by the providers, by what stands in the text.
type Side struct {
	Requests int `json:"requests"`
	Out      int `json:"out"`   // messages that went out
	Once     int `json:"once"`  // people who got theirs once
	Twice    int `json:"twice"` // who got it more than once
	Refused  int `json:"refused"`
	GaveUp   int `json:"gave_up"` // not received, and the sender stopped trying
	Waits    int `json:"waits"`   // nobody knows yet, and nothing is assumed
	WaitsOut int `json:"waits_out"`
}

// Waiting is a row that is not settled.
type Waiting struct {
	ID         string `json:"id"`
	Token      string `json:"token"`
	State      string `json:"state"`
	NextAction string `json:"next_action"`
	Received   int    `json:"received"` // what its provider knows, and the ledger does not yet
}

// Copies is a message that the loop sent too often.
type Copies struct {
	Text      string `json:"text"`
	Recipient string `json:"recipient"`
	Naive     int    `json:"naive"`
	Sendonce  int    `json:"sendonce"`
}

// count counts both sides.
func (d *day) count(rows map[string]*api.Record) *Result {
	r := &Result{Events: len(d.script), Calls: d.shop.calls.Load(), Known: d.shop.known.Load(), Crashes: d.died}
	for _, k := range kinds {
		r.Sendonce.Requests += d.ours[k.provider].Requests()
		r.Naive.Requests += d.theirs[k.provider].Requests()
	}
	for _, n := range d.script {
		d.countOurs(r, n, rows[n.token])
		d.countTheirs(r, n)
	}
	d.naive.mu.Lock()
	defer d.naive.mu.Unlock()
	r.Copies.Asked, r.Copies.Retry, r.Copies.Crash = d.naive.copies[causeAsked], d.naive.copies[causeRetry], d.naive.copies[causeCrash]
	slices.SortStableFunc(r.Worst, func(a, b Copies) int { return cmp.Compare(b.Naive, a.Naive) })
	r.Worst = r.Worst[:min(len(r.Worst), 3)]
	return r
}

// received counts a message on one side.
func (s *Side) received(times int) {
	s.Out += times
	switch {
	case times == 1:
		s.Once++
	case times > 1:
		s.Twice++
	}
}

// countOurs holds what the ledger says of a message against what its provider saw.
func (d *day) countOurs(r *Result, n *notification, row *api.Record) {
	got := d.ours[n.kind.provider].Received(n.token)
	r.Sendonce.received(got)
	if row == nil {
		r.Lost++
		return
	}
	reason := ""
	if row.Reason != nil {
		reason = *row.Reason
	}
	switch row.State {
	case "sent":
		if got == 0 {
			r.Lost++
		}
	case "failed", "expired", "cancelled":
		if reason == "rejected" {
			r.Sendonce.Refused++
		} else if got == 0 {
			r.Sendonce.GaveUp++
		}
	default:
		r.Sendonce.Waits++
		r.Sendonce.WaitsOut += min(got, 1)
		w := Waiting{ID: row.ID, Token: n.token, State: row.State, Received: got}
		if row.NextAction != nil {
			w.NextAction = *row.NextAction
		}
		r.Waiting = append(r.Waiting, w)
	}
	d.countSettled(r, row)
}

// countSettled finds out what showed that a message whose answer was lost had gone out.
func (d *day) countSettled(r *Result, row *api.Record) {
	lost, repeated, looked := false, false, false
	for _, a := range row.Attempts {
		if a.Outcome != nil && *a.Outcome == "ambiguous" {
			lost = true
		}
		repeated = repeated || a.Kind == "repeat" && a.Outcome != nil && *a.Outcome == "accepted"
	}
	for _, v := range row.Receipts {
		looked = looked || v.Kind == "look_up"
	}
	if !lost {
		return
	}
	r.Settled.Lost++
	switch {
	case row.State != "sent":
	case repeated:
		r.Settled.Repeat++
	case looked:
		r.Settled.LookUp++
	default:
		r.Settled.Receipt++
	}
}

// countTheirs counts a message of the loop.
func (d *day) countTheirs(r *Result, n *notification) {
	got := d.theirs[n.kind.provider].Received(n.token)
	r.Naive.received(got)
	d.naive.mu.Lock()
	defer d.naive.mu.Unlock()
	switch {
	case got > 1:
		r.Worst = append(r.Worst, Copies{Text: n.text, Recipient: n.recipient, Naive: got, Sendonce: d.ours[n.kind.provider].Received(n.token)})
	case got == 0 && d.naive.no[n.token]:
		r.Naive.Refused++
	case got == 0:
		r.Naive.GaveUp++
	}
}
