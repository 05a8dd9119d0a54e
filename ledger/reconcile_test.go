package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sendonce/ledger"
)

// lister is a provider whose list the test writes.
type lister struct {
	*script
	lag        time.Duration
	list       []ledger.Listed
	references map[string]string // by message id, of those that the list does not show
	asked      int
	err        error
	query      ledger.ListQuery
}

func (l *lister) ListLag() time.Duration { return l.lag }

func (l *lister) List(_ context.Context, q ledger.ListQuery) error {
	l.query = q
	for _, m := range l.list {
		if m.At.Before(q.From) || !m.At.Before(q.Until) {
			continue
		}
		if err := q.Visit(m); err != nil {
			return err
		}
	}
	return l.err
}

func (l *lister) Reference(_ context.Context, _ ledger.ListQuery, m ledger.Listed) (string, error) {
	l.asked++
	return l.references[m.MessageID], nil
}

// has puts a message into the list.
func (l *lister) has(id string, change ...func(*ledger.Listed)) {
	m := ledger.Listed{MessageID: id, Name: id, Recipient: "+15550100001", Status: "delivered", At: time.Now()}
	for _, c := range change {
		c(&m)
	}
	l.list = append(l.list, m)
}

// reconcile compares and writes each mismatch as "kind row message-ids".
func (r *rig) reconcile(l ledger.Lister, from, until time.Time) (ledger.Reconciled, []string, error) {
	var found []string
	count, err := ledger.Reconcile(context.Background(), r.disk, ledger.Reconciliation{
		Provider: "a", Lister: l, Channels: []ledger.Channel{ledger.SMS}, From: from, Until: until, Now: time.Now, Progress: func(int64, time.Time) {},
		Wait: func(context.Context, time.Duration) error { return nil },
		Found: func(m ledger.Mismatch) {
			row := "none"
			if rec, err := r.ledger.Get(context.Background(), m.ID, nil); err == nil {
				row = rec.EventID
			}
			found = append(found, fmt.Sprint(m.Kind, " ", row, " ", m.MessageIDs))
		},
	})
	slices.Sort(found)
	return count, found, err
}

func (r *rig) expectFound(l ledger.Lister, from, until time.Time, want ...string) ledger.Reconciled {
	r.t.Helper()
	count, found, err := r.reconcile(l, from, until)
	if err != nil || !slices.Equal(found, want) {
		r.t.Errorf("%v, found %q, want %q", err, found, want)
	}
	return count
}

// sends makes the provider accept with an id, or lose its answer, and lists what it took.
func (l *lister) sends(r *rig, event, id string, result ledger.Result) ledger.Notification {
	l.then(result)
	n := r.claim(event)
	if id != "" {
		l.has(id)
	}
	return n
}

func newLister(r *rig) *lister { return &lister{script: r.scripts["a"], lag: 30 * time.Minute} }

func TestReconcile_WhatBothHaveIsNoDifference(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		l, begun := newLister(r), time.Now()
		l.sends(r, "sent", "m1", accepted("m1"))
		l.sends(r, "refused", "", rejected)
		l.sends(r, "lost", "", lost)
		l.has("m1") // some lists name a message twice
		r.advance(time.Hour)
		count := r.expectFound(l, begun, time.Now())
		if count != (ledger.Reconciled{Listed: 1, Attempts: 2}) {
			t.Errorf("%+v", count)
		}
		if l.query.From.After(begun.Add(-time.Minute)) || l.query.Until.Before(time.Now().Add(5*time.Minute)) {
			t.Errorf("asked for %v to %v: clocks and queues differ", l.query.From, l.query.Until)
		}
	})
}

