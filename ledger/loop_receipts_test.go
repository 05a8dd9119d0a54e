package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

// reporting is a script that posts receipts: JSON as a test writes it, signed by its being JSON.
type reporting struct{ *script }

func (reporting) TakesReceipts() bool { return true }

func (r reporting) Receipts(p ledger.Posted) (list []ledger.Receipt, err error) {
	switch string(p.Body) {
	case "panic":
		panic("OTP 424242")
	case "unreadable":
		return nil, ledger.ErrUnreadable
	}
	if json.Unmarshal(p.Body, &list) != nil {
		return nil, ledger.ErrUnverified
	}
	return list, nil
}

// reports lets provider a post receipts.
func reports(r *rig) {
	r.scripts["a"].disguise = func(s *script) ledger.Provider { return reporting{s} }
}

// receive posts receipts as provider a does.
func (r *rig) receive(list ...ledger.Receipt) ledger.Received {
	r.t.Helper()
	body, err := json.Marshal(list)
	if err != nil {
		r.t.Fatal(err)
	}
	got, err := r.ledger.Receive(context.Background(), "a", ledger.Posted{Body: body})
	if err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
	return got
}

func (r *rig) stats() ledger.Stats {
	r.t.Helper()
	st, err := r.ledger.Stats(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	return st
}

// What is wrong with a request is told apart from what is wrong with us; nothing is stored of either.
func TestReceive_Refusals(t *testing.T) {
	var log lines
	bubble(t, func(r *rig) {
		reports(r)
		r.use(newScript("b"))
		r.log = log.logger()
	}, func(t *testing.T, r *rig) {
		for _, c := range []struct {
			provider, body string
			want           error
		}{
			{"a", "nonsense", ledger.ErrUnverified}, {"a", "unreadable", ledger.ErrUnreadable}, {"b", "[]", ledger.ErrNoReporter},
			{"nobody", "[]", ledger.ErrNoReporter}, {"", "[]", ledger.ErrNoReporter},
		} {
			if _, err := r.ledger.Receive(context.Background(), c.provider, ledger.Posted{Body: []byte(c.body)}); !errors.Is(err, c.want) {
				t.Errorf("%s with %s: %v", c.provider, c.body, err)
			}
		}
		_, err := r.ledger.Receive(context.Background(), "a", ledger.Posted{Body: []byte("panic")})
		for _, theirs := range []error{ledger.ErrUnverified, ledger.ErrUnreadable, ledger.ErrNoReporter, nil} {
			if errors.Is(err, theirs) { // a provider would give up over a fault of ours
				t.Errorf("an adapter that panics: %v", err)
			}
		}
		if strings.Contains(fmt.Sprint(err), "424242") || log.has("424242") > 0 {
			t.Error("a panic's text is kept")
		}
		if st := r.stats(); st.Receipts != 0 {
			t.Errorf("%d receipts were stored", st.Receipts)
		}
	})
}

// F27: dozens of copies, many at a time, change nothing after the first; under a new event id there is at most one line more.
func TestReceive_F27_CopiesChangeNothing(t *testing.T) {
	bubble(t, reports, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		one := receipt(n, 1, "delivered", ledger.Delivered)
		var all sync.WaitGroup
		var stored atomic.Int64
		for range 46 {
			all.Go(func() {
				body, _ := json.Marshal([]ledger.Receipt{one, one})
				got, err := r.ledger.Receive(context.Background(), "a", ledger.Posted{Body: body})
				if err != nil {
					t.Error(err)
				}
				stored.Add(int64(got.Stored))
			})
		}
		all.Wait()
		before := r.expect(n, ledger.StateSent, ledger.ReasonProof)
		other := one
		other.EventKey = "the same under another id"
		if got := r.receive(other, other); got.Stored != 0 || got.Events != 2 {
			t.Errorf("%+v", got)
		}
		after := r.row(n)
		if stored.Load() != 1 || len(after.Receipts) != 1 || len(after.Settlements) != 1 || after.Version != before.Version || !after.UpdatedAt.Equal(before.UpdatedAt) {
			t.Errorf("%d stored, %d receipts, %d settlements", stored.Load(), len(after.Receipts), len(after.Settlements))
		}
		if st := r.stats(); st.Receipts != 1 || st.ProvenTwice != 0 || st.States[ledger.StateSent] != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// provings counts the store's commits of receipts and may refuse them.
type provings struct {
	*store.Store
	calls  int
	most   int
	failAt int // the call that fails; 0: none
}

func (c *provings) Prove(list []ledger.Receipt, decide func(ledger.Receipt, ledger.Notification, ledger.ProofFacts) (ledger.Change, error)) ([]ledger.Proved, error) {
	c.calls++
	c.most = max(c.most, len(list))
	if c.calls == c.failAt {
		return nil, fmt.Errorf("disk full: %w", ledger.ErrUnavailable)
	}
	return c.Store.Prove(list, decide)
}

// F30: 5,000 reports in one body, about many rows, about one, and about nothing, are taken in one go of few commits.
func TestReceive_FiveThousandInOneBody(t *testing.T) {
	var disk *provings
	bubble(t, func(r *rig) {
		reports(r)
		r.wrap = func(s *store.Store) ledger.Store { disk = &provings{Store: s}; return disk }
	}, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		rows := []ledger.Notification{r.claim("e1"), r.claim("e2"), r.claim("e3")}
		var list []ledger.Receipt
		for i := range 5000 {
			rc := receipt(rows[i%2], 1, fmt.Sprint("opened", i), ledger.NoDelivery)
			switch {
			case i%5 == 0:
				rc.ID, rc.Number, rc.MessageID = ledger.Receipt{}.ID, 0, fmt.Sprint("of nobody ", i)
			case i%1000 == 7:
				rc = receipt(rows[2], 1, fmt.Sprint("delivered", i), ledger.Delivered)
			}
			list = append(list, rc)
		}
		if got := r.receive(list...); got != (ledger.Received{Events: 5000, Stored: 5000, Unmatched: 1000, Settled: 3}) {
			t.Errorf("%+v", got)
		}
		if disk.calls > 100 || disk.most > 64 {
			t.Errorf("%d commits of at most %d receipts", disk.calls, disk.most)
		}
		for _, n := range rows {
			r.expect(n, ledger.StateSent, ledger.ReasonProof)
		}
		before := r.stats()
		if got := r.receive(list...); got.Stored != 0 {
			t.Errorf("the same body again: %+v", got)
		}
		if st := r.stats(); st.Receipts != 5000 || st.Unmatched != 1000 || fmt.Sprint(st) != fmt.Sprint(before) {
			t.Errorf("%+v", st)
		}
	})
}

// A disk that fails in the middle is told to the provider. It posts again, also to a process that died in between; what was
// stored is known then.
func TestReceive_BrokenOffInTheMiddle(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprint("crash ", crash), func(t *testing.T) {
			var disk *provings
			bubble(t, func(r *rig) {
				reports(r)
				r.wrap = func(s *store.Store) ledger.Store { disk = &provings{Store: s}; return disk }
			}, func(t *testing.T, r *rig) {
				r.scripts["a"].then(lost)
				first, last := r.claim("first"), r.claim("last")
				list := []ledger.Receipt{receipt(first, 1, "delivered", ledger.Delivered)}
				for i := range 200 {
					list = append(list, receipt(first, 1, fmt.Sprint("opened", i), ledger.NoDelivery))
				}
				list = append(list, receipt(last, 1, "bounced", ledger.Bounced))
				disk.failAt = 3
				body, _ := json.Marshal(list)
				if _, err := r.ledger.Receive(context.Background(), "a", ledger.Posted{Body: body}); !errors.Is(err, ledger.ErrUnavailable) {
					t.Fatal(err)
				}
				r.expect(first, ledger.StateSent, ledger.ReasonProof)
				r.expect(last, ledger.StateAmbiguous, ledger.ReasonNoAnswer)
				if crash {
					crashed := r.path + ".crashed"
					copyLedger(t, r.path, crashed)
					r.stop()
					r.path = crashed
					r.start()
				}
				if got := r.receive(list...); got.Stored != 202-128 || got.Settled != 1 {
					t.Errorf("posted again: %+v", got)
				}
				r.expect(last, ledger.StateSent, ledger.ReasonProof)
				if st := r.stats(); st.Receipts != 202 || st.Unmatched != 0 {
					t.Errorf("%+v", st)
				}
			})
		})
	}
}

