package crash

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"sendonce/fake"
)

// spoil makes every such system call on one file fail from now on.
func spoil(s *service, calls, file string) *strace {
	return attach(s, "-e", "trace="+calls, "-e", "inject="+calls+":error=EIO", "-P", file)
}

// struck waits until a call was spoiled.
func (x *strace) struck() {
	x.t.Helper()
	eventually(x.t, "a system call is spoiled", func() bool { return x.injected() > 0 })
}

// spoiled is a stage at which a COMMIT fails, at its sync or at its writing.
type spoiled struct {
	place  *place
	calls  string // the system calls that fail
	s      *service
	x      *strace
	answer chan answer // of the caller who posted evt-1; zero Status: none came
}

// The stages. Each returns when just that commit has failed, with its system calls still failing.
var stages = map[string]func(*spoiled, chan<- struct{}){
	"claim": func(c *spoiled, _ chan<- struct{}) {
		c.x = spoil(c.s, c.calls, c.place.database+"-wal")
		go c.post(smsBody("evt-1", "+14155550101", "tok_1"))
		c.x.struck()
	},
	"take": func(c *spoiled, _ chan<- struct{}) {
		at := time.Now().Add(4 * time.Second).UTC().Format(time.RFC3339Nano)
		go c.post([]byte(`{"event_id":"evt-1","channel":"sms","recipient":"+14155550101","message":{"text":"tok_1"},"send_at":"` + at + `"}`))
		eventually(c.place.t, "the claim stands", func() bool { return !c.s.api.none(context.Background(), "claimed") })
		c.x = spoil(c.s, c.calls, c.place.database+"-wal")
		c.x.struck()
	},
	"close": func(c *spoiled, release chan<- struct{}) {
		go c.post(smsBody("evt-1", "+14155550101", "tok_1"))
		eventually(c.place.t, "the request is at the provider", func() bool { return c.place.fake.Requests() == 1 })
		c.x = spoil(c.s, c.calls, c.place.database+"-wal")
		close(release)
		c.x.struck()
	},
}

func (c *spoiled) post(body []byte) {
	a, err := c.s.api.post(context.Background(), body, 20*time.Second)
	if err != nil {
		a.Status = 0
	}
	c.answer <- a
}

// Keeps out a COMMIT whose error is taken for "did not happen": a second row, a second message, or a caller who was told
// what is not so. The disk heals after a while, or the process is killed while nobody knows.
func TestDisk_FailsAtCommit(t *testing.T) {
	needs(t, "strace")
	for name, calls := range map[string]string{"sync": "fsync,fdatasync", "write": "pwrite64"} {
		for _, stage := range []string{"claim", "take", "close"} {
			for _, end := range []string{"heals", "killed"} {
				t.Run(name+"/"+stage+"/"+end, func(t *testing.T) {
					t.Parallel()
					failAtCommit(t, calls, stage, end == "killed")
				})
			}
		}
	}
}

func failAtCommit(t *testing.T, calls, stage string, kill bool) {
	release := make(chan struct{})
	o := fake.Options{WellBehaved: true}
	if stage == "close" {
		o.OnRequest = func(fake.Request) { <-release }
	}
	c := &spoiled{place: newPlace(t, o), calls: calls, answer: make(chan answer, 1)}
	c.s = c.place.start()
	before := c.place.fake.Requests()
	stages[stage](c, release)

	// While nobody knows, a new event is put off and nothing new is sent.
	a, err := c.s.api.post(context.Background(), smsBody("evt-2", "+14155550102", "tok_2"), 0)
	if err != nil || a.Status != http.StatusServiceUnavailable || a.Code != "storage_unknown" && a.Code != "storage_unavailable" {
		t.Errorf("a claim while syncs fail: status %d %s, %v", a.Status, a.Code, err)
	}
	if calls := c.place.fake.Requests() - before; stage != "close" && calls != 0 {
		t.Errorf("%d calls on a commit that is not durable", calls)
	}
	if c.s.api.ready(context.Background()) {
		t.Error("/readyz says yes while no claim can be made durable")
	}
	var seen []string // it was this stage's commit that failed: readers see the row as it was before
	if err := c.s.api.list(context.Background(), nil, func(n row) bool { seen = append(seen, n.State); return true }); err != nil {
		t.Error(err)
	}
	if want := map[string]string{"claim": "[]", "take": "[claimed]", "close": "[sending]"}[stage]; fmt.Sprint(seen) != want {
		t.Errorf("while nobody knows, readers see %v, want %s", seen, want)
	}

	if kill {
		c.s.kill()
		c.x.detach()
		c.place.check()
		c.s = c.place.start()
	} else {
		c.x.detach()
	}
	c.settle(t, <-c.answer, stage, kill)
}

// settle posts both events until they are acknowledged and demands one message each, or none where nobody can know.
func (c *spoiled) settle(t *testing.T, told answer, stage string, kill bool) {
	ctx := context.Background()
	switch told.Status {
	case 0, http.StatusAccepted, http.StatusServiceUnavailable:
	default:
		t.Errorf("the caller was told %d %s", told.Status, told.Code)
	}
	if stage == "claim" && !kill && told.Status == 0 {
		t.Error("the caller got no answer at all")
	}
	var rows [2]answer
	for i, body := range [][]byte{smsBody("evt-1", "+14155550101", "tok_1"), smsBody("evt-2", "+14155550102", "tok_2")} {
		if stage == "take" && i == 0 {
			body = []byte(`{"event_id":"evt-1","channel":"sms","recipient":"+14155550101","message":{"text":"tok_1"}}`)
		}
		eventually(t, "the event is acknowledged", func() bool {
			a, err := c.s.api.post(ctx, body, 0)
			rows[i] = a
			return err == nil && (a.Status == http.StatusAccepted || a.Status == http.StatusOK)
		})
	}
	if told.Status == http.StatusAccepted && (told.ID != rows[0].ID || rows[0].Status != http.StatusOK) {
		t.Errorf("evt-1 was acknowledged as %s and is %s now, status %d", told.ID, rows[0].ID, rows[0].Status)
	}
	c.s.idle()
	first, err := c.s.api.get(ctx, rows[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	received := c.place.fake.Received("tok_1")
	switch {
	case told.final() && first.State != told.State:
		t.Errorf("the caller was told %s; the row is %s", told.State, first.State)
	case first.State == "sent" && received == 1:
	case first.State == "ambiguous" && first.Reason == "process_ended" && kill && stage != "claim" && received <= 1:
	default:
		t.Errorf("evt-1 is %s %s and was received %d times", first.State, first.Reason, received)
	}
	c.place.received("tok_2", 1)
	c.s.stop(patience)
	c.place.check()
}

// Keeps out a service that stops, or takes itself for an old copy later, because its lock file can't be written for a while.
func TestDisk_LockFileFails(t *testing.T) {
	needs(t, "strace")
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	s := p.start()
	x := spoil(s, "fsync,fdatasync,pwrite64,write", p.database+".lock")
	for i := 0; x.injected() == 0; i++ { // it is written once a second while there are commits
		if a := p.send(s, fmt.Sprint("evt-", i), fmt.Sprint("tok_", i)); a.State != "sent" {
			t.Fatalf("the row is %s %s", a.State, a.Reason)
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.kill()
	x.detach()
	s = p.start()
	if a := p.send(s, "evt-next", "tok_next"); a.State != "sent" {
		t.Errorf("after a restart a claim is %s %s", a.State, a.Reason)
	}
	s.stop(patience)
	p.check()
}
