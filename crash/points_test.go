package crash

import (
	"context"
	"net/url"
	"testing"
	"time"

	"sendonce/fake"
)

// F03, F11: a process that dies at each of the places at which a notification can be. What had not begun is sent, what had
// begun is ambiguous at once and never sent again by itself, and the event posted again finds its row.
func TestPoints_F03_F11_KilledAtEachOne(t *testing.T) {
	for _, c := range []struct {
		point  string
		state  string // after the restart
		reason string
		calls  int // in all
	}{
		{"claim_committed", "sent", "", 1},                   // its provider has a rate, so it waits for its take
		{"claim_committed", "ambiguous", "process_ended", 0}, // its provider is free: taken in the same commit
		{"attempt_opened", "ambiguous", "process_ended", 0},  // nothing left, but nobody can know
		{"request_written", "ambiguous", "process_ended", 1},
		{"answer_read", "ambiguous", "process_ended", 1},
		{"closed", "sent", "", 1},
	} {
		t.Run(c.point+" "+c.state, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			arrived := make(chan struct{}, 8)
			changes := []setting{oneProvider}
			if c.point == "claim_committed" && c.state == "sent" {
				changes = append(changes, setting{"key-of-main,", "key-of-main, rate: 1000/s,"})
			}
			p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(fake.Request) { arrived <- struct{}{} }}, changes...)
			body := smsBody("evt-1", "+15550100001", "tok_1")
			s := p.start("CRASH_AT=" + c.point)
			first, lost := s.api.post(ctx, body, 0)
			s.killed()
			if c.point == "request_written" { // the bytes were handed to the kernel; they arrive, dead client or not
				select {
				case <-arrived:
				case <-time.After(patience):
					t.Fatal("the request did not leave")
				}
			}

			s = p.start()
			again, err := s.api.post(ctx, body, 5*time.Second)
			if err != nil || again.Status != 200 || !again.Duplicate || lost == nil && again.ID != first.ID {
				t.Fatalf("the event again: status %d, row %s after %s: %v", again.Status, again.ID, first.ID, err)
			}
			n, err := s.api.get(ctx, again.ID)
			if err != nil || n.State != c.state || n.Reason != c.reason || n.MaybeSent != (c.state == "ambiguous") || len(n.Attempts) != 1 {
				t.Errorf("it is %s %s after %d attempts, want %s %s: %v", n.State, n.Reason, len(n.Attempts), c.state, c.reason, err)
			}
			if again.State != n.State {
				t.Errorf("the second caller was told %s", again.State)
			}
			unknown := 0
			if err := s.api.list(ctx, url.Values{"state": {"ambiguous"}}, func(row) bool { unknown++; return true }); err != nil || (unknown == 1) != (c.state == "ambiguous") {
				t.Errorf("the list of unknowns has %d rows: %v", unknown, err)
			}
			s.stop(patience)
			s = p.start() // nor does a second start send it
			if again, err = s.api.post(ctx, body, time.Second); err != nil || again.State != c.state {
				t.Errorf("after another start: %s: %v", again.State, err)
			}
			s.stop(patience)
			if got := p.fake.Requests(); got != c.calls {
				t.Errorf("%d calls, want %d", got, c.calls)
			}
			p.received("tok_1", c.calls)
			p.check()
		})
	}
}