// An adapter's slip in one receipt keeps the others in: what a row cannot hold is cut or left out.
func TestReceive_SlipsOfAnAdapter(t *testing.T) {
	bubble(t, reports, func(t *testing.T, r *rig) {
		r.scripts["a"].then(lost)
		n := r.claim("e1")
		bad := ledger.Receipt{ID: n.ID, Number: 1, Provider: "b", Kind: strings.Repeat("\xff", 300), Code: "\x00", Delivery: "no such word",
			MessageID: strings.Repeat("m", 600), EventKey: strings.Repeat("k", 600), ProviderAt: time.Unix(-1, 0), Body: make([]byte, 1<<20)}
		nothing := ledger.Receipt{}
		if got := r.receive(bad, nothing, nothing, receipt(n, 1, "delivered", ledger.Delivered)); got.Stored != 3 || got.Unmatched != 1 || got.Refused != 0 {
			t.Errorf("%+v", got)
		}
		rec := r.expect(n, ledger.StateSent, ledger.ReasonProof)
		if rc := rec.Receipts[0]; rc.Provider != "a" || rc.MessageID != "" || rc.Delivery != "" || !rc.ProviderAt.IsZero() || len(rc.Body) > ledger.MaxAnswerBytes || rec.MessageID != "" {
			t.Errorf("%d bytes: %+v", len(rc.Body), rec.Notification)
		}
	})
}
