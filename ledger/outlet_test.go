package ledger

import (
	"testing"
	"time"
)

func newTestOutlet(name string) *outlet {
	return newOutlet(ProviderSettings{Name: name, Channels: []Channel{SMS}, Workers: 4, Provider: struct{ Provider }{}})
}

func dueRow(seq int64, lane Lane) Notification {
	return Notification{Seq: seq, Lane: lane, Channel: SMS, State: StateClaimed, Provider: "a"}
}

func any1(*Notification) bool { return true }

func popped(o *outlet) (seqs []int64) {
	for {
		n, ok := o.pop(any1)
		if !ok {
			return seqs
		}
		seqs = append(seqs, n.Seq)
	}
}

// A row that is claimed while the store is being read is in neither: not in the answer, and not in memory when the
// answer's "that is all" wins. It would then wait for the loop's longest sleep.
func TestOutlet_ReadingHidesNoOffer(t *testing.T) {
	o := newTestOutlet("a")
	now := time.Now()
	if _, lanes := o.reading(now); lanes != [2]bool{true, true} {
		t.Fatalf("a new outlet reads %v", lanes)
	}
	o.offer(dueRow(7, Normal)) // the answer below is older than this
	o.fill(Normal, []Notification{dueRow(3, Normal)}, time.Time{})
	o.fill(Urgent, nil, time.Time{})
	got := popped(o)
	if _, lanes := o.reading(now); len(got) != 2 && lanes[Normal] == false {
		t.Errorf("popped %v, and nothing more is read", got)
	}
}

// The same for memory that is dropped while the store is being read: its answer is of before.
func TestOutlet_ReadingHidesNoForget(t *testing.T) {
	o := newTestOutlet("a")
	now := time.Now()
	o.reading(now)
	o.forget()
	o.fill(Urgent, nil, time.Time{})
	o.fill(Normal, nil, time.Time{})
	if _, lanes := o.reading(now); lanes != [2]bool{true, true} {
		t.Errorf("reads %v after memory was dropped", lanes)
	}
}

func TestOutlet_OfferWhilePendingIsReadAgain(t *testing.T) {
	o := newTestOutlet("a")
	o.reading(time.Now())
	o.fill(Urgent, nil, time.Time{})
	o.fill(Normal, []Notification{dueRow(1, Normal)}, time.Time{})
	o.offer(dueRow(1, Normal)) // held and let go again
	if got := popped(o); len(got) != 1 {
		t.Fatalf("popped %v", got)
	}
	o.finish(1)
	if _, lanes := o.reading(time.Now()); !lanes[Normal] {
		t.Error("the second hand-over is lost")
	}
}

func TestOutlet_UrgentGoesFirst(t *testing.T) {
	o := newTestOutlet("a")
	o.reading(time.Now())
	o.fill(Urgent, nil, time.Time{})
	o.fill(Normal, []Notification{dueRow(1, Normal), dueRow(2, Normal)}, time.Time{})
	o.offer(dueRow(3, Urgent))
	if got := popped(o); len(got) != 3 || got[0] != 3 {
		t.Errorf("popped %v", got)
	}
}

func TestOutlet_RefusedRowsAreReadAgain(t *testing.T) {
	o := newTestOutlet("a")
	o.reading(time.Now())
	o.fill(Normal, []Notification{dueRow(1, Normal), dueRow(2, Normal)}, time.Time{})
	n, ok := o.pop(func(n *Notification) bool { return n.Seq == 2 })
	if !ok || n.Seq != 2 {
		t.Fatalf("popped %v %v", n.Seq, ok)
	}
	if _, lanes := o.reading(time.Now()); !lanes[Normal] {
		t.Error("row 1 was dropped from memory and is not read again")
	}
}

func TestOutlet_FullMemoryReadsTheRestFromTheStore(t *testing.T) {
	o := newTestOutlet("a")
	o.reading(time.Now())
	o.fill(Normal, nil, time.Time{})
	for i := range laneRoom + 5 {
		o.offer(dueRow(int64(i+1), Normal))
	}
	if got := len(popped(o)); got != laneRoom {
		t.Errorf("memory held %d rows", got)
	}
	if _, lanes := o.reading(time.Now()); !lanes[Normal] {
		t.Error("the rest is not read")
	}
}

func TestOutlet_NextDueMakesItRead(t *testing.T) {
	o := newTestOutlet("a")
	now := time.Now()
	o.reading(now)
	o.fill(Urgent, nil, now.Add(time.Hour))
	o.fill(Normal, nil, now.Add(time.Hour))
	o.schedule(now.Add(time.Minute))
	if got := o.again(false); !got.Equal(now.Add(time.Minute)) {
		t.Errorf("looks again at %v", got)
	}
	if _, lanes := o.reading(now.Add(time.Minute)); lanes != [2]bool{true, true} {
		t.Errorf("reads %v at the due time", lanes)
	}
}

// Keeps out two outlets that look for a road at each other, each with its own lock held: every claim and send stood still.
func TestOutlet_IsFreeWhileARowIsJudged(t *testing.T) {
	o := newTestOutlet("a")
	o.fill(Normal, []Notification{dueRow(1, Normal), dueRow(2, Normal)}, time.Time{})
	n, ok := o.pop(func(n *Notification) bool {
		if !o.mu.TryLock() {
			t.Fatal("whoever asks this outlet waits for the judge")
		}
		o.mu.Unlock()
		return n.Seq == 2
	})
	if !ok || n.Seq != 2 || o.pending[1] || !o.pending[2] {
		t.Errorf("row %d, %t, in work %v", n.Seq, ok, o.pending)
	}
}
