package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// verdict holds the whole ledger against what was posted and what the provider counted.
func (r *run) verdict() {
	s := r.place.start()
	before := r.place.fake.Requests()
	r.repostAll(s)
	rows := map[string]row{}
	err := s.api.list(context.Background(), url.Values{"sort": {"oldest"}}, func(n row) bool {
		if _, twice := rows[n.EventID]; twice {
			r.t.Errorf("%s has two rows", n.EventID)
		}
		rows[n.EventID] = n
		r.tally.states[n.State]++
		return true
	})
	if err != nil {
		r.t.Fatal(err)
	}
	counts := r.place.fake.Counts()
	for _, e := range r.events {
		n, whole := rows[e.id]
		if !whole {
			n = r.leftOf(s, e)
		}
		if n.ID != e.told {
			r.tally.missing++
			r.t.Errorf("%s was acknowledged as %s; the ledger has %q", e.id, e.told, n.ID)
			continue
		}
		if wrong := e.judge(&n, counts[e.token]); wrong != "" {
			full, _ := s.api.get(context.Background(), n.ID)
			r.t.Errorf("%s (%v) is %s %s and was received %d times: %s\n%+v", e.id, e.script, n.State, n.Reason, counts[e.token], wrong, full)
		}
		if counts[e.token] > 1 {
			r.tally.twice++
		}
		delete(counts, e.token)
	}
	if len(counts) > 0 {
		r.t.Errorf("received without an event: %v", counts)
	}
	if len(rows)+r.tally.erased != len(r.events) {
		r.t.Errorf("%d rows and %d erased ones for %d events", len(rows), r.tally.erased, len(r.events))
	}
	s.stop(patience)
	if after := r.place.fake.Requests(); after != before {
		r.t.Errorf("posting all events again made %d calls", after-before)
	}
	r.place.check()

	r.tally.events, r.tally.calls, r.tally.received = len(r.events), r.place.fake.Requests(), len(r.place.fake.Accepted())
	r.tally.took = time.Since(r.began)
}

// leftOf reads what is left of an event's row that was erased: lists do not show it. The zero row: nothing.
func (r *run) leftOf(s *service, e *event) row {
	n, err := s.api.get(context.Background(), e.told)
	if err != nil || !n.erased() {
		r.t.Errorf("%s is in no list and was not erased: %+v, %v", e.id, n, err)
		return row{}
	}
	r.tally.erased++
	r.tally.states[n.State]++
	return n
}

// judge says what is wrong with an event's end; empty: nothing.
func (e *event) judge(n *row, received int) string {
	switch {
	case received > 1:
		return "twice or more"
	case e.toldState != "" && n.State != e.toldState:
		return "a caller was told " + e.toldState
	case n.State == "sent" && received != 1:
		return "sent, and not received"
	case n.State == "failed" && (received != 0 || !e.refused()):
		return "failed without a refusal"
	case n.State != "sent" && n.State != "failed" && n.State != "ambiguous":
		return "it is left behind"
	case n.erased() && !n.final():
		return "it was erased, although it had not ended"
	}
	return ""
}

// repostAll posts every event of the run once more, in batches; each must be known.
func (r *run) repostAll(s *service) {
	for chunk := range slices.Chunk(r.events, 500) {
		bodies := make([]json.RawMessage, len(chunk))
		for i, e := range chunk {
			bodies[i] = e.body
		}
		answers, status, err := s.api.batch(context.Background(), bodies)
		if err != nil || status != http.StatusOK || len(answers) != len(chunk) {
			r.t.Fatalf("the batch of known events: status %d, %d answers: %v", status, len(answers), err)
		}
		for i, a := range answers {
			if r.note(chunk[i], a, nil); a.Status != http.StatusOK {
				r.t.Errorf("%s is not known any more: status %d", chunk[i].id, a.Status)
			}
		}
	}
}

// tally is what the table shows.
type tally struct {
	kills                                    map[string]int // by point; "" from outside
	startKills, openKills, mostOpen          int
	requests, claimed, known                 int // events that callers posted, and how they were answered
	later, unanswered                        int
	events, calls, received                  int
	erased, knownErased                      int
	states                                   map[string]int
	processEnded, answerLost, twice, missing int
	took                                     time.Duration
}

func newTally() tally { return tally{kills: map[string]int{}, states: map[string]int{}} }

// String is the table.
func (t *tally) String() string {
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%-46s %10v\n", name, value) }
	total := 0
	for _, p := range points {
		total += t.kills[p]
	}
	line("kills under load", total)
	for _, p := range points {
		name := "at " + p
		if p == "" {
			name = "from outside, at a random moment"
		}
		line("  "+name, t.kills[p])
	}
	line("  with an attempt open", t.openKills)
	line("  most attempts open at one kill", t.mostOpen)
	line("kills in the middle of a start", t.startKills)
	line("events posted, repeats included", t.requests)
	line("  acknowledged as new (202)", t.claimed)
	line("  acknowledged as known (200)", t.known)
	line("    of which erased", t.knownErased)
	line("  put off (503, 429)", t.later)
	line("  without an answer", t.unanswered)
	line("events", t.events)
	for _, s := range []string{"sent", "failed", "ambiguous", "sending", "claimed"} {
		line("  "+s, t.states[s])
	}
	line("  ambiguous: the process ended", t.processEnded)
	line("  ambiguous: the provider lost the answer", t.answerLost)
	line("  erased by now", t.erased)
	line("requests to the provider", t.calls)
	line("  messages received", t.received)
	line("  received twice", t.twice)
	line("acknowledged and missing", t.missing)
	line("run time", t.took.Round(100*time.Millisecond))
	return b.String()
}
