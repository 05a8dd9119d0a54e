package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sendonce/fake"
)

// settleRow is a row of the settle run in full.
type settleRow struct {
	n           int // of its event
	ID          string
	State       string
	Reason      string
	NextAction  string `json:"next_action"`
	MaybeSent   bool   `json:"maybe_sent"`
	MessageID   string `json:"message_id"`
	Delivery    string
	Version     int64
	Attempts    []mixedAttempt
	Receipts    []struct{ Kind string }
	Settlements []settleStep
}

type settleStep struct{ Action, Actor string }

// kind is the provider that the row is pinned to.
func (r *settleRow) kind() string { return bubbleKinds[r.n%len(bubbleKinds)].name }

// token is what stands in the row's text.
func (r *settleRow) token() string { return settleToken(twin(r.n)) }

// lost reports whether the answer to one of its attempts was.
func (r *settleRow) lost() bool {
	return slices.ContainsFunc(r.Attempts, func(a mixedAttempt) bool { return a.Outcome == "ambiguous" && a.Kind == "send" })
}

// causes counts the recorded decisions that accept a second message.
func (r *settleRow) causes() (n int) {
	for _, s := range r.Settlements {
		if s.Action == "release" || s.Action == "send_again" {
			n++
		}
	}
	return n
}

// by says what settled a lost answer; "person": nothing did.
func (r *settleRow) by() string {
	switch {
	case r.State != "sent":
		return "person"
	case slices.ContainsFunc(r.Attempts, func(a mixedAttempt) bool { return a.Kind == "repeat" && a.Outcome == "accepted" }):
		return "repeat"
	case r.causes() > 0:
		return "policy"
	case len(r.Receipts) > 0 && r.Receipts[0].Kind == "look_up":
		return "look-up"
	}
	return "receipt"
}

// readAll reads every row in full.
func (w *settleWorld) readAll() []settleRow {
	w.t.Helper()
	rows := make([]settleRow, len(w.ids))
	var readers sync.WaitGroup
	const each = 8
	for first := range each {
		readers.Go(func() {
			for i := first; i < len(rows); i += each {
				w.do(http.MethodGet, "/v1/notifications/"+w.ids[i], "", &rows[i])
				rows[i].n = i
			}
		})
	}
	readers.Wait()
	return rows
}

// settleLine is what the table says of one provider.
type settleLine struct {
	rows, lost, never, caused, blind, missing, wrong int
	by                                               map[string]int
}

// settleAll judges what settled by itself, lets a person settle the rest, and judges again.
func (w *settleWorld) settleAll(seed uint64) {
	rows := w.readAll()
	lines := w.judge(rows)
	w.person(rows)
	rows = w.readAll()
	for name, l := range w.judge(rows) { // what a person did after that cannot be better
		before := lines[name]
		before.caused, before.blind, before.missing, before.wrong = l.caused, l.blind, l.missing, l.wrong
	}
	for i := range rows {
		if r := &rows[i]; r.State != "sent" && r.State != "failed" {
			w.t.Errorf("%s is still %s (%s)", r.token(), r.State, r.Reason)
		}
	}
	w.t.Logf("seed %d: %d events, %d crashes, %d outages\n%s", seed, len(rows), w.crashes, w.outages, settleTable(lines))
	for _, kind := range bubbleKinds {
		l := lines[kind.name]
		most := l.lost * (100 - kind.share) / 100
		if l.lost < settleFew { // a share of so few says nothing
			most += l.never + 4
		}
		if l.by["person"] > most {
			w.t.Errorf("%s: %d of %d lost answers wait for a person, at most %d may", kind.name, l.by["person"], l.lost, most)
		}
		if told := l.by["receipt"] + l.by["repeat"] + l.by["look-up"]; kind.share == 0 && told > 0 {
			w.t.Errorf("%s: %d lost answers were settled by a provider that tells nothing", kind.name, told)
		}
		for status, n := range w.fakes[kind.name].Posted() {
			if status != 0 && status/100 != 2 && status != http.StatusServiceUnavailable {
				w.t.Errorf("%s: %d receipts were answered %d", kind.name, n, status)
			}
		}
		if f := w.fakes[kind.name]; f.Conflicts() > 0 {
			w.t.Errorf("%s: %d repeats had other bytes than the first", kind.name, f.Conflicts())
		}
	}
	w.stop()
	w.check()
}

