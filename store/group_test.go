package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"

	"sendonce/ledger"
)

// tenClaims is a store whose writer can be made to find ten claims waiting, in a known order.
type tenClaims struct {
	s      *Store
	o      Options
	queued chan struct{}
	poison func(t *tx, op *operation) // runs before the poisoned claim, each time it is tried
	heal   func(t *tx)                // runs before every other operation
	locked func()                     // runs once, when ten claims wait and the writer has no transaction

	committed atomic.Value // func(): runs once, after the next commit

	mu       sync.Mutex
	poisoned int // place in the group
	seen     map[*operation]int
}

func newTenClaims(t *testing.T) *tenClaims {
	b := &tenClaims{o: created(t), queued: make(chan struct{}), seen: map[*operation]int{}}
	b.o.hooks.queued = func() {
		b.queued <- struct{}{}
	}
	b.o.hooks.before = func(t *tx, op *operation) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if op.rows != 1 {
			return // what the test does between groups
		}
		place, again := b.seen[op]
		if !again {
			place = len(b.seen)
			b.seen[op] = place
		}
		switch {
		case place == b.poisoned && b.poison != nil:
			b.poison(t, op)
		case b.heal != nil:
			b.heal(t)
		}
	}
	b.o.hooks.commit = func(do func() error) error {
		err := do()
		if f, _ := b.committed.Swap(func() {}).(func()); f != nil {
			f()
		}
		return err
	}
	b.s = opened(t, b.o)
	return b
}

// quietly runs an operation that counts as none of the ten.
func (b *tenClaims) quietly(t *testing.T, do func(*tx) error) {
	t.Helper()
	if err := b.s.write(0, do); err != nil {
		t.Fatal(err)
	}
}

// group makes ten claims share a group and returns what each was answered.
func (b *tenClaims) group(t *testing.T, poisoned int, claims []ledger.Claim) []error {
	t.Helper()
	b.mu.Lock()
	b.poisoned, b.seen = poisoned, map[*operation]int{}
	b.mu.Unlock()
	hold, holding := make(chan struct{}), make(chan struct{})
	b.committed.Store(func() {
		close(holding)
		<-hold
	})
	var all sync.WaitGroup
	all.Go(func() { b.quietly(t, func(*tx) error { return nil }) })
	<-holding
	answers := make([]error, len(claims))
	for i := range claims {
		all.Go(func() { _, answers[i] = b.s.Claim(claims[i : i+1]) })
		<-b.queued
	}
	if b.locked != nil {
		b.locked()
		b.locked = nil
	}
	close(hold)
	all.Wait()
	return answers
}

// Keeps out the kind of F16: an error in the middle of a group, after which SQLite may have rolled back by itself, so that
// the rest is committed one by one, or reported as failed and stored.
func TestGroup_OnlyWhatFailsAloneFails(t *testing.T) {
	for name, c := range map[string]struct {
		want  int // SQLite's code
		setUp func(t *testing.T, b *tenClaims)
		spoil func(c *ledger.Claim)
	}{
		"constraint": {sqlite3.SQLITE_CONSTRAINT, func(*testing.T, *tenClaims) {}, func(c *ledger.Claim) { c.Recipient = "" }},
		"full":       {sqlite3.SQLITE_FULL, fillUp, func(c *ledger.Claim) { c.Message = []byte(`"` + strings.Repeat("x", 400<<10) + `"`) }},
		"interrupt":  {sqlite3.SQLITE_INTERRUPT, interrupted, func(c *ledger.Claim) { c.Message = []byte(`"slow"`) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTenClaims(t)
			c.setUp(t, b)
			for place := range 10 {
				claims := make([]ledger.Claim, 10)
				for i := range claims {
					claims[i] = claimOf(100*place + i)
				}
				c.spoil(&claims[place])
				b.check(t, place, claims, b.group(t, place, claims), c.want)
			}
		})
	}
}

// check says that the nine are stored and were told so, and that the tenth is not and was told why.
func (b *tenClaims) check(t *testing.T, place int, claims []ledger.Claim, answers []error, want int) {
	t.Helper()
	for i, c := range claims {
		n, found, err := b.s.Prior(context.Background(), c)
		switch {
		case err != nil:
			t.Fatal(err)
		case i != place && (answers[i] != nil || !found || n.Message == nil):
			t.Errorf("error at %d: claim %d was answered %v, stored %v", place, i, answers[i], found)
		case i == place && (found || code(answers[i]) != want):
			t.Errorf("error at %d: it was answered %v, stored %v", place, answers[i], found)
		case i == place:
			wantErr(t, answers[i], ledger.ErrUnavailable)
		}
	}
	st, err := b.s.Stats(context.Background())
	var rows, contents int64
	b.quietly(t, func(t *tx) error {
		_, err := t.row("SELECT (SELECT count(*) FROM notifications), (SELECT count(*) FROM contents)", nil, toInt[int64]{&rows}, toInt[int64]{&contents})
		return err
	})
	if err != nil || st.Notifications != rows || st.States[ledger.StateClaimed] != rows || contents != rows {
		t.Errorf("error at %d: %d counted, %d rows, %d contents, %v", place, st.Notifications, rows, contents, err)
	}
	if c := b.s.Condition(); c != (ledger.Condition{}) {
		t.Errorf("error at %d: %+v", place, c)
	}
}

// fillUp leaves room for small rows only while the poisoned claim runs.
func fillUp(t *testing.T, b *tenClaims) {
	limit := func(t *tx, pages string) {
		var now int64
		if _, err := t.row("PRAGMA page_count", nil, toInt[int64]{&now}); err != nil {
			panic(err)
		}
		if pages == "" {
			pages = fmt.Sprint(now + 4)
		}
		if _, err := t.exec("PRAGMA max_page_count(" + pages + ")"); err != nil {
			panic(err)
		}
	}
	b.poison = func(t *tx, _ *operation) { limit(t, "") }
	b.heal = func(t *tx) { limit(t, "1000000") }
}

// interrupted makes the poisoned claim's second statement run for long and interrupts it from inside.
func interrupted(t *testing.T, b *tenClaims) {
	var stop context.CancelFunc
	b.quietly(t, func(t *tx) error {
		err := t.conn.conn.CreateFunction("stop", &sqlite.FunctionImpl{AllowIndirect: true, Scalar: func(sqlite.Context, []sqlite.Value) (sqlite.Value, error) {
			stop() // the statement is running
			return sqlite.IntegerValue(1), nil
		}})
		if err != nil {
			return err
		}
		_, err = t.exec(`CREATE TRIGGER slow AFTER INSERT ON contents WHEN NEW.message = '"slow"' BEGIN
 INSERT INTO duplicates (notification, at, caller) SELECT NEW.notification, stop(), '' FROM sqlite_schema, sqlite_schema, sqlite_schema, sqlite_schema, sqlite_schema; END`)
		return err
	})
	b.poison = func(t *tx, _ *operation) {
		ctx, cancel := context.WithCancel(context.Background())
		stop = cancel
		t.conn.conn.SetInterrupt(ctx.Done())
	}
	b.heal = func(t *tx) { t.conn.conn.SetInterrupt(nil) }
}
