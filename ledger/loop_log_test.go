package ledger_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

// lines counts what is logged, by message.
type lines struct {
	mu    sync.Mutex
	count map[string]int
	text  bytes.Buffer
}

// logger returns a logger for every level.
func (l *lines) logger() *slog.Logger {
	l.count = map[string]int{}
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, rest, _ := strings.Cut(string(line), " msg=")
	message, _, _ := strings.Cut(rest, " id=")
	message, _, _ = strings.Cut(message, " provider=")
	l.count[message]++
	return l.text.Write(line)
}

func (l *lines) all() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.count {
		n += c
	}
	return n
}

func (l *lines) has(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// F39: a provider that is down for an hour while a thousand rows wait costs few requests and few lines.
func TestLog_F39_ProviderDownForAnHour(t *testing.T) {
	for name, result := range map[string]ledger.Result{"unreachable": unreachable, "credentials": credentials, "throttled": throttled(time.Minute)} {
		t.Run(name, func(t *testing.T) {
			var log lines
			bubble(t, func(r *rig) { r.log = log.logger() }, func(t *testing.T, r *rig) {
				a := r.scripts["a"]
				a.then(result)
				r.claim("closes the gate")
				r.claimMany(999)
				r.advance(time.Hour)
				calls, written := len(a.sent()), log.all()
				if calls > 120 {
					t.Errorf("%d requests in an hour", calls)
				}
				if written > calls+10 {
					t.Errorf("%d lines for %d attempts: %v", written, calls, log.count)
				}
				a.then(accepted(""))
				r.advance(10 * time.Minute)
				if st, err := r.ledger.Stats(context.Background()); err != nil || st.States[ledger.StateSent] != 1000 {
					t.Errorf("sent afterwards: %v (%v)", st.States, err)
				}
				if written := log.all(); written > len(a.sent())+20 {
					t.Errorf("%d lines for %d attempts: %v", written, len(a.sent()), log.count)
				}
			})
		})
	}
}

// broken is a store that fails in some of its calls while it is told to.
type broken struct {
	*store.Store
	closes, takes, reads *atomic.Bool
}

func (s broken) Close(c ledger.Closing, decide func(ledger.CloseFacts) ledger.Change) (ledger.Notification, error) {
	if s.closes.Load() {
		return ledger.Notification{}, errDisk
	}
	return s.Store.Close(c, decide)
}

func (s broken) Take(t ledger.Taking) error {
	if s.takes.Load() {
		return errDisk
	}
	return s.Store.Take(t)
}

func (s broken) Due(ctx context.Context, q ledger.DueQuery) ([]ledger.Notification, error) {
	if s.reads.Load() {
		return nil, errDisk
	}
	return s.Store.Due(ctx, q)
}

func (s broken) Waiting(ctx context.Context, at time.Time, limit int) ([]ledger.Notification, error) {
	if s.reads.Load() {
		return nil, errDisk
	}
	return s.Store.Waiting(ctx, at, limit)
}

// F39: a disk that fails for an hour must not be filled by lines that say so, or it would never be well again.
func TestLog_F39_TheStoreFailsForAnHour(t *testing.T) {
	for _, name := range []string{"closes", "takes", "reads"} {
		t.Run(name, func(t *testing.T) {
			var log lines
			var closes, takes, reads atomic.Bool
			bubble(t, func(r *rig) {
				r.log = log.logger()
				r.wrap = func(s *store.Store) ledger.Store { return broken{s, &closes, &takes, &reads} }
			}, func(t *testing.T, r *rig) {
				on := map[string]*atomic.Bool{"closes": &closes, "takes": &takes, "reads": &reads}[name]
				on.Store(true)
				later := time.Now().Add(time.Second) // so that claim and take are two writes
				for i := range 16 {
					r.claim(fmt.Sprint("e", i), func(e *ledger.Event) {
						if name == "takes" {
							e.SendAt = later
						}
					})
				}
				r.stopReads(name)
				before := log.all()
				r.advance(time.Hour)
				if n := log.all() - before; n == 0 || n > 1000 {
					t.Errorf("%d lines in an hour: %v", n, log.count)
				}
				on.Store(false)
				r.advance(2 * time.Minute)
				if st, err := r.ledger.Stats(context.Background()); err != nil || st.States[ledger.StateSent] != st.Notifications {
					t.Errorf("sent afterwards: %v (%v)", st.States, err)
				}
			})
		})
	}
}

// stopReads makes the loop need its reads: memory holds nothing any more.
func (r *rig) stopReads(name string) {
	if name == "reads" {
		if _, err := r.ledger.Pause(context.Background(), "a", "ops", "test"); err != nil {
			r.t.Fatal(err)
		}
		r.claim("behind", func(e *ledger.Event) { e.SendAt = time.Now().Add(time.Minute) })
		if _, err := r.ledger.Resume(context.Background(), "a", "ops"); err != nil {
			r.t.Fatal(err)
		}
	}
}

// looks counts how often the store is asked.
type looks struct {
	*store.Store
	n *atomic.Int64
}

func (s looks) Due(ctx context.Context, q ledger.DueQuery) ([]ledger.Notification, error) {
	s.n.Add(1)
	return s.Store.Due(ctx, q)
}

func (s looks) Waiting(ctx context.Context, at time.Time, limit int) ([]ledger.Notification, error) {
	s.n.Add(1)
	return s.Store.Waiting(ctx, at, limit)
}

// F15: a row that cannot be worked on does not make the loop turn, nor write lines.
func TestStart_F15_NoBusyLoopOverARowThatWaits(t *testing.T) {
	var log lines
	var asked atomic.Int64
	bubble(t, func(r *rig) {
		r.log, r.unchecked = log.logger(), true
		r.wrap = func(s *store.Store) ledger.Store { return looks{s, &asked} }
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(unreachable)
		r.claim("first") // closes the gate
		n := r.claim("pinned", func(e *ledger.Event) { e.Provider = "a" })
		r.stop()
		r.plant(fmt.Sprintf(`UPDATE notifications SET provider = 'gone' WHERE seq = %d`, n.Seq))
		r.scripts["a"].then(accepted(""))
		r.start()
		r.expect(n, ledger.StateClaimed, ledger.ReasonProviderMissing)
		before := asked.Load()
		r.advance(24 * time.Hour)
		if got := asked.Load() - before; got > 3*24*60*2 { // each of the three looks at most about once a minute
			t.Errorf("%d looks in a day", got)
		}
		if got := log.has(n.ID.String()); got != 0 {
			t.Errorf("%d lines about a row that waits", got)
		}
	})
}