// judge holds each row against what the providers saw of it, by the tokens in the texts. Rows with one text share a token.
func (w *settleWorld) judge(rows []settleRow) map[string]*settleLine {
	lines, together := map[string]*settleLine{}, map[string][]*settleRow{}
	for i := range rows {
		r := &rows[i]
		l := lines[r.kind()]
		if l == nil {
			l = &settleLine{by: map[string]int{}}
			lines[r.kind()] = l
		}
		l.rows++
		together[r.token()] = append(together[r.token()], r)
		if r.lost() {
			l.lost++
			l.by[r.by()]++
		}
	}
	ids := map[string]map[string]bool{} // that the providers gave, by token
	for _, f := range w.fakes {
		for _, m := range f.Accepted() {
			if ids[m.Token] == nil {
				ids[m.Token] = map[string]bool{}
			}
			ids[m.Token][m.ID] = true
		}
	}
	for token, group := range together {
		l, got := lines[group[0].kind()], w.fakes[group[0].kind()].Received(token)
		for _, fault := range l.judgeGroup(group, got, ids[token]) {
			w.t.Error(fault)
		}
	}
	return lines
}

// judgeGroup judges the rows of one text, which was received got times under these message ids, and returns what is wrong.
func (l *settleLine) judgeGroup(group []*settleRow, got int, ids map[string]bool) (faults []string) {
	sent, causes, mentioned := 0, 0, map[string]bool{}
	fault := func(count *int, r *settleRow, format string, args ...any) {
		*count++
		faults = append(faults, fmt.Sprintf("%s is %s (%s) and was received %d times: ", r.token(), r.State, r.Reason, got)+
			fmt.Sprintf(format, args...)+fmt.Sprintf("\n%+v", *r))
	}
	for _, r := range group {
		causes += r.causes()
		if r.lost() && got == 0 {
			l.never++
		}
		switch {
		case r.State != "ambiguous" && r.State != "sent" && r.State != "failed":
			fault(&l.missing, r, "it is lost")
		case r.State == "sent":
			sent++
		case r.State == "failed" && !r.MaybeSent && got > 0 && len(group) == 1:
			fault(&l.wrong, r, "it went out, and it does not say that it may have")
		}
		if id := r.plainID(); id != "" {
			if !ids[id] || mentioned[id] {
				fault(&l.wrong, r, "its message id is not its own")
			}
			mentioned[id] = true
		}
		if r.Delivery != "" && got == 0 {
			fault(&l.wrong, r, "it cannot be %s", r.Delivery)
		}
	}
	if sent > got {
		fault(&l.wrong, group[0], "%d rows of its text are sent", sent)
	}
	if more := got - len(group); more > causes {
		fault(&l.blind, group[0], "there are %d rows and %d recorded causes for more", len(group), causes)
	} else if more > 0 {
		l.caused += more
	}
	return faults
}

// plainID is a row's message id as its fake gave it; "": a mail server gives none.
func (r *settleRow) plainID() string {
	if r.kind() == "smtp" {
		return ""
	}
	return strings.TrimPrefix(r.MessageID, "projects/fake/messages/")
}

// person settles what waits for one: it looks at the provider's own pages, but for a hasty one now and then, who only releases.
func (w *settleWorld) person(rows []settleRow) {
	for _, f := range w.fakes {
		f.Behave(fake.Accept)
	}
	known := map[string]int{} // messages of a text that rows already have
	for i := range rows {
		if rows[i].State == "sent" {
			known[rows[i].token()]++
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.State != "ambiguous" {
			continue
		}
		action := "release"
		if hasty := r.kind() == "fcm" && i%50 == 7; !hasty && w.fakes[r.kind()].Received(r.token()) > known[r.token()] {
			action = "confirm"
			known[r.token()]++
		}
		var after settleRow
		w.do(http.MethodPost, "/v1/notifications/"+r.ID+"/"+action, `{"reason":"looked at the provider's pages"}`, &after, fmt.Sprintf("If-Match: %q", fmt.Sprint(r.Version)))
	}
	time.Sleep(time.Hour)
}