func TestReconcile_EachDifference(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		l, begun := newLister(r), time.Now()
		byReference := func(n ledger.Notification, number int) func(*ledger.Listed) {
			return func(m *ledger.Listed) { m.Reference = fmt.Sprint(n.ID, "-", number) }
		}
		lostThere := l.sends(r, "lost there", "", lost)
		l.has("m1", byReference(lostThere, 1))
		asked := l.sends(r, "asked", "m2", lost) // its reference has to be asked for
		l.references = map[string]string{"m2": fmt.Sprint(asked.ID, "-1"), "m9": "no reference"}
		l.sends(r, "gone", "", accepted("m3"))
		confirmed := l.sends(r, "confirmed", "", lost)
		twice := l.sends(r, "twice", "", lost)
		l.has("m4", byReference(twice, 1))
		l.then(accepted("m5"))
		l.has("m5")
		for n, action := range map[*ledger.Notification]ledger.Cause{&confirmed: ledger.CauseConfirm, &twice: ledger.CauseRelease} {
			if _, err := r.act(*n, ledger.Act{Action: action, IfMatch: r.row(*n).Version}); err != nil {
				t.Fatal(err)
			}
		}
		l.has("m9", func(m *ledger.Listed) { m.Recipient = "+15550100009" })
		r.advance(time.Hour)
		r.expectFound(l, begun, time.Now(),
			"absent_there confirmed []", "absent_there gone [m3]", "twice_there twice [m4 m5]", "unknown_here none [m9]",
			"unsettled_here asked [m2]", "unsettled_here lost there [m1]")
		if l.asked != 2 {
			t.Errorf("%d messages were asked for one by one", l.asked)
		}
		r.expect(lostThere, ledger.StateAmbiguous, ledger.ReasonNoAnswer) // nothing was written
		l.err = errors.New("cut")
		if _, found, err := r.reconcile(l, begun, time.Now()); err == nil || found != nil {
			t.Errorf("half a list gives %q, %v", found, err)
		}
	})
}

// Without a reference a lost message is found by recipient and time, and only said to be perhaps the row's.
func TestReconcile_Perhaps(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		l, begun := newLister(r), time.Now()
		l.sends(r, "lost", "m1", lost)
		r.advance(10 * time.Minute)
		l.has("late") // too late for the attempt
		released := l.sends(r, "released", "m2", lost)
		l.then(accepted("m3"))
		l.has("m3")
		if _, err := r.act(released, ledger.Act{Action: ledger.CauseRelease, IfMatch: r.row(released).Version}); err != nil {
			t.Fatal(err)
		}
		r.advance(time.Hour)
		r.expectFound(l, begun, time.Now(), "unknown_here lost [m1]", "unknown_here none [m2]", "unknown_here released [late]")
	})
}

// What is young may not be listed yet, and what lies outside of the time in question is not told.
func TestReconcile_Margins(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		l := newLister(r)
		l.sends(r, "before", "", accepted("m0"))
		l.has("x0")
		r.advance(10 * time.Minute)
		begun := time.Now()
		l.sends(r, "queued", "", accepted("m1"))
		l.has("m1", func(m *ledger.Listed) { m.At = begun.Add(-30 * time.Second) }) // its clock is behind
		r.advance(time.Hour)
		l.sends(r, "young", "", accepted("m2"))
		r.advance(29 * time.Minute)
		if count := r.expectFound(l, begun, time.Now()); count.NotYet != 1 || count.Attempts != 2 {
			t.Errorf("%+v", count)
		}
		end := time.Now()
		l.sends(r, "after", "", accepted("m4"))
		l.has("x4", func(m *ledger.Listed) { m.Recipient = "+15550100009" })
		r.advance(2 * time.Hour)
		r.expectFound(l, begun, end, "absent_there young [m2]")
	})
}

// The parts of a long text are one message, by the ids that the ledger has or by the mark that the provider's list has.
func TestReconcile_PartsAreOneMessage(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		l, begun := newLister(r), time.Now()
		long := accepted("")
		long.MessageIDs = []string{"p1", "p2", "p3"}
		l.sends(r, "known", "p1", long)
		l.has("p2")
		l.has("p3")
		unknown := l.sends(r, "lost", "", lost)
		for _, id := range []string{"q1", "q2"} {
			l.has(id, func(m *ledger.Listed) { m.Reference, m.Part = fmt.Sprint(unknown.ID, "-1"), true })
		}
		r.advance(2 * time.Hour)
		r.expectFound(l, begun, time.Now(), "unsettled_here lost [q1 q2]")
	})
}

// holder is a lister whose service shows messages by their ids too.
type holder struct {
	*lister
	holds []string
}

func (h *holder) Holds(_ context.Context, _ ledger.ListQuery, id string) (bool, error) {
	h.asked++
	return slices.Contains(h.holds, id), nil
}

// A list that leaves something out is no word against a message that its service still shows.
func TestReconcile_AsksForWhatTheListLacks(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		h, begun := &holder{lister: newLister(r), holds: []string{"m1"}}, time.Now()
		h.sends(r, "stuck", "", accepted("m1"))
		h.sends(r, "gone", "", accepted("m2"))
		h.sends(r, "listed", "m3", accepted("m3"))
		h.sends(r, "lost", "", lost)
		r.advance(time.Hour)
		h.sends(r, "young", "", accepted("m4"))
		r.expectFound(h, begun, time.Now().Add(time.Second), "absent_there gone [m2]")
		if h.asked != 2 {
			t.Errorf("%d ids were asked for", h.asked)
		}
	})
}
